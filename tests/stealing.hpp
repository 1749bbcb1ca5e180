// Joins whose second half is known to be stolen.
#pragma once

#include "eventually.hpp"
#include "schedulers.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace filch_test {

/// FILCH_PROFILE measures the scheduler's pools: their callers run all tasks, and nothing is stolen.
template <class S> bool has_no_thieves() {
  char const* const value = std::getenv("FILCH_PROFILE");
  return value && std::string_view(value) != "0" && S::name != "implicit";
}

/// Waits until another worker asks for work: the next fork is then offered to it.
template <class S> void wait_for_thief() {
  if constexpr (steals<S>) {
    EXPECT_TRUE(eventually([] { return S::wanted(); })) << "no worker asks for work";
  }
}

/// Outside all pools, and in pools of some workers.
template <class S, class Body> void outside_and_in_pools(Body body) {
  body();
  for (unsigned workers : {1u, 2u, 5u}) {
    typename S::pool pool({.workers = workers});
    pool.run(body);
  }
}

/// Calls body() in a pool of one worker, and in one of two whose thief waits for work.
template <class S, class Body> void on_one_and_two_workers(Body body) {
  for (unsigned workers : {1u, 2u}) {
    SCOPED_TRACE(workers);
    typename S::pool pool({.workers = workers});
    pool.run([&] {
      if (workers > 1 && !has_no_thieves<S>()) wait_for_thief<S>();
      body();
    });
  }
}

/// An ordinary join.
template <class S> struct plain_join {
  static constexpr bool is_stolen = false;
  template <class F, class G> auto operator()(F&& f, G&& g) const {
    return filch::join<S>(std::forward<F>(f), std::forward<G>(g));
  }
};

/// A join in which f does not begin before g began on another worker.
template <class S> struct stolen_join {
  static constexpr bool is_stolen = true;
  template <class F, class G> auto operator()(F&& f, G&& g) const {
    gate begun;
    wait_for_thief<S>();
    return filch::join<S>(
        [&]() -> decltype(auto) {
          EXPECT_TRUE(begun.pass()) << "the task was not stolen";
          return std::forward<F>(f)();
        },
        [&]() -> decltype(auto) {
          begun.open();
          return std::forward<G>(g)();
        });
  }
};

/// A join at which the thief arrives last, unless the machine stops the owner in the wrong moment. Code that changes
/// threads is on another thread then.
template <class S> void join_with_late_thief() {
  gate begun;
  gate ended;
  wait_for_thief<S>();
  filch::join<S>(
      [&] {
        EXPECT_TRUE(begun.pass()) << "the task was not stolen";
        ended.open();
      },
      [&] {
        begun.open();
        EXPECT_TRUE(ended.pass());
        work_for(std::chrono::microseconds(100));
      });
}

/// Runs body() as a stolen task of a pool of two, and not before the owner sleeps in its join.
template <class S, class Body> auto while_the_owner_sleeps(typename S::pool& pool, Body body) {
  std::uint64_t before = 0;
  gate counted_before;
  return stolen_join<S>{}(
             [&] {
               // The thief is busy with the rest: from here on only this worker can go to sleep.
               before = pool.stats().sleeps;
               counted_before.open();
             },
             [&] {
               EXPECT_TRUE(counted_before.pass());
               EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > before; })) << "the owner does not sleep";
               return body();
             })
      .second;
}

/// A worker that sleeps in a join is woken by its thief's fork, and runs one side of it. For pools of two.
template <class S> void expect_fork_wakes_owner(typename S::pool& pool) {
  pool.run([&] {
    while_the_owner_sleeps<S>(pool, [] {
      gate second;
      unsigned first_ran_on = 9;
      unsigned second_ran_on = 9;
      filch::join<S>(
          [&] {
            first_ran_on = *filch::current_worker<S>();
            EXPECT_TRUE(second.pass()) << "the worker that sleeps in the join was not woken";
          },
          [&] {
            second_ran_on = *filch::current_worker<S>();
            second.open();
          });
      EXPECT_EQ(first_ran_on + second_ran_on, 1u);
    });
  });
}

/// A worker that waits in a join runs tasks on top of it: those that its thief forks. For pools of two.
template <class S> void expect_owner_runs_what_thief_forks(typename S::pool& pool) {
  constexpr stolen_join<S> join_stolen;
  pool.run([&] {
    auto const me = filch::current_worker<S>();
    bool back = false;
    join_stolen([] {},
                [&] {
                  EXPECT_NE(filch::current_worker<S>(), me);
                  // The only other worker waits in the join above: it takes all that is stolen here.
                  join_stolen([] {},
                              [&] {
                                back = true;
                                EXPECT_EQ(filch::current_worker<S>(), me);
                              });
                });
    EXPECT_TRUE(back);
  });
  EXPECT_GE(pool.stats().leapfrogs, 1u);
}

/// The same for a chain of tasks.
template <class S> void expect_waits_nest(typename S::pool& pool, int tasks) {
  int deepest = 0;
  auto const there_and_back = [&](auto const& self, int depth) -> int {
    deepest = depth;
    if (depth == tasks) return 0;
    return stolen_join<S>{}([] { return 1; }, [&] { return self(self, depth + 1) + 1; }).second;
  };
  EXPECT_EQ(pool.run([&] { return there_and_back(there_and_back, 0); }), tasks);
  EXPECT_EQ(deepest, tasks);
}

/// Polls until g is open.
template <class S> void answer_until_open(gate const& g) {
  EXPECT_TRUE(eventually([&] {
    S::poll();
    return g.is_open();
  }));
}

/// Joins f and g, which is forked while no thief requests. When f begins, the other worker has nothing to do.
/// For pools of two.
template <class S> void join_without_request(auto const& f, auto const& g) {
  gate other_is_busy;
  gate other_may_end;
  filch::join<S>(
      [&] {
        EXPECT_TRUE(eventually([&] {
          filch::join<S>([] {}, [] {});
          return other_is_busy.is_open();
        }));
        for (int i = 0; i < 100; ++i) filch::join<S>([] {}, [] {});  // answers an earlier request
        filch::join<S>(
            [&] {
              other_may_end.open();
              f();
            },
            g);
      },
      [&] {
        other_is_busy.open();
        EXPECT_TRUE(other_may_end.pass());
      });
}

/// Keeps a thief busy, in a task of that scope, until `end` is open. If no thief requests afterwards, the next tasks
/// stay with their owner until it answers.
template <class S> void hold_thief(auto& scope, gate const& end) {
  auto const begun = std::make_shared<gate>();
  wait_for_thief<S>();
  scope.spawn([&end, begun] {
    begun->open();
    EXPECT_TRUE(end.pass());
  });
  answer_until_open<S>(*begun);
}

/// Calls body(scope, first, second) while two thieves are held, one until `first` is open, the other until `second`.
template <class S> void with_held_thieves(typename S::pool& pool, auto const& body) {
  pool.run([&] {
    gate first;
    gate second;
    filch::scope<S>([&](auto& s) {
      hold_thief<S>(s, first);
      hold_thief<S>(s, second);
      body(s, first, second);
    });
  });
}

/// Four tasks. A thief that requests half of them gets x and `other` in one message.
void spawn_for_one_message(auto& scope, auto const& x, auto const& other) {
  scope.spawn(x);
  scope.spawn(other);
  for (int i = 0; i < 2; ++i) scope.spawn([] {});
}

/// A thief gets x and another task in one message. x begins, and calls wait(body) with a body that ends when the
/// other task has run. For pools of two whose thieves request half.
template <class S> void expect_given_back_before(auto const& wait) {
  gate others;
  gate x_begun;
  gate other_ran;
  filch::scope<S>([&](auto& s) {
    hold_thief<S>(s, others);
    spawn_for_one_message(
        s,
        [&] {
          x_begun.open();
          wait([&] { EXPECT_TRUE(other_ran.pass()) << "a task lies with a worker that does not run it"; });
        },
        [&] { other_ran.open(); });
    others.open();
    answer_until_open<S>(x_begun);
  });
}

/// Fills the worker's array of tasks: nests scopes, each with as many tasks as may wait in one. Then calls body().
template <class S> void inside_full_scopes(auto const& task, auto const& body, int scopes) {
  if (scopes == 0) return body();
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < 4096; ++i) s.spawn(task);
    inside_full_scopes<S>(task, body, scopes - 1);
  });
}

/// Joins of a worker with a full array answer a thief all the same. For pools of two with small stacks, whose arrays
/// are small.
template <class S> void expect_joins_answer_in_full_array(typename S::pool& pool) {
  constexpr int k_scopes = 9;
  std::atomic<int> ran{0};
  gate full;
  auto const task = [&] {
    // Otherwise the thief could have all of them by then.
    if (S::worker_index() != 0) {
      EXPECT_TRUE(full.pass());
    }
    ++ran;
  };
  pool.run([&] {
    inside_full_scopes<S>(
        task,
        [&] {
          full.open();
          wait_for_thief<S>();
          int const before = ran;
          EXPECT_TRUE(eventually([&] {
            filch::join<S>([] {}, [] {});
            return ran > before;
          }));
        },
        k_scopes);
  });
  EXPECT_EQ(ran, k_scopes * 4096);
}

/// For pools of two whose only thief is held in a stolen task. It requested before that, so the next places are
/// public. After some joins there they are private again, and the thief needs a new request.
template <class S> void expect_publishing_ends(typename S::pool& pool) {
  gate release;
  pool.run([&] {
    stolen_join<S>{}(
        [&] {
          for (int i = 0; i < 1'000; ++i) filch::join<S>([] {}, [] {});
          auto const before = pool.stats().publications;
          // No thief requests: no fork is published.
          for (int i = 0; i < 100'000; ++i) filch::join<S>([] {}, [] {});
          EXPECT_EQ(pool.stats().publications, before);
          release.open();
          wait_for_thief<S>();
          auto const steals = pool.stats().steals;
          stolen_join<S>{}([] {}, [] {});
          EXPECT_GT(pool.stats().publications, before) << "the places were still public";
          EXPECT_GT(pool.stats().steals, steals);
        },
        [&] { EXPECT_TRUE(release.pass()); });
  });
}

/// Calls body(join) on a worker for each way in which a join can go.
template <class S, class Body> void in_every_way(Body body) {
  {
    SCOPED_TRACE("one worker");
    typename S::pool pool({.workers = 1});
    pool.run([&] { body(plain_join<S>{}); });
  }
  if constexpr (steals<S>) {
    typename S::pool pool({.workers = 2});
    {
      SCOPED_TRACE("two workers");
      pool.run([&] { body(plain_join<S>{}); });
    }
    if (has_no_thieves<S>()) return;
    SCOPED_TRACE("stolen");
    pool.run([&] { body(stolen_join<S>{}); });
  }
}

}  // namespace filch_test
