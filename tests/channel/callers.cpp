// Several callers in a pool at once: which tasks a worker may run. Tasks that a caller leaves: left_tasks.cpp.
#include "channel/another_call.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

/// In a call, while thieves request tasks of other calls: forks g, and gives them every occasion to take it.
template <class G> void expect_to_keep(S::pool& pool, G const& g) {
  unsigned const me = S::worker_index();
  auto const before = pool.stats().publications;
  filch::join<S>(
      [&] {
        for (int i = 0; i < 1'000; ++i) {
          S::poll();
          EXPECT_FALSE(S::wanted());
        }
      },
      [&] {
        EXPECT_EQ(S::worker_index(), me) << "a task of another call runs on top of a wait";
        g();
      });
  EXPECT_EQ(pool.stats().publications, before);
}

TEST(callers, that_wait_run_no_task_of_another_call) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    pool.run([&] {
      while_the_owner_sleeps<S>(pool, [&] {
        // The only thread runs this task, and its caller sleeps.
        call(pool, [&] { expect_to_keep(pool, [] {}); }).join();
      });
    });
  }
}

TEST(callers, do_not_wait_behind_tasks_of_another_call) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    gate thread_waits;
    gate long_call_ends;
    gate short_call_ends;
    auto short_call = call(pool, [&] {
      // The thread's task waits for one that this caller has.
      stolen_join<S>{}([] {},
                       [&] {
                         while_the_owner_sleeps<S>(pool, [&] {
                           thread_waits.open();
                           EXPECT_TRUE(long_call_ends.pass());
                           return true;
                         });
                       });
      short_call_ends.open();
    });
    EXPECT_TRUE(thread_waits.pass());
    pool.run([&] {
      expect_to_keep(pool, [&] {
        long_call_ends.open();
        EXPECT_TRUE(short_call_ends.pass()) << "the short call waits for the long one";
      });
    });
    short_call.join();
  }
}

/// A thread with tasks of another call defers the request of a sleeping caller. Later it gets tasks of that caller's.
TEST(callers, are_woken_by_a_thread_that_has_deferred_their_request) {
  S::pool pool({.workers = 3});
  int times = 0;
  for (int round = 0; round < 500 && times < 3 && !HasFailure(); ++round) {
    gate other_begun;
    gate caller_sleeps;
    auto other = call(pool, [&] {
      gate ended;
      stolen_join<S>{}([&] { EXPECT_TRUE(ended.pass()); },
                       [&] {
                         other_begun.open();
                         answer_until_open<S>(caller_sleeps);
                         S::poll();
                         ended.open();
                       });
    });
    EXPECT_TRUE(other_begun.pass());
    pool.run([&] {
      auto const caller = filch::current_worker<S>();
      std::uint64_t before = 0;
      gate counted_before;
      auto const last = [&](gate& begun) {
        begun.open();
        EXPECT_EQ(filch::current_worker<S>(), caller);
      };
      auto const on_first_thread = [&](gate& begun, gate& ended) {
        begun.open();
        if (filch::current_worker<S>() != caller) {
          ++times;
          gate last_begun;
          filch::join<S>([&] { answer_until_open<S>(last_begun); }, [&] { last(last_begun); });
        }
        ended.open();
      };
      stolen_join<S>{}(
          [&] {
            // Both threads and the other caller are in tasks: only this caller can go to sleep.
            before = pool.stats().sleeps;
            counted_before.open();
          },
          [&] {
            EXPECT_TRUE(counted_before.pass());
            EXPECT_TRUE(eventually([&] { return pool.stats().sleeps == before + 1; }));
            caller_sleeps.open();
            EXPECT_TRUE(eventually([&] { return pool.stats().sleeps >= before + 2; })) << "the first thread is busy";
            gate begun;
            gate ended;
            filch::join<S>(
                [&] {
                  answer_until_open<S>(begun);
                  EXPECT_TRUE(ended.pass());
                },
                [&] { on_first_thread(begun, ended); });
          });
    });
    other.join();
  }
  EXPECT_EQ(times, 3);
}

TEST(callers, reach_a_thief_that_slept_before_they_came) {
  constexpr unsigned k_callers = 15;
  for (std::size_t round = 0; round < scaled(20) && !HasFailure(); ++round) {
    S::pool pool({.workers = 2, .stack_size = std::size_t{1} << 20});
    for (int again = 0; again < 2; ++again) {
      // Each caller has a place of its own, where no worker was when the thread went to sleep.
      std::vector<std::thread> callers;
      gate end;
      for (unsigned i = 0; i < k_callers; ++i) {
        gate stolen;
        auto const sleeps = pool.stats();
        callers.push_back(call(pool, [&] {
          stolen_join<S>{}([] {}, [] {});
          stolen.open();
          EXPECT_TRUE(end.pass());
        }));
        EXPECT_TRUE(stolen.pass());
        EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > sleeps.sleeps; })) << "the thread does not sleep";
      }
      end.open();
      for (auto& t : callers) t.join();
    }
  }
}

TEST(callers, wake_threads_that_fall_asleep_meanwhile) {
  S::pool pool({.workers = 3, .stack_size = std::size_t{1} << 20});
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (std::size_t round = 0; round < scaled(300) && !HasFailure(); ++round) {
        pool.run([&] {
          gate begun;  // on another worker: this one comes to its join after that
          filch::join<S>([&] { answer_until_open<S>(begun); }, [&] { begun.open(); });
        });
        // About as long as a thread searches before it sleeps.
        if (i % 2 == 0) work_for(std::chrono::microseconds(20 * (round % 10)));
      }
    });
  }
  for (auto& t : callers) t.join();
}

TEST(callers, of_a_pool_of_one_worker_run_side_by_side) {
  S::pool pool({.workers = 1});
  gate second_runs;
  auto first = call(pool, [&] {
    std::atomic<int> ran{0};
    S::detach([&] { ++ran; });
    EXPECT_TRUE(second_runs.pass());
    S::barrier();
    EXPECT_EQ(ran, 1);
  });
  pool.run([&] {
    int ran = 0;
    S::detach([&] { ++ran; });
    S::barrier();
    EXPECT_EQ(ran, 1);
    second_runs.open();
  });
  first.join();
}

}  // namespace
}  // namespace filch_test
