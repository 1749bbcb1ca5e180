// Detached tasks that a caller leaves, and barriers of several calls at once.
#include <filch/blocking.hpp>

#include "channel/another_call.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

TEST(detached_tasks, do_not_delay_the_call_that_leaves_them) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    gate has_left;
    gate begun;
    std::atomic<int> ran{0};
    pool.run([&] {
      S::detach([&] {
        begun.open();
        EXPECT_TRUE(has_left.pass()) << "the call waits for a detached task";
        ++ran;
      });
      answer_until_open<S>(begun);
      // The thread is in the first task. No thief requests these.
      for (int i = 0; i < 10; ++i) {
        S::detach([&] {
          EXPECT_TRUE(has_left.pass()) << "the call runs a detached task";
          ++ran;
        });
      }
    });
    has_left.open();
    EXPECT_TRUE(eventually([&] { return ran == 11; })) << "some are lost";
  }
}

TEST(detached_tasks, that_were_left_are_run_by_threads_that_fall_asleep_meanwhile) {
  S::pool pool({.workers = 2});
  for (std::size_t round = 0; round < scaled(2'000) && !HasFailure(); ++round) {
    std::atomic<int> ran{0};
    pool.run([&] {
      for (int i = 0; i < 3; ++i) S::detach([&] { ++ran; });
      // About as long as a thread searches before it sleeps.
      work_for(std::chrono::microseconds(100 + 10 * (round % 10)));
    });
    ASSERT_TRUE(eventually([&] { return ran == 3; })) << "no thread runs what was left";
  }
}

TEST(detached_tasks, that_were_left_may_join_and_detach) {
  std::atomic<int> ran{0};
  {
    S::pool pool({.workers = 3});
    for (std::size_t round = 0; round < scaled(200); ++round) {
      pool.run([&] {
        for (int i = 0; i < 5; ++i) {
          S::detach([&] { filch::join<S>([&] { ++ran; }, [&] { S::detach([&] { ++ran; }); }); });
        }
      });
    }
  }
  EXPECT_EQ(ran, static_cast<int>(scaled(200)) * 10);
}

TEST(detached_tasks, that_were_left_do_not_hold_up_the_next_call) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    gate begun;
    gate next_is_over;
    std::atomic<int> ran{0};
    auto const task = [&] {
      begun.open();
      EXPECT_TRUE(next_is_over.pass()) << "another call waits for it";
      ++ran;
    };
    pool.run([&] {
      S::detach(task);
      answer_until_open<S>(begun);
      S::detach(task);
    });
    // The thread runs one of them, the other one is left.
    pool.run([&] {
      int own = 0;
      S::detach([&] { ++own; });
      S::barrier();
      EXPECT_EQ(own, 1);
      filch::join<S>([] {}, [] {});
    });
    next_is_over.open();
    EXPECT_TRUE(eventually([&] { return ran == 2; }));
  }
}

TEST(detached_tasks, of_a_pool_s_only_worker_end_before_the_call_returns_on_a_stand_in_too) {
  S::pool pool({.workers = 1});
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    pool.run([&] {
      S::detach([&] {
        work_for(std::chrono::milliseconds(2));
        ++ran;
      });
      // A stand-in requests the task meanwhile, and gets it afterwards.
      filch::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    });
    EXPECT_EQ(ran, 1);
  }
}

TEST(detached_tasks, of_a_pool_s_only_worker_run_before_the_call_returns) {
  S::pool pool({.workers = 1});
  int ran = 0;
  pool.run([&] { S::detach([&] { S::detach([&] { ++ran; }); }); });
  EXPECT_EQ(ran, 1);
}

// ---- the barrier --------------------------------------------------------------------------------

TEST(barrier_of_one_call, returns_though_another_caller_waits_for_it) {
  for (unsigned workers : {1u, 2u, 3u}) {
    S::pool pool({.workers = workers});
    for (int round = 0; round < 20 && !HasFailure(); ++round) {
      gate other_is_inside;
      gate barrier_is_over;
      auto other = call(pool, [&] {
        int ran = 0;
        S::detach([&] { ++ran; });  // it has tasks, too
        other_is_inside.open();
        EXPECT_TRUE(barrier_is_over.pass()) << "the barrier waits for another call";
        S::barrier();
        EXPECT_EQ(ran, 1);
      });
      EXPECT_TRUE(other_is_inside.pass());
      pool.run([&] {
        std::atomic<int> ran{0};
        for (int i = 0; i < 10; ++i) S::detach([&] { ++ran; });
        S::barrier();
        EXPECT_EQ(ran, 10);
        barrier_is_over.open();
      });
      other.join();
    }
  }
}

TEST(barrier_of_one_call, sleeps_and_is_woken_beside_another_call) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    gate other_ends;
    auto other = call(pool, [&] { EXPECT_TRUE(other_ends.pass()); });
    pool.run([&] {
      gate begun;
      std::atomic<bool> ended{false};
      S::detach([&] {
        auto const before = pool.stats().sleeps;
        begun.open();
        EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > before; })) << "the caller does not sleep";
        ended = true;
      });
      answer_until_open<S>(begun);
      S::barrier();
      EXPECT_TRUE(ended);
    });
    other_ends.open();
    other.join();
  }
}

TEST(barrier_of_one_call, waits_for_all_tasks_of_the_call_among_those_of_others) {
  for (unsigned workers : {1u, 2u, 4u}) {
    S::pool pool({.workers = workers, .stack_size = std::size_t{1} << 20});
    std::vector<std::thread> callers;
    for (int c = 0; c < 3; ++c) {
      callers.emplace_back([&] {
        for (std::size_t round = 0; round < scaled(200) && !HasFailure(); ++round) {
          std::atomic<long> leaves{0};
          auto const grow = [&leaves](auto const& self, int depth) -> void {
            if (depth == 0) {
              leaves.fetch_add(1, std::memory_order_relaxed);
              return;
            }
            filch::join<S>([&] { S::detach([&self, depth] { self(self, depth - 1); }); },
                           [&] { S::detach([&self, depth] { self(self, depth - 1); }); });
          };
          pool.run([&] {
            for (int again = 1; again <= 2; ++again) {
              grow(grow, 6);
              S::barrier();
              EXPECT_EQ(leaves, again * 64);
            }
          });
        }
      });
    }
    for (auto& t : callers) t.join();
  }
}

TEST(barrier_of_one_call, does_not_wait_for_tasks_that_earlier_calls_left) {
  gate begun;
  gate may_end;
  S::pool pool({.workers = 2});  // ends first: the task may still run
  pool.run([&] {
    S::detach([&] {
      begun.open();
      EXPECT_TRUE(may_end.pass()) << "a barrier waits for it";
    });
    answer_until_open<S>(begun);
  });
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      int ran = 0;
      S::detach([&] { ++ran; });
      S::barrier();
      EXPECT_EQ(ran, 1);
    });
  }
  may_end.open();
}

}  // namespace
}  // namespace filch_test
