// Detached tasks, and the full task barrier that waits for them.
#include <filch/task_group.hpp>

#include "scale.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>

namespace filch_test {
namespace {

using S = filch::channel;

TEST(barrier, waits_for_tasks_that_detach_tasks) {
  for (unsigned workers : {1u, 2u, 3u, 8u}) {
    filch::channel::pool pool({.workers = workers});
    for (std::size_t round = 0; round < scaled(200); ++round) {
      std::atomic<long> leaves{0};
      auto const grow = [&leaves](auto const& self, int depth) -> void {
        if (depth == 0) {
          leaves.fetch_add(1, std::memory_order_relaxed);
          return;
        }
        for (int i = 0; i < 3; ++i) S::detach([&self, depth] { self(self, depth - 1); });
      };
      pool.run([&] {
        grow(grow, 5);
        S::barrier();
        ASSERT_EQ(leaves, 243);
      });
    }
  }
}

TEST(barrier, waits_for_tasks_on_their_way_to_a_thread_that_turns_to_a_group) {
  auto const work = [] {
    for (int i = 0; i < 100; ++i) asm volatile("");
  };
  for (unsigned workers : {2u, 3u, 4u}) {
    filch::channel::pool pool({.workers = workers});
    for (std::size_t round = 0; round < scaled(300); ++round) {
      std::atomic<int> ran{0};
      pool.run([&] {
        filch::task_group<S> group;
        for (int i = 0; i < 40; ++i) {
          for (int k = 0; k < 3; ++k) {
            S::detach([&] {
              work();
              ran.fetch_add(1, std::memory_order_relaxed);
            });
          }
          group.run([&] { filch::join<S>(work, work); });
          filch::poll<S>();
        }
        group.wait();
        S::barrier();
        ASSERT_EQ(ran, 120);
      });
    }
  }
}

/// A thread that helps a group runs tasks of no call: nothing is waited for.
TEST(barrier, in_a_task_that_a_thread_ran_for_a_group_returns) {
  filch::channel::pool pool({.workers = 2});
  std::atomic<int> by_threads{0};
  for (std::size_t round = 0; round < scaled(50); ++round) {
    pool.run([&] {
      auto const me = filch::current_worker<S>();
      filch::task_group<S> group;
      gate taken;
      group.run([&] {
        taken.open();
        S::detach([] {});
        S::barrier();
        by_threads += filch::current_worker<S>() != me;
      });
      static_cast<void>(taken.pass());
      group.wait();
    });
  }
  EXPECT_GT(by_threads, 0);
}

TEST(barrier, shows_what_all_tasks_wrote) {
  filch::channel::pool pool({.workers = 4});
  pool.run([] {
    std::array<int, 1'000> written{};
    for (int round = 1; round <= 50; ++round) {
      for (int& w : written) S::detach([&w] { ++w; });
      S::barrier();
      for (int w : written) ASSERT_EQ(w, round);
    }
  });
}

TEST(barrier, follows_a_barrier_while_others_have_become_idle) {
  filch::channel::pool pool({.workers = 4});
  // Tasks overlap, however few processors there are.
  auto const take_time = [] { eventually([] { return false; }, std::chrono::milliseconds(1)); };
  for (int run = 0; run < 3; ++run) {
    pool.run([&] {
      for (int round = 0; round < 20; ++round) {
        std::atomic<int> ran{0};
        for (int i = 0; i < 20; ++i) {
          S::detach([&] {
            take_time();
            S::poll();
            take_time();
            ++ran;
          });
        }
        S::barrier();
        ASSERT_EQ(ran, 20);
      }
    });
  }
}

TEST(barrier, waits_for_tasks_that_join_and_spawn) {
  filch::channel::pool pool({.workers = 3});
  for (std::size_t round = 0; round < scaled(100); ++round) {
    std::atomic<int> sum{0};
    pool.run([&] {
      for (int i = 0; i < 20; ++i) {
        S::detach([&] {
          filch::join<S>([&] { ++sum; }, [&] { S::detach([&] { ++sum; }); });
          filch::scope<S>([&](auto& s) {
            for (int k = 0; k < 5; ++k) s.spawn([&] { ++sum; });
          });
        });
      }
      S::barrier();
      ASSERT_EQ(sum, 20 * 7);
    });
  }
}

TEST(barrier, waits_while_the_last_task_is_on_another_worker) {
  filch::channel::pool pool({.workers = 2});
  pool.run([&] {
    wait_for_thief<S>();
    std::atomic<bool> ended{false};
    unsigned const me = *filch::current_worker<S>();
    gate taken;
    S::detach([&] {
      EXPECT_NE(filch::current_worker<S>(), me);
      auto const before = pool.stats().sleeps;
      taken.open();
      EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > before; })) << "the caller does not sleep";
      ended = true;
    });
    EXPECT_TRUE(taken.pass());
    S::barrier();
    EXPECT_TRUE(ended);
  });
}

TEST(barrier, does_not_count_detached_tasks_as_leapfrogs) {
  // The owner that waits in the join is sent detached tasks.
  filch::channel::pool pool({.workers = 2});
  std::atomic<unsigned> ran_by_owner{0};
  pool.run([&] {
    unsigned const owner = S::worker_index();
    stolen_join<S>{}([] {},
                     [&] {
                       EXPECT_TRUE(eventually([&] {
                         S::detach([&] { ran_by_owner += S::worker_index() == owner; });
                         return ran_by_owner >= 3;
                       }));
                     });
    S::barrier();
  });
  EXPECT_LE(pool.stats().leapfrogs, pool.stats().steals);
}

TEST(barrier, is_not_needed_at_the_end_of_a_run) {
  filch::channel::pool pool({.workers = 1});
  auto const owned = std::make_shared<int>(0);
  pool.run([&] {
    for (int i = 0; i < 10; ++i) S::detach([owned] { ++*owned; });
  });
  EXPECT_EQ(*owned, 10);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(barrier, is_not_needed_at_the_end_of_a_pool) {
  for (std::size_t round = 0; round < scaled(200); ++round) {
    std::atomic<int> ran{0};
    {
      filch::channel::pool pool({.workers = 4, .amount = filch::steal_amount::half});
      pool.run([&] {
        for (int i = 0; i < 8; ++i) {
          S::detach([&] {
            filch::scope<S>([&](auto& s) {
              for (int k = 0; k < 16; ++k) {
                s.spawn([&] {
                  work_for(std::chrono::microseconds(2));
                  ++ran;
                });
              }
            });
          });
        }
      });
    }
    ASSERT_EQ(ran, 8 * 16);
  }
}

TEST(barrier, may_be_called_often) {
  filch::channel::pool pool({.workers = 1});
  pool.run([] {
    int ran = 0;
    for (int round = 1; round <= 70'000; ++round) {  // more than a count of 16 bits
      S::detach([&] { ++ran; });
      S::barrier();
      ASSERT_EQ(ran, round);
    }
  });
}

TEST(barrier, does_nothing_outside_pools_where_tasks_run_in_place) {
  int ran = 0;
  S::detach([&] { ++ran; });
  EXPECT_EQ(ran, 1);
  S::barrier();
  filch::channel::pool pool({.workers = 2});
  pool.run([&] {
    filch::stay([&] {
      S::detach([&] { ++ran; });
      EXPECT_EQ(ran, 2);
    });
  });
}

TEST(barrier, is_not_needed_to_put_tasks_off_without_room_for_forks) {
  filch::channel::pool pool({.workers = 1, .stack_size = std::size_t{64} << 10});
  bool is_detaching = false;
  int ran = 0;
  int forked = 0;
  auto const detach = [&] {
    int const before = forked;
    filch::scope<S>([&](auto& s) {
      s.spawn([&] { ++forked; });
      EXPECT_EQ(forked, before + 1) << "there is room";
    });
    is_detaching = true;
    S::detach([&] {
      EXPECT_FALSE(is_detaching);
      ++ran;
    });
    is_detaching = false;
  };
  pool.run([&] { inside_full_scopes<S>([&] { ++forked; }, detach, 6); });
  EXPECT_EQ(ran, 1);
}

TEST(barrier, hides_the_handled_exception_from_its_tasks) {
  std::atomic<int> handle_something{0};
  auto const look = [&] {
    if (std::current_exception()) ++handle_something;
  };
  for (unsigned workers : {1u, 2u}) {
    filch::channel::pool pool({.workers = workers});
    try {
      throw 1;
    } catch (int) {
      pool.run([&] {
        for (int i = 0; i < 100; ++i) S::detach(look);
        S::barrier();
        for (int i = 0; i < 100; ++i) S::detach(look);  // a pool of one runs them at the end of the call
      });
      EXPECT_NE(std::current_exception(), nullptr);
    }
  }
  EXPECT_EQ(handle_something, 0);
}

TEST(barrier, counts_updates_of_the_call_counter) {
  filch::channel::pool pool({.workers = 2});
  EXPECT_TRUE(eventually([&] {
    pool.run([] {
      for (int i = 0; i < 100; ++i) S::detach([] { work_for(std::chrono::microseconds(20)); });
      S::barrier();
    });
    return pool.stats().updates > 0;
  }));
}

}  // namespace
}  // namespace filch_test
