// A stop token ends joins and scopes: what has not begun does not begin, and the result says so.
#include "counted.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <version>
#if defined(__cpp_lib_jthread)
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace filch_test {
namespace {

template <class S> class stopping : public ::testing::Test {};
TYPED_TEST_SUITE(stopping, all_schedulers, scheduler_names);

template <class S, class Body> void everywhere(Body body) {
  on_one_and_two_workers<S>(body);
  SCOPED_TRACE("outside");
  body();
}
template <class S, class Body> void on_one_worker(Body body) {
  typename S::pool pool({.workers = 1});
  pool.run(body);
}

TYPED_TEST(stopping, changes_no_result_of_a_join_without_a_request) {
  everywhere<TypeParam>([] {
    std::stop_source source;
    for (std::stop_token const& token : {source.get_token(), std::stop_token()}) {
      auto const both = filch::join<TypeParam>(token, [] { return 1; }, [] { return std::string("g"); });
      static_assert(std::is_same_v<decltype(both), std::pair<std::optional<int>, std::optional<std::string>> const>);
      EXPECT_EQ(both.first, 1);
      EXPECT_EQ(both.second, "g");
      int ran = 0;
      bool const is_whole = filch::join<TypeParam>(token, [&] { ++ran; }, [] {});
      EXPECT_TRUE(is_whole);
      int x = 0;
      auto [of_void, reference] = filch::join<TypeParam>(token, [&] { ++ran; }, [&]() -> int& { return x; });
      EXPECT_TRUE(of_void);
      EXPECT_EQ(reference, &x);
      EXPECT_EQ(ran, 2);
      auto owned = filch::join<TypeParam>(
          token, [p = std::make_unique<int>(4)]() mutable { return std::move(p); },
          [] { return std::make_unique<int>(5); });
      EXPECT_EQ(**owned.first + **owned.second, 9);
    }
  });
}

TYPED_TEST(stopping, changes_no_result_of_invoke_without_a_request) {
  everywhere<TypeParam>([] {
    std::stop_token const token = std::stop_source().get_token();
    EXPECT_EQ(filch::invoke<TypeParam>(token, [] { return 1; }), std::tuple(std::optional(1)));
    std::atomic<int> ran{0};
    auto const call = [&] { ++ran; };
    bool const is_whole = filch::invoke<TypeParam>(token, call, call, call);
    EXPECT_TRUE(is_whole);
    EXPECT_EQ(ran, 3);
    auto const all =
        filch::invoke<TypeParam>(token, call, [] { return 2; }, [&]() -> std::atomic<int>& { return ran; });
    EXPECT_EQ(all, std::tuple(std::optional(filch::nothing{}), std::optional(2), &ran));
  });
}

TYPED_TEST(stopping, begins_nothing_after_a_request) {
  everywhere<TypeParam>([] {
    std::stop_source source;
    source.request_stop();
    std::stop_token const token = source.get_token();
    std::atomic<int> ran{0};
    auto const call = [&] { ++ran; };
    auto const number = [&] { return ++ran; };
    auto const reference = [&]() -> std::atomic<int>& { return ++ran, ran; };
    EXPECT_FALSE(filch::join<TypeParam>(token, call, call));
    EXPECT_EQ(filch::join<TypeParam>(token, number, call),
              std::pair(std::optional<int>(), std::optional<filch::nothing>()));
    EXPECT_EQ(filch::join<TypeParam>(token, reference, reference).second, nullptr);
    EXPECT_FALSE(filch::invoke<TypeParam>(token, call, call, call));
    EXPECT_FALSE(std::get<1>(filch::invoke<TypeParam>(token, call, number)));
    EXPECT_FALSE(filch::scope<TypeParam>(token, [&](auto&) { ++ran; }));
    EXPECT_EQ(filch::scope<TypeParam>(token, [&](auto&) { return ++ran; }), std::nullopt);
    EXPECT_EQ(filch::scope<TypeParam>(token, [&](auto&) -> auto& { return reference(); }), nullptr);
    EXPECT_EQ(ran, 0);
  });
}

TYPED_TEST(stopping, does_not_begin_the_second_side_after_a_request_of_the_first) {
  on_one_worker<TypeParam>([] {
    std::stop_source source;
    std::stop_token const token = source.get_token();
    auto const both = filch::join<TypeParam>(token, [&] { return source.request_stop(); }, [] { return 1; });
    EXPECT_EQ(both.first, true);
    EXPECT_EQ(both.second, std::nullopt);
    source = std::stop_source();
    bool ran = false;
    EXPECT_FALSE(filch::join<TypeParam>(source.get_token(), [&] { source.request_stop(); }, [&] { ran = true; }));
    EXPECT_FALSE(ran);
    source = std::stop_source();
    auto const all = filch::invoke<TypeParam>(
        source.get_token(), [] { return 1; }, [&] { return source.request_stop(); }, [] { return 3; },
        [] { return 4; });
    EXPECT_EQ(all, std::tuple(std::optional(1), std::optional(true), std::optional<int>(), std::optional<int>()));
  });
}

TYPED_TEST(stopping, lets_a_stolen_side_that_has_begun_run_to_its_end) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      std::stop_source source;
      gate begun;
      gate stopped;
      wait_for_thief<TypeParam>();
      auto const both = filch::join<TypeParam>(
          source.get_token(),
          [&] {
            EXPECT_TRUE(begun.pass()) << "the task was not stolen";
            source.request_stop();
            stopped.open();
            return 1;
          },
          [&] {
            begun.open();
            EXPECT_TRUE(stopped.pass());
            return 2;
          });
      EXPECT_EQ(both, std::pair(std::optional(1), std::optional(2)));
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(stopping, ends_a_tree_of_joins_within_a_leaf_on_each_worker) {
  for (unsigned workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    std::stop_source source;
    std::stop_token const token = source.get_token();
    std::atomic<unsigned> ran{0};
    std::atomic<unsigned> after{0};
    auto const tree = [&](auto const& self, int depth) -> bool {
      if (depth == 0) {
        if (token.stop_requested()) ++after;
        if (++ran == 100) source.request_stop();
        return true;
      }
      auto const [left, right] =
          filch::join<TypeParam>(token, [&] { return self(self, depth - 1); }, [&] { return self(self, depth - 1); });
      return left.value_or(false) && right.value_or(false);
    };
    EXPECT_FALSE(pool.run([&] { return tree(tree, 12); }));
    EXPECT_LE(after, workers - 1);  // those that had looked before the request
    EXPECT_GE(ran, 100u);
  }
}

TYPED_TEST(stopping, throws_what_a_side_throws_after_a_request) {
  nothing_left_behind const check;
  on_one_worker<TypeParam>([] {
    for (bool is_stopped : {false, true}) {
      std::stop_source source;
      bool second_ran = false;
      int thrown = 0;
      try {
        filch::join<TypeParam>(
            source.get_token(),
            [&]() -> counted {
              if (is_stopped) source.request_stop();
              throw counted(1);
            },
            [&] { second_ran = true; });
      } catch (counted const& e) {
        thrown = e.value();
      }
      EXPECT_EQ(thrown, 1);
      EXPECT_EQ(second_ran, !is_stopped);
    }
  });
}

TYPED_TEST(stopping, changes_no_result_of_a_scope_without_a_request) {
  everywhere<TypeParam>([] {
    std::stop_source source;
    for (std::stop_token const& token : {source.get_token(), std::stop_token()}) {
      std::atomic<int> sum{0};
      auto const spawns = [&](auto& s) {
        for (int i = 0; i < 1000; ++i) s.spawn([&sum, p = std::make_unique<int>(1)] { sum += *p; });
        s.sync();
        EXPECT_EQ(sum % 1000, 0);
        auto named = [&sum, big = std::array<int, 100>{1000}] { sum += big[0]; };
        s.spawn(named);
      };
      bool const is_whole = filch::scope<TypeParam>(token, spawns);
      EXPECT_TRUE(is_whole);
      auto const owned = filch::scope<TypeParam>(token, [&](auto& s) { return spawns(s), std::make_unique<int>(3); });
      EXPECT_EQ(**owned, 3);
      EXPECT_EQ(filch::scope<TypeParam>(token, [&](auto& s) -> auto& { return spawns(s), sum; }), &sum);
      EXPECT_EQ(sum, 6000);
    }
  });
}

TYPED_TEST(stopping, ends_a_scope_in_its_first_task) {
  nothing_left_behind const check;
  on_one_worker<TypeParam>([] {
    for (bool is_synced : {false, true}) {
      std::stop_source source;
      int ran = 0;
      auto const spawn_all = [&](auto& s) {
        for (int i = 0; i < 100; ++i) {
          s.spawn([&, c = counted(i)] {
            ++ran;
            source.request_stop();
          });
        }
        if (is_synced) s.sync();
        return ran;
      };
      EXPECT_EQ(filch::scope<TypeParam>(source.get_token(), spawn_all), std::nullopt);
      EXPECT_EQ(ran, 1);
    }
  });
}

TYPED_TEST(stopping, spawns_nothing_after_a_request) {
  everywhere<TypeParam>([] {
    std::stop_source source;
    bool ran = false;
    EXPECT_FALSE(filch::scope<TypeParam>(source.get_token(), [&](auto& s) {
      source.request_stop();
      auto const kept = std::make_shared<int>(0);
      s.spawn([&ran, kept] { ran = true; });
      EXPECT_EQ(kept.use_count(), 1);
    }));
    EXPECT_FALSE(ran);
  });
}

TYPED_TEST(stopping, says_true_if_all_tasks_had_begun_before_the_request) {
  everywhere<TypeParam>([] {
    std::stop_source source;
    EXPECT_TRUE(
        filch::scope<TypeParam>(source.get_token(), [&](auto& s) { s.spawn([&] { source.request_stop(); }); }));
  });
}

TYPED_TEST(stopping, ends_nested_scopes_within_a_task_on_each_worker) {
  for (unsigned workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    std::stop_source source;
    std::stop_token const token = source.get_token();
    std::atomic<unsigned> ran{0};
    std::atomic<unsigned> after{0};
    std::atomic<bool> inner_are_whole{true};
    auto const tree = [&](auto const& self, int depth) -> bool {
      if (depth == 0) {
        if (token.stop_requested()) ++after;
        if (++ran == 100) source.request_stop();
        return true;
      }
      return filch::scope<TypeParam>(token, [&](auto& s) {
        for (int i = 0; i < 4; ++i) {
          s.spawn([&self, &inner_are_whole, depth] {
            if (!self(self, depth - 1)) inner_are_whole = false;
          });
        }
      });
    };
    // A scope answers for its own tasks.
    bool const outer_is_whole = pool.run([&] { return tree(tree, 6); });
    EXPECT_FALSE(outer_is_whole && inner_are_whole);
    EXPECT_LE(after, workers - 1);
  }
}

TYPED_TEST(stopping, throws_the_exception_of_a_task_or_body_after_a_request) {
  nothing_left_behind const check;
  on_one_worker<TypeParam>([] {
    for (bool body_throws : {false, true}) {
      std::stop_source source;
      int ran = 0;
      int thrown = -1;
      try {
        static_cast<void>(filch::scope<TypeParam>(source.get_token(), [&](auto& s) {
          if (body_throws) source.request_stop();
          for (int i = 0; i < 100; ++i) {
            s.spawn([&, i, c = counted(i)] {
              ++ran;
              source.request_stop();
              throw counted(i);
            });
          }
          if (body_throws) throw counted(100);
        }));
      } catch (counted const& e) {
        thrown = e.value();
      }
      if (steals_are_forced<TypeParam>) {
        EXPECT_EQ(thrown == 100, body_throws);  // the order of tasks is another one
      } else {
        EXPECT_EQ(thrown, body_throws ? 100 : 0);
      }
      EXPECT_EQ(ran, body_throws ? 0 : 1);
    }
  });
}

TYPED_TEST(stopping, ends_joins_and_scopes_when_another_thread_requests_it) {
  typename TypeParam::pool pool({.workers = 2});
  std::stop_source source;
  gate begun;
  std::jthread const other([&] {
    EXPECT_TRUE(begun.pass());
    source.request_stop();
  });
  pool.run([&] {
    std::stop_token const token = source.get_token();
    while (filch::join<TypeParam>(token, [&] { begun.open(); }, [] {})) {
    }
    EXPECT_FALSE(filch::scope<TypeParam>(token, [](auto&) {}));
  });
}

}  // namespace
}  // namespace filch_test
#endif
