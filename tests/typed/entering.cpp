// Entering a pool from outside: run, and every call that enters the default pool; one's place in it.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class entering : public ::testing::Test {};
TYPED_TEST_SUITE(entering, all_schedulers, scheduler_names);

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

TYPED_TEST(entering, returns_results_of_every_kind_from_run) {
  typename TypeParam::pool pool({.workers = 2});
  int x = 1;
  std::string s = "s";
  EXPECT_EQ(pool.run([] { return 1; }), 1);
  EXPECT_EQ(*pool.run([] { return std::make_unique<int>(2); }), 2);
  static_assert(std::is_same_v<decltype(pool.run([&]() -> int& { return x; })), int&>);
  EXPECT_EQ(&pool.run([&]() -> int& { return x; }), &x);
  static_assert(std::is_same_v<decltype(pool.run([&]() -> std::string&& { return std::move(s); })), std::string&&>);
  EXPECT_EQ(
      std::addressof(static_cast<std::string const&>(pool.run([&]() -> std::string&& { return std::move(s); }))), &s);
  static_assert(std::is_void_v<decltype(pool.run([] {}))>);
  pool.run([&] { x = 3; });
  EXPECT_EQ(x, 3);
  auto once = [p = std::make_unique<int>(4)]() mutable { return std::move(p); };
  EXPECT_EQ(*pool.run(once), 4);
  EXPECT_EQ(once(), nullptr) << "a copy was called";
}

TYPED_TEST(entering, tells_a_worker_its_index_and_others_nothing) {
  if constexpr (has_an_outside<TypeParam>) {
    EXPECT_FALSE(filch::current_worker<TypeParam>().has_value());
    EXPECT_FALSE(TypeParam::inside());
  }
  EXPECT_FALSE(TypeParam::wanted());
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([&] {
      EXPECT_TRUE(TypeParam::inside());
      ASSERT_TRUE(filch::current_worker<TypeParam>().has_value());
      EXPECT_LT(*filch::current_worker<TypeParam>(), workers);
    });
  }
  if constexpr (has_an_outside<TypeParam>) {
    EXPECT_FALSE(filch::current_worker<TypeParam>().has_value());
  }
}

TYPED_TEST(entering, tells_a_thief_another_index_than_its_victim) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      auto const mine = filch::current_worker<TypeParam>();
      auto const both = stolen_join<TypeParam>{}([] { return filch::current_worker<TypeParam>(); },
                                                 [] { return filch::current_worker<TypeParam>(); });
      EXPECT_EQ(both.first, mine);
      EXPECT_NE(both.second, mine);
      EXPECT_LT(both.second.value(), 2u);
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(entering, runs_unstolen_tasks_on_the_calling_thread) {
  typename TypeParam::pool pool({.workers = 4});
  auto const caller = std::this_thread::get_id();
  EXPECT_EQ(pool.run([] { return std::this_thread::get_id(); }), caller);
}

TYPED_TEST(entering, runs_in_place_when_already_inside) {
  typename TypeParam::pool pool({.workers = 1});
  auto const deep = [&](auto const& self, int depth) -> int {
    return depth == 0 ? 0 : 1 + pool.run([&] { return self(self, depth - 1); });
  };
  EXPECT_EQ(deep(deep, 100), 100);
}

/// Several threads that start together.
template <class Body> void from_threads(unsigned count, Body body) {
  gate start;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(start.pass());
      body(i);
    });
  }
  start.open();
  for (auto& t : threads) t.join();
}

TYPED_TEST(entering, shares_a_pool_among_many_outside_threads) {
  for (unsigned workers : {1u, 2u, 3u, 8u, 16u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    std::size_t const rounds = scaled(200);
    std::atomic<std::size_t> runs{0};
    from_threads(16, [&](unsigned i) {
      for (std::size_t r = 0; r < rounds; ++r) {
        auto const home = std::this_thread::get_id();
        int const n = static_cast<int>((i + r) % 12);
        ASSERT_EQ(pool.run([n] { return fib<TypeParam>(n); }), fib<filch::serial>(n));
        ASSERT_EQ(std::this_thread::get_id(), home);
        pool.run([&] { ++runs; });
      }
    });
    EXPECT_EQ(runs, 16 * rounds);
  }
}

TYPED_TEST(entering, shares_the_default_pool_among_many_outside_threads) {
  std::size_t const rounds = scaled(500);
  from_threads(16, [&](unsigned i) {
    for (std::size_t r = 0; r < rounds; ++r) {
      int const n = static_cast<int>((i + r) % 12);
      ASSERT_EQ(fib<TypeParam>(n), fib<filch::serial>(n));
      std::atomic<int> sum{0};
      filch::for_index<TypeParam>(0, 10, [&](int k) { sum += k; });
      ASSERT_EQ(sum, 45);
      int const scoped = filch::scope<TypeParam>([&](auto& s) {
        s.spawn([&] { ++sum; });
        s.sync();
        return sum.load();
      });
      ASSERT_EQ(scoped, 46);
    }
  });
}

TYPED_TEST(entering, brings_exceptions_back_to_the_thread_that_called) {
  typename TypeParam::pool pool({.workers = 3});
  std::size_t const rounds = scaled(300);
  from_threads(8, [&](unsigned i) {
    for (std::size_t r = 0; r < rounds; ++r) {
      unsigned caught = 1'000;
      try {
        pool.run([i] { filch::join<TypeParam>([] {}, [i] { throw i; }); });
      } catch (unsigned e) {
        caught = e;
      }
      ASSERT_EQ(caught, i);
    }
  });
}

TYPED_TEST(entering, does_not_make_a_caller_wait_while_a_worker_is_free) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    gate first_runs;
    gate second_ran;
    std::thread first([&] {
      pool.run([&] {
        first_runs.open();
        EXPECT_TRUE(second_ran.pass()) << "the second caller waits for the first";
      });
    });
    EXPECT_TRUE(first_runs.pass());
    pool.run([&] { second_ran.open(); });
    first.join();
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(entering, works_from_threads_that_come_and_go) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(500); ++i) {
    std::thread([&] {
      ASSERT_EQ(pool.run([] { return fib<TypeParam>(6); }), 8);
      ASSERT_EQ(fib<TypeParam>(7), 13);
    }).join();
  }
}

/// Does that thread wait for a wake-up in the kernel?
[[maybe_unused]] bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  return file >> number && number == SYS_futex;
}

TYPED_TEST(entering, is_done_before_the_pool_ends) {
  if (is_emulated) GTEST_SKIP() << "the emulator does not say which threads sleep";
  if constexpr (steals<TypeParam>) {
    auto const ending = static_cast<pid_t>(syscall(SYS_gettid));
    for (std::size_t i = 0; i < scaled(300); ++i) {
      auto pool = std::make_unique<typename TypeParam::pool>(
          filch::pool_options{.workers = 1, .stack_size = std::size_t{1} << 20});
      std::atomic<unsigned> inside{0};
      std::atomic<unsigned> done{0};
      gate go;
      auto const call = [&, p = pool.get()] {
        p->run([&] {
          ++inside;
          EXPECT_TRUE(go.pass());
          ++done;
        });
      };
      std::thread first(call);
      std::thread second(call);
      ASSERT_TRUE(eventually([&] { return inside == 2; }));
      bool has_waited = false;
      std::thread opens([&] {
        has_waited = eventually([&] { return sleeps(ending); });
        go.open();
      });
      pool.reset();
      EXPECT_EQ(done, 2u);
      first.join();
      second.join();
      opens.join();
      if (!has_waited) GTEST_SKIP() << "the system does not say which threads sleep";
    }
  } else {
    GTEST_SKIP() << "its pool waits for no caller";
  }
}

TYPED_TEST(entering, gives_away_what_was_forked_before_it_enters_another_pool) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no workers";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    typename TypeParam::pool other({.workers = 1});
    gate let_go;
    gate begun;
    gate forked;
    bool ran = false;
    pool.run([&] {
      wait_for_thief<TypeParam>();
      filch::join<TypeParam>(
          [&] {
            EXPECT_TRUE(begun.pass());
            filch::join<TypeParam>(
                [&] {
                  forked.open();
                  wait_for_thief<TypeParam>();
                  other.run([&] { ran = let_go.pass(); });
                },
                [&] { let_go.open(); });
          },
          [&] {
            begun.open();
            EXPECT_TRUE(forked.pass());
          });
    });
    EXPECT_TRUE(ran);
  }
}

}  // namespace
}  // namespace filch_test
