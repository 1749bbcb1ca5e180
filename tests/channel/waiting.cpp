// A worker in a join whose task was sent away: it runs others, sleeps, is woken, and gives back what it does not run.
#include "counted.hpp"
#include "stealing.hpp"

#include <chrono>
#include <string>

namespace filch_test {
namespace {

using S = filch::channel;

TEST(waiting, runs_the_forks_of_its_thief) {
  filch::channel::pool pool({.workers = 2});
  expect_owner_runs_what_thief_forks<S>(pool);
}

TEST(waiting, nests_as_deep_as_the_tasks_do) {
  filch::channel::pool pool({.workers = 2});
  expect_waits_nest<S>(pool, 200);
}

TEST(waiting, sleeps_and_is_woken_when_the_thief_forks) {
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) expect_fork_wakes_owner<S>(pool);
}

TEST(waiting, sleeps_and_is_woken_when_the_stolen_task_ends) {
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(pool.run([&] { return while_the_owner_sleeps<S>(pool, [] { return std::string("done"); }); }), "done");
  }
}

TEST(waiting, ends_in_an_exception_when_the_stolen_task_throws) {
  nothing_left_behind const check;
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run([&] { while_the_owner_sleeps<S>(pool, []() -> counted { throw counted(1); }); }), counted);
  }
}

/// Waits that pile up on one worker, each on top of the one before. Each of its tasks is a join whose second half is
/// on a thief, and does not end before the next task has begun on the worker.
struct pile {
  S::pool& pool;
  S::pool* around;  // or null; the pile is on this pool's stack, in a run inside its run
  static constexpr int k_tasks = 150;
  static constexpr std::size_t k_frame = std::size_t{16} << 10;
  static constexpr std::size_t k_stack = std::size_t{1} << 20;

  std::atomic<unsigned> place{~0u};  // index of the worker
  std::atomic<bool> wants_next{true};
  std::atomic<int> deep{0};
  std::atomic<int> deepest{0};
  std::atomic<int> done{0};
  bool is_inside = false;

  static bool polled(auto const& what) {
    auto const limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (!what()) {
      S::poll();
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void run() {
    pool.run([&] {
      filch::scope<S>([&](auto& s) {
        for (int i = 0; i < k_tasks; ++i) s.spawn([&] { task(); });
        while (done < k_tasks / 2) {
          if (wants_next) S::poll();
          std::this_thread::yield();
        }
      });
    });
    EXPECT_EQ(done, k_tasks);
    EXPECT_LE(static_cast<std::size_t>(deepest) * k_frame, k_stack);
  }

  void task() {
    unsigned const me = S::worker_index();
    unsigned no_worker = ~0u;
    if (me != 0) place.compare_exchange_strong(no_worker, me);
    if (me == place && around && !is_inside) {
      is_inside = true;
      around->run([&] { pool.run([&] { waits(me); }); });
    } else if (me == place) {
      waits(me);
    }
    ++done;
  }
  [[gnu::noinline]] void waits(unsigned me) {
    std::byte frame[k_frame];
    asm volatile("" : : "r"(&frame) : "memory");
    wants_next = false;
    int const d = ++deep;
    if (d > deepest) deepest = d;
    std::atomic<bool> begun{false};
    filch::join<S>([&] { polled([&] { return begun.load(); }); },
                   [&] {
                     begun = true;
                     if (S::worker_index() == me) return;
                     wants_next = true;
                     polled([&] { return deep > d; });
                   });
    wants_next = true;
    --deep;
  }
};

TEST(waiting, keeps_no_received_task) {
  S::pool pool({.workers = 3, .amount = filch::steal_amount::half});
  pool.run([&] {
    auto const waiter = filch::current_worker<S>();
    gate first_begun;
    gate second_begun;
    gate spawned;
    gate on_top_begun;
    gate second_sent;
    gate spawned_ran;
    auto const runs_on_top_of_the_wait = [&] {
      EXPECT_EQ(filch::current_worker<S>(), waiter);
      // The worker that runs second requests tasks once it has sent its outcome. The others are in this task and in
      // first.
      std::uint64_t const before = pool.stats().requests;
      on_top_begun.open();
      EXPECT_TRUE(eventually([&] { return pool.stats().requests > before; }));
      second_sent.open();
    };
    auto const first = [&] {
      first_begun.open();
      EXPECT_TRUE(second_begun.pass());
      filch::scope<S>([&](auto& s) {
        // No thief requests: the waiter is in the other side of second. It gets half of these when it waits.
        s.spawn(runs_on_top_of_the_wait);
        for (int i = 0; i < 3; ++i) s.spawn([] {});
        spawned.open();
        answer_until_open<S>(on_top_begun);
        EXPECT_TRUE(second_sent.pass());
      });
      spawned_ran.open();
    };
    auto const second = [&] {
      second_begun.open();
      EXPECT_TRUE(on_top_begun.pass());
    };
    filch::join<S>(
        [&] {
          answer_until_open<S>(first_begun);
          filch::join<S>(
              [&] {
                answer_until_open<S>(second_begun);
                EXPECT_TRUE(spawned.pass());
              },
              second);
          // The wait is over. In it the worker received one of the spawned tasks, and did not begin it.
          EXPECT_TRUE(spawned_ran.pass()) << "a worker keeps a task that it does not run";
        },
        first);
  });
}

TEST(waiting, in_another_pool_s_run_keeps_no_received_task) {
  for (bool const early : {false, true}) {
    S::pool pool({.workers = 2, .amount = filch::steal_amount::half, .early_requests = early});
    S::pool another({.workers = 1});
    pool.run([&] { expect_given_back_before<S>([&](auto const& body) { another.run(body); }); });
  }
}

TEST(waiting, inside_an_outer_pool_s_run_in_place_keeps_no_received_task) {
  S::pool outer({.workers = 1});
  S::pool pool({.workers = 2, .amount = filch::steal_amount::half});
  // The worker of both pools gets the tasks while it waits in a join.
  outer.run([&] {
    pool.run([&] {
      auto const me = filch::current_worker<S>();
      stolen_join<S>{}([] {},
                       [&] {
                         expect_given_back_before<S>([&](auto const& body) {
                           EXPECT_EQ(filch::current_worker<S>(), me);
                           outer.run(body);
                         });
                       });
    });
  });
}

TEST(waiting, without_room_for_others_does_not_sleep_on_detached_tasks) {
  S::pool pool({.workers = 3});
  S::pool inner({.workers = 1});
  pool.run([&] {
    gate may_ask;
    gate stolen;
    gate detached_ran;
    filch::scope<S>([&](auto& s) {
      hold_thief<S>(s, may_ask);
      // This runs on a stack of `inner`, whose size the pool does not know: a wait runs nothing on top there.
      inner.run([&] {
        pool.run([&] {
          wait_for_thief<S>();
          filch::join<S>(
              [&] {
                answer_until_open<S>(stolen);
                S::detach([&] { detached_ran.open(); });
              },
              [&] {
                auto const before = pool.stats().sleeps;
                stolen.open();
                // Time enough to fall asleep, which it must not.
                eventually([&] { return pool.stats().sleeps > before; }, std::chrono::milliseconds(100));
                may_ask.open();
                EXPECT_TRUE(detached_ran.pass()) << "a worker that sleeps keeps it";
              });
        });
      });
    });
    S::barrier();
  });
}

TEST(waiting, runs_its_task_if_that_came_back_during_a_poll) {
  S::pool pool({.workers = 4, .amount = filch::steal_amount::half});
  S::pool another({.workers = 1});
  gate third_has_begun;
  gate third_may_fork;
  gate x_begun;
  gate x_may_wait;
  gate given_back;
  gate second_is_busy;
  gate task_ran;
  with_held_thieves<S>(pool, [&](auto& s, gate& first_may_ask, gate& second_may_ask) {
    auto const owner = filch::current_worker<S>();
    wait_for_thief<S>();
    s.spawn([&] {
      third_has_begun.open();
      EXPECT_TRUE(third_may_fork.pass());
      wait_for_thief<S>();
      filch::join<S>([&] { EXPECT_TRUE(second_is_busy.pass()); },
                     [&] {
                       second_is_busy.open();
                       EXPECT_TRUE(task_ran.pass());
                     });
    });
    answer_until_open<S>(third_has_begun);
    // The first thief gets two of these. It gives the second one back while it runs the first.
    spawn_for_one_message(
        s,
        [&] {
          x_begun.open();
          EXPECT_TRUE(x_may_wait.pass());
          another.run([&] {
            given_back.open();
            EXPECT_TRUE(task_ran.pass()) << "no worker runs the task that was given back";
          });
        },
        [&] { task_ran.open(); });
    first_may_ask.open();
    answer_until_open<S>(x_begun);
    // Runs on the owner, on top of its wait for that task.
    S::detach([&, owner] {
      EXPECT_EQ(filch::current_worker<S>(), owner);
      x_may_wait.open();
      EXPECT_TRUE(given_back.pass());
      // An old request: the third worker has answered it.
      second_may_ask.open();
      wait_for_thief<S>();
      third_may_fork.open();
      EXPECT_TRUE(second_is_busy.pass());
      S::poll();
    });
  });
}

TEST(waiting, for_a_mutex_keeps_no_received_task) {
  S::pool pool({.workers = 2, .amount = filch::steal_amount::half});
  filch::mutex m;
  pool.run([&] {
    expect_given_back_before<S>([&](auto const& body) {
      gate has_it;
      std::thread holder([&] {
        std::lock_guard const lock(m);
        has_it.open();
        body();
      });
      EXPECT_TRUE(has_it.pass());
      m.lock();
      m.unlock();
      holder.join();
    });
  });
}

TEST(waiting, in_another_pool_s_run_keeps_no_message_of_an_early_request) {
  S::pool pool({.workers = 3, .amount = filch::steal_amount::half, .early_requests = true});
  S::pool another({.workers = 1});
  // No request is passed on to a worker that sleeps: the early requests below come back to their thieves.
  EXPECT_TRUE(eventually([&] { return pool.stats().sleeps >= 2; }));
  pool.run([&] {
    gate others_end;
    gate first_begun;
    gate other_begun;
    gate passes_on_begun;
    gate last_begun;
    gate passed_on;
    gate passed_on_ran;
    std::uint64_t before = 0;
    filch::scope<S>([&](auto& s) {
      for (gate* begun : {&first_begun, &other_begun}) {
        s.spawn([&others_end, begun] {
          begun->open();
          EXPECT_TRUE(others_end.pass());
        });
        answer_until_open<S>(*begun);
        S::poll();  // passes its early request back: there is no task for it
      }
      // One of the two gets the first three of these, which are half; then the other one gets the next two.
      s.spawn([&] {
        EXPECT_TRUE(passes_on_begun.pass());
        EXPECT_TRUE(last_begun.pass());
        before = pool.stats().publications;
      });
      // Longer than a steal: no early request follows a shorter one.
      s.spawn([] { work_for(std::chrono::microseconds(50)); });
      // The last task of its message: the thief sends an early request before it.
      s.spawn([&] {
        EXPECT_TRUE(eventually([&] { return pool.stats().publications > before; }));
        passed_on.open();
        another.run([&] { EXPECT_TRUE(passed_on_ran.pass()) << "a worker keeps a task that it does not run"; });
      });
      s.spawn([&] {
        passes_on_begun.open();
        answer_until_open<S>(passed_on);
      });
      s.spawn([&] { passed_on_ran.open(); });
      s.spawn([&] {
        last_begun.open();
        answer_until_open<S>(passed_on);
      });
      others_end.open();
      answer_until_open<S>(passes_on_begun);
    });
  });
}

TEST(waiting, piles_up_on_half_of_the_stack) {
  for (filch::steal_amount const amount : {filch::steal_amount::one, filch::steal_amount::half}) {
    for (bool const early : {false, true}) {
      for (bool const inside : {false, true}) {
        S::pool pool({.workers = 3, .stack_size = pile::k_stack, .amount = amount, .early_requests = early});
        S::pool around({.workers = 1, .stack_size = pile::k_stack});
        pile waits{pool, inside ? &around : nullptr};
        waits.run();
      }
    }
  }
}

/// Two workers sleep in joins. The one that is sent a detached task runs it, though the other one requests tasks,
/// too.
TEST(waiting, runs_the_detached_task_that_was_sent_to_it) {
  constexpr stolen_join<S> join_stolen;
  filch::channel::pool pool({.workers = 3});
  for (int round = 0; round < 20; ++round) {
    gate others_may_sleep;
    auto const waits = [&] { EXPECT_TRUE(others_may_sleep.pass()); };
    auto const on_third = [&] {
      auto const before = pool.stats();
      others_may_sleep.open();
      EXPECT_TRUE(eventually([&] { return pool.stats().sleeps == before.sleeps + 2; }));
      unsigned const me = S::worker_index();
      unsigned ran_on = me;
      gate ran;
      S::detach([&] {
        ran_on = S::worker_index();
        ran.open();
      });
      EXPECT_TRUE(ran.pass());
      EXPECT_NE(ran_on, me);
      EXPECT_EQ(pool.stats().publications, before.publications + 1);
    };
    pool.run([&] { join_stolen(waits, [&] { join_stolen(waits, on_third); }); });
  }
}

}  // namespace
}  // namespace filch_test
