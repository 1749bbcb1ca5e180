// Answers to steal requests: how many tasks they hold, which worker gives them, and when.
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <string>

namespace filch_test {
namespace {

using S = filch::channel;
using filch::steal_amount;
using filch::victim_order;

long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

TEST(answers, are_not_requested_by_one_worker) {
  filch::channel::pool pool({.workers = 1});
  pool.run([] { return fib(15); });
  EXPECT_EQ(pool.stats().requests, 0u);
  EXPECT_EQ(pool.stats().publications, 0u);
}

TEST(answers, hold_one_task_if_one_is_requested) {
  filch::channel::pool pool({.workers = 3, .amount = steal_amount::one});
  EXPECT_TRUE(eventually([&] {
    pool.run([] { return fib(18); });
    return pool.stats().publications >= 20;
  }));
  EXPECT_EQ(pool.stats().tasks_sent, pool.stats().publications);
}

TEST(answers, hold_half_of_the_tasks_if_half_is_requested) {
  filch::channel::pool pool({.workers = 2, .amount = steal_amount::half});
  std::atomic<unsigned> ran{0};
  pool.run([&] {
    gate others;
    filch::scope<S>([&](auto& s) {
      // The only thief is in the first task while the others are spawned.
      wait_for_thief<S>();
      s.spawn([&] { EXPECT_TRUE(others.pass()); });
      EXPECT_TRUE(eventually([&] {
        filch::poll<S>();
        return pool.stats().publications >= 1;
      }));
      for (int i = 0; i < 100; ++i) s.spawn([&] { ++ran; });
      others.open();
      EXPECT_TRUE(eventually([&] {
        filch::poll<S>();
        return pool.stats().publications >= 2;
      }));
    });
  });
  EXPECT_EQ(ran, 100u);
  EXPECT_GE(pool.stats().tasks_sent, 51u);
}

TEST(answers, hold_several_tasks_if_many_wait_and_answers_come_late) {
  filch::channel::pool pool({.workers = 2});
  EXPECT_TRUE(eventually([&] {
    pool.run([] {
      filch::scope<S>([](auto& s) {
        for (int i = 0; i < 100; ++i) s.spawn([] { work_for(std::chrono::microseconds(100)); });
      });
    });
    return pool.stats().tasks_sent >= pool.stats().publications + 10;
  }));
}

TEST(answers, come_in_every_setting) {
  for (auto const amount : {steal_amount::adaptive, steal_amount::one, steal_amount::half}) {
    for (auto const victims : {victim_order::last, victim_order::random, victim_order::nearest}) {
      for (bool const early : {false, true}) {
        filch::channel::pool pool({.workers = 4, .amount = amount, .victims = victims, .early_requests = early});
        EXPECT_TRUE(eventually([&] {
          EXPECT_EQ(pool.run([] { return fib(18); }), 2584);
          return pool.stats().steals >= 10;
        }));
      }
    }
  }
}

TEST(answers, are_given_at_a_poll) {
  // f polls, and does not fork.
  filch::channel::pool pool({.workers = 2});
  pool.run([] {
    gate begun;
    filch::join<S>(
        [&] {
          EXPECT_TRUE(eventually([&] {
            filch::poll<S>();
            return begun.is_open();
          })) << "g was not stolen";
        },
        [&] { begun.open(); });
  });
}

TEST(answers, are_given_by_a_loop) {
  filch::channel::pool pool({.workers = 2});
  pool.run([] {
    gate begun;
    filch::join<S>(
        [&] {
          filch::for_index<S>(0, 100'000'000, [&](int) {
            if (!begun.is_open()) work_for(std::chrono::microseconds(1));
          });
        },
        [&] { begun.open(); });
  });
  EXPECT_GE(pool.stats().steals, 1u);
}

TEST(answers, come_from_the_worker_that_forks_while_others_are_busy) {
  // All workers but one are in long tasks that neither fork nor poll. The last one requests tasks from any of them
  // first.
  filch::channel::pool pool({.workers = 4});
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      gate end;
      auto const busy = [&] { EXPECT_TRUE(end.pass()); };
      stolen_join<S>{}(
          [&] {
            stolen_join<S>{}(
                [&] {
                  stolen_join<S>{}([] {}, [] {});
                  end.open();
                },
                busy);
          },
          busy);
    });
  }
}

TEST(answers, are_passed_on_by_workers_without_tasks) {
  // With more workers than processors, only early requests go to one victim first.
  filch::channel::pool pool({.workers = 8, .early_requests = true});
  EXPECT_TRUE(eventually([&] {
    pool.run([] { return fib(22); });
    return pool.stats().forwards > 0;
  }));
}

TEST(answers, are_taken_back_from_late_thieves) {
  filch::channel::pool pool({.workers = 8});
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(pool.run([] { return fib(22); }), 17'711);
    return pool.stats().backoffs > 0;
  }));
}

TEST(answers, are_sent_again_to_late_thieves) {
  // More workers than processors: a thief that loses its processor may be late for long.
  unsigned const thieves = std::thread::hardware_concurrency();
  filch::channel::pool pool({.workers = thieves + 1, .early_requests = true});
  std::atomic<unsigned> held{0};
  gate go_on;
  pool.run([&] {
    // Detached tasks hold the others: no early requests are sent before these.
    while (held < thieves - 1 && !testing::Test::HasFailure()) {
      unsigned const before = held;
      wait_for_thief<S>();
      S::detach([&] {
        ++held;
        EXPECT_TRUE(go_on.pass());
      });
      EXPECT_TRUE(eventually([&] {
        S::poll();
        return held > before;
      }));
    }
    filch::scope<S>([&](auto& s) {
      // The last thief sends one early request, and then looks at nothing. Nothing polls, so the request stays here.
      gate begun;
      wait_for_thief<S>();
      s.spawn([&] {
        begun.open();
        EXPECT_TRUE(go_on.pass());
      });
      EXPECT_TRUE(begun.pass());
      std::uint64_t const first = pool.stats().publications + 1;
      EXPECT_TRUE(eventually([&] {
        filch::join<S>([] {}, [] {});
        return pool.stats().publications > first;
      })) << "a late thief gets nothing until it requests anew";
      go_on.open();
    });
  });
}

TEST(answers, wait_for_threads_that_have_yet_to_come) {
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    filch::channel::pool pool({.workers = 2});
    gate other;
    // Nothing here answers a request that comes after the fork.
    pool.run([&] { filch::join<S>([&] { EXPECT_TRUE(other.pass()); }, [&] { other.open(); }); });
  }
}

TEST(answers, go_to_other_thieves_after_they_were_taken_back) {
  filch::channel::pool pool({.workers = 3, .amount = steal_amount::half, .early_requests = true});
  gate second_is_held, second_may_ask;
  gate first_may_ask, next_may_begin, next_may_end;
  gate has_next, oldest_ran;
  pool.run([&] {
    // A detached task, before which no early request is sent.
    wait_for_thief<S>();
    S::detach([&] {
      second_is_held.open();
      EXPECT_TRUE(second_may_ask.pass());
    });
    answer_until_open<S>(second_is_held);
    filch::scope<S>([&](auto& s) {
      hold_thief<S>(s, first_may_ask);
      S::poll();  // passes its early request on, or back
      // The first thief gets two of these. Before the second one it requests more, and then looks at nothing.
      s.spawn([&] {
        has_next.open();
        EXPECT_TRUE(next_may_begin.pass());
        work_for(std::chrono::microseconds(50));  // no early request follows a task shorter than a steal
      });
      s.spawn([&] { EXPECT_TRUE(next_may_end.pass()); });
      s.spawn([&] { oldest_ran.open(); });
      first_may_ask.open();
      answer_until_open<S>(has_next);
      // So it is sent the task above, and this one.
      s.spawn([&] {
        answer_until_open<S>(oldest_ran);
        EXPECT_TRUE(oldest_ran.is_open()) << "a task lies in a message that no worker looks at";
        next_may_end.open();
      });
      for (int i = 0; i < 2; ++i) s.spawn([] {});
      std::uint64_t const before = pool.stats().publications;
      next_may_begin.open();
      EXPECT_TRUE(eventually([&] {
        S::poll();
        return pool.stats().publications > before;
      }));
      second_may_ask.open();
      wait_for_thief<S>();
    });
  });
}

TEST(answers, are_given_between_the_tasks_of_a_message) {
  filch::channel::pool pool({.workers = 3, .amount = steal_amount::half});
  gate begun;
  with_held_thieves<S>(pool, [&](auto& s, gate& first_may_ask, gate& second_may_ask) {
    // One message holds three of these. While the first of them runs, the other worker requests tasks.
    s.spawn([&] {
      second_may_ask.open();
      wait_for_thief<S>();
    });
    s.spawn([&] { EXPECT_TRUE(begun.pass()) << "a worker keeps a requested task while it runs another one"; });
    s.spawn([&] { begun.open(); });
    for (int i = 0; i < 3; ++i) s.spawn([] {});
    std::uint64_t const before = pool.stats().publications;
    first_may_ask.open();
    // One message, and no other.
    EXPECT_TRUE(eventually([&] {
      S::poll();
      return pool.stats().publications > before;
    }));
    EXPECT_TRUE(begun.pass());
  });
}

TEST(answers, are_given_between_detached_tasks) {
  filch::channel::pool pool({.workers = 2});
  pool.run([&] {
    gate is_held;
    gate may_ask;
    gate begun;
    wait_for_thief<S>();
    S::detach([&] {
      is_held.open();
      EXPECT_TRUE(may_ask.pass());
    });
    EXPECT_TRUE(is_held.pass());
    S::detach([&] {
      may_ask.open();
      wait_for_thief<S>();
    });
    S::detach([&] { EXPECT_TRUE(begun.pass()) << "a worker keeps a requested task while it runs another one"; });
    S::detach([&] { begun.open(); });
    S::barrier();
  });
}

/// The least time of a poll without tasks, while all other workers sleep.
std::chrono::nanoseconds poll_beside_sleepers(unsigned workers) {
  using clock = std::chrono::steady_clock;
  constexpr int k_polls = 1'000;
  filch::channel::pool pool({.workers = workers, .stack_size = std::size_t{1} << 20});
  return pool.run([&] {
    EXPECT_TRUE(eventually([&] { return pool.stats().sleeps >= pool.stats().wakeups + workers - 1; }));
    auto least = clock::duration::max();
    for (int batch = 0; batch < 20; ++batch) {
      auto const begin = clock::now();
      for (int i = 0; i < k_polls; ++i) S::poll();
      least = std::min(least, clock::now() - begin);
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(least);
  });
}

TEST(answers, cost_one_look_while_many_sleepers_request_tasks) {
  auto const beside_one = poll_beside_sleepers(2);
  auto const beside_many = poll_beside_sleepers(64);
  EXPECT_LT(beside_many, 8 * beside_one);
}

TEST(answers, hold_tasks_that_another_thief_gave_back) {
  filch::channel::pool pool({.workers = 3, .amount = steal_amount::half});
  filch::channel::pool another({.workers = 1});
  gate given_back;
  gate ran;
  with_held_thieves<S>(pool, [&](auto& s, gate& first_may_ask, gate& second_may_ask) {
    // The first thief gets two of these, begins one, and gives the other one back.
    spawn_for_one_message(
        s,
        [&] {
          another.run([&] {
            given_back.open();
            EXPECT_TRUE(ran.pass()) << "the owner does not give the task that came back to another thief";
          });
        },
        [&] { ran.open(); });
    first_may_ask.open();
    answer_until_open<S>(given_back);
    second_may_ask.open();
    answer_until_open<S>(ran);
  });
}

TEST(answers, have_settings_whose_invalid_values_are_refused) {
  auto const refused = [](filch::channel_options const& options, std::string const& field) {
    try {
      filch::channel::pool const pool(options);
      ADD_FAILURE() << "made";
    } catch (filch::setup_error const& e) {
      EXPECT_NE(std::string(e.what()).find(field), std::string::npos) << e.what();
    }
  };
  refused({.workers = 1, .amount = static_cast<steal_amount>(3)}, "channel_options::amount=3");
  refused({.workers = 1, .victims = static_cast<victim_order>(3)}, "channel_options::victims=3");
}

TEST(answers, are_given_at_joins_without_room_for_forks) {
  filch::channel::pool pool({.workers = 2, .stack_size = std::size_t{64} << 10});
  expect_joins_answer_in_full_array<S>(pool);
}

}  // namespace
}  // namespace filch_test
