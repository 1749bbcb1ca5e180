// A worker in a join whose task is stolen: it leapfrogs, sleeps, and is woken.
#include "counted.hpp"
#include "eventually.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <string>
#include <thread>

namespace filch_test {
namespace {

using S = filch::direct;
constexpr stolen_join<S> join_stolen;

TEST(waiting, runs_the_forks_of_its_thief) {
  filch::direct::pool pool({.workers = 2});
  expect_owner_runs_what_thief_forks<S>(pool);
  EXPECT_GE(pool.stats().steals, 2u);
}

/// The call of the thread, on threads that call the pool; 0 on its own threads.
thread_local int own_call = 0;

void tree_of(int call, int depth, std::atomic<long>& foreign) {
  if (own_call != 0 && own_call != call) foreign.fetch_add(1, std::memory_order_relaxed);
  if (depth == 0) return work_for(std::chrono::microseconds(1));
  filch::join<S>([&] { tree_of(call, depth - 1, foreign); }, [&] { tree_of(call, depth - 1, foreign); });
}

// The pool's thread takes a task of one call, ends it, and takes one of the other.
TEST(waiting, runs_nothing_of_another_call) {
  filch::direct::pool pool({.workers = 2});
  std::atomic<long> foreign{0};
  auto const caller = [&](int call) {
    own_call = call;
    for (std::size_t round = 0; round < scaled(6'000); ++round) pool.run([&] { tree_of(call, 6, foreign); });
    own_call = 0;
  };
  std::thread other([&] { caller(2); });
  caller(1);
  other.join();
  EXPECT_EQ(foreign, 0);
}

TEST(waiting, nests_as_deep_as_the_tasks_do) {
  filch::direct::pool pool({.workers = 2});
  expect_waits_nest<S>(pool, 200);
  EXPECT_GE(pool.stats().leapfrogs, 99u);
}

TEST(waiting, passes_exceptions_of_a_leapfrogged_task_on) {
  nothing_left_behind const check;
  filch::direct::pool pool({.workers = 2});
  int thrown = 0;
  pool.run([&] {
    join_stolen([] {},
                [&] {
                  try {
                    join_stolen([] { return counted(1); }, []() -> counted { throw counted(2); });
                  } catch (counted const& e) {
                    thrown = e.value();
                  }
                });
  });
  EXPECT_EQ(thrown, 2);
  EXPECT_GE(pool.stats().leapfrogs, 1u);
}

TEST(waiting, sleeps_and_is_woken_when_the_thief_forks) {
  filch::direct::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) expect_fork_wakes_owner<S>(pool);
  EXPECT_GE(pool.stats().wakeups, 20u);
  EXPECT_GE(pool.stats().leapfrogs, 20u);
}

TEST(waiting, sleeps_and_is_woken_when_the_stolen_task_ends) {
  filch::direct::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(pool.run([&] { return while_the_owner_sleeps<S>(pool, [] { return std::string("done"); }); }), "done");
  }
}

TEST(waiting, ends_in_an_exception_when_the_stolen_task_throws) {
  filch::direct::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run([&] { while_the_owner_sleeps<S>(pool, [] { throw 1; }); }), int);
  }
}

TEST(waiting, takes_tasks_of_its_own_thief_only) {
  // Worker a waits for a task that b has stolen; c works on another one. a must not run c's tasks on top.
  filch::direct::pool pool({.workers = 3});
  pool.run([&] {
    unsigned const a = *filch::current_worker<S>();
    std::atomic<unsigned> by_a{0};
    gate end;
    join_stolen(
        [&] {                        // on a
          join_stolen([&] {}, [&] {  // on b or c, for which a then waits
            EXPECT_TRUE(end.pass());
          });
        },
        [&] {  // on the other of the two: forks and forks, and a may not help
          for (int i = 0; i < 20'000; ++i) {
            auto const note = [&] { by_a += *filch::current_worker<S>() == a; };
            filch::join<S>(note, note);
          }
          end.open();
        });
    EXPECT_EQ(by_a, 0u);
  });
}

/// Two workers sleep in joins, both for one thief. Another worker offers a task that neither may run. Then the thief
/// makes two tasks public at once: the worker that is woken first wakes the other one.
TEST(waiting, ends_for_all_workers_that_may_run_the_thief_s_forks) {
  filch::direct::pool pool({.workers = 4});
  for (int round = 0; round < 5 && !HasFailure(); ++round) {
    gate all_are_busy;
    gate offered;
    gate forked;
    gate finish;
    unsigned thief = 0;
    std::atomic<unsigned> seen{0};
    auto const both_are_awake = [&] { return std::popcount(seen.load()) == 2; };
    auto const forks = [&](auto const& self, int depth) -> void {
      if (depth > 0) {
        filch::join<S>([&] { self(self, depth - 1); },
                       [&] {
                         unsigned const me = *filch::current_worker<S>();
                         if (me != thief) seen |= 1u << me;
                         EXPECT_TRUE(eventually(both_are_awake));
                       });
        return;
      }
      auto const sleeps = pool.stats().sleeps;
      forked.open();
      EXPECT_TRUE(eventually([&] { return pool.stats().sleeps == sleeps + 2; })) << "something is public";
      filch::join<S>([&] { EXPECT_TRUE(eventually(both_are_awake)); }, [] {});
    };
    auto const on_third_again = [&] {
      thief = *filch::current_worker<S>();
      all_are_busy.open();
      EXPECT_TRUE(offered.pass());
      for (int i = 0; i < 1'000; ++i) filch::join<S>([] {}, [] {});  // from here on nothing is public
      forks(forks, 20);
      finish.open();
    };
    auto const on_fourth = [&] { join_stolen([&] { EXPECT_TRUE(forked.pass()); }, on_third_again); };
    auto const on_third = [&] { join_stolen([] {}, on_fourth); };
    pool.run([&] {
      join_stolen(
          [&] {
            EXPECT_TRUE(all_are_busy.pass());
            filch::join<S>(
                [&] {
                  offered.open();
                  EXPECT_TRUE(finish.pass());
                },
                [] {});
          },
          // On the second worker. The third one takes the task that is forked here, and the second waits for it
          // later.
          [&] { join_stolen([&] { EXPECT_TRUE(forked.pass()); }, on_third); });
    });
  }
}

}  // namespace
}  // namespace filch_test
