// The C++ runtime's exception state around a join: the handled exception, and the number in flight.
#include <filch/for_index.hpp>
#include <filch/task_group.hpp>

#include "eventually.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class exception_state : public ::testing::Test {};
TYPED_TEST_SUITE(exception_state, all_schedulers, scheduler_names);

std::string what_is_handled() {
  auto const current = std::current_exception();
  if (!current) return "nothing";
  try {
    std::rethrow_exception(current);
  } catch (std::exception const& e) {
    return e.what();
  }
}

[[noreturn]] void raise(char const* what) { throw std::runtime_error(what); }

/// Four joins: quiet, and with an exception from either side or both, caught here.
template <class Join> void join_in_all_moods(Join join) {
  join([] {}, [] {});
  for (int mood = 1; mood < 4; ++mood) {
    try {
      join(
          [mood] {
            if (mood & 1) raise("from f");
          },
          [mood] {
            if (mood & 2) raise("from g");
          });
      ADD_FAILURE() << "nothing was thrown";
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), mood & 1 ? "from f" : "from g");
      EXPECT_EQ(what_is_handled(), e.what());
    }
  }
}

TYPED_TEST(exception_state, is_that_of_the_handler_before_and_after_a_join_in_it) {
  in_every_way<TypeParam>([](auto join) {
    try {
      raise("outer");
    } catch (std::exception const&) {
      EXPECT_EQ(what_is_handled(), "outer");
      EXPECT_EQ(std::uncaught_exceptions(), 0);
      join_in_all_moods(join);
      EXPECT_EQ(what_is_handled(), "outer");
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
    EXPECT_EQ(what_is_handled(), "nothing");
  });
}

TYPED_TEST(exception_state, lets_a_handler_rethrow_after_a_join) {
  in_every_way<TypeParam>([](auto join) {
    try {
      try {
        raise("outer");
      } catch (...) {
        join_in_all_moods(join);
        throw;
      }
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "outer");
    }
    EXPECT_EQ(what_is_handled(), "nothing");
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

template <class Join> struct joins_when_destroyed {
  Join join;
  int* uncaught_before;
  int* uncaught_after;
  ~joins_when_destroyed() {
    *uncaught_before = std::uncaught_exceptions();
    join_in_all_moods(join);
    *uncaught_after = std::uncaught_exceptions();
  }
};

TYPED_TEST(exception_state, counts_the_exceptions_in_flight_around_a_join_in_a_destructor) {
  in_every_way<TypeParam>([](auto join) {
    int before = -1;
    int after = -1;
    try {
      joins_when_destroyed<decltype(join)> const guard{join, &before, &after};
      raise("outer");
    } catch (std::exception const& e) {
      EXPECT_STREQ(e.what(), "outer");
    }
    EXPECT_EQ(before, 1);
    EXPECT_EQ(after, 1);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TYPED_TEST(exception_state, survives_nested_handlers_and_unwinding_together) {
  in_every_way<TypeParam>([](auto join) {
    int before = -1;
    int after = -1;
    try {
      raise("first");
    } catch (...) {
      try {
        joins_when_destroyed<decltype(join)> const guard{join, &before, &after};
        raise("second");
      } catch (std::exception const& e) {
        EXPECT_STREQ(e.what(), "second");
        join_in_all_moods(join);
        EXPECT_EQ(what_is_handled(), "second");
      }
      EXPECT_EQ(what_is_handled(), "first");
    }
    EXPECT_EQ(before, 1);
    EXPECT_EQ(after, 1);
    EXPECT_EQ(what_is_handled(), "nothing");
  });
}

TYPED_TEST(exception_state, around_a_join_is_seen_by_g_after_f_threw) {
  // One worker: g runs on the stack of the join. A thief has an exception state of its own.
  typename TypeParam::pool pool({.workers = 1});
  std::string seen = "not run";
  pool.run([&] {
    try {
      filch::join<TypeParam>([] { raise("from f"); }, [&] { seen = what_is_handled(); });
    } catch (std::exception const&) {
    }
  });
  EXPECT_EQ(seen, "nothing");
}

TYPED_TEST(exception_state, is_kept_around_scopes_and_loops_in_a_handler) {
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([] {
      try {
        raise("outer");
      } catch (...) {
        EXPECT_THROW(filch::scope<TypeParam>([](auto& s) {
                       for (int i = 0; i < 100; ++i) s.spawn([] { raise("spawned"); });
                     }),
                     std::runtime_error);
        EXPECT_THROW(filch::for_index<TypeParam>(0, 100, [](int) { raise("in a loop"); }), std::runtime_error);
        EXPECT_EQ(what_is_handled(), "outer");
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      }
    });
  }
}

/// Runs forks of a stolen task on the worker that waits for it.
template <class S> std::string what_runs_on_top_of_a_wait_sees() {
  std::string seen = "nothing was stolen";
  auto const look = [&] { seen = what_is_handled() + ", " + std::to_string(std::uncaught_exceptions()); };
  stolen_join<S>{}([] {}, [&] { stolen_join<S>{}([] {}, look); });
  return seen;
}

template <class S> struct looks_when_destroyed {
  std::string* seen;
  ~looks_when_destroyed() { *seen = what_runs_on_top_of_a_wait_sees<S>(); }
};

TYPED_TEST(exception_state, of_a_caller_is_hidden_under_fibers_with_a_place_and_without) {
#if FILCH_HAS_CACTUS
  if constexpr (std::is_same_v<TypeParam, filch::cactus> || std::is_same_v<TypeParam, filch::implicit>) {
    constexpr unsigned k_callers = 18;  // two more than there are places
    typename TypeParam::pool pool({.workers = 1});
    std::atomic<unsigned> inside{0};
    std::vector<std::thread> callers;
    for (unsigned i = 0; i < k_callers; ++i) {
      callers.emplace_back([&] {
        try {
          throw 1;
        } catch (int) {
          pool.run([&] {
            EXPECT_FALSE(std::current_exception());
            ++inside;
            EXPECT_TRUE(eventually([&] { return inside == k_callers; }));
          });
          EXPECT_TRUE(std::current_exception());
        }
      });
    }
    for (auto& t : callers) t.join();
    return;
  }
#endif
  GTEST_SKIP() << "it runs on the caller's thread as it is";
}

/// Tasks of a group that the calls of this thread run. Returns what those that saw an exception saw.
template <class S> std::string what_tasks_of_a_group_see() {
  std::string seen = "nothing, 0";
  auto const look = [&] {
    std::string const now = what_is_handled() + ", " + std::to_string(std::uncaught_exceptions());
    if (now != "nothing, 0") seen = now;
  };
  auto const me = std::this_thread::get_id();
  filch::task_group<S> group;
  // More than wait at most: some run at once.
  for (int i = 0; i < 10'000; ++i) {
    group.run([&, me] {
      if (std::this_thread::get_id() == me) look();
    });
  }
  group.wait();
  // Its joins may move it, and the caller, to another thread.
  group
      .fork([&] {
        look();
        filch::for_index<S>(0, 1000, [](int) { work_for(std::chrono::microseconds(1)); });
        try {
          raise("inside");
        } catch (std::exception const&) {
        }
      })
      .get();
  group.wait();
  return seen;
}

template <class S> struct groups_when_destroyed {
  std::string* seen;
  ~groups_when_destroyed() { *seen = what_tasks_of_a_group_see<S>(); }
};

TYPED_TEST(exception_state, of_a_caller_is_hidden_from_tasks_that_get_and_run_call) {
  outside_and_in_pools<TypeParam>([] {
    std::string seen;
    try {
      groups_when_destroyed<TypeParam> const guard{&seen};
      raise("below");
    } catch (std::exception const&) {
      EXPECT_EQ(seen, "nothing, 0");
      EXPECT_EQ(what_tasks_of_a_group_see<TypeParam>(), "nothing, 0");
      EXPECT_EQ(what_is_handled(), "below");
    }
    EXPECT_EQ(what_is_handled(), "nothing");
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
}

TYPED_TEST(exception_state, of_a_wait_is_hidden_from_a_task_on_top) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      std::string seen;
      try {
        looks_when_destroyed<TypeParam> const guard{&seen};
        raise("below");
      } catch (std::exception const&) {
        EXPECT_EQ(seen, "nothing, 0");
        EXPECT_EQ(what_runs_on_top_of_a_wait_sees<TypeParam>(), "nothing, 0");
        EXPECT_EQ(what_is_handled(), "below");
        seen.clear();
        filch::scope<TypeParam>(
            [&](auto& s) { s.spawn([&] { seen = what_runs_on_top_of_a_wait_sees<TypeParam>(); }); });
        EXPECT_EQ(seen, "nothing, 0");
      }
      EXPECT_EQ(what_is_handled(), "nothing");
    });
  }
}

}  // namespace
}  // namespace filch_test
