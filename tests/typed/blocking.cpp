// filch::blocking: while workers wait in the system, as many stand-ins work.
#include <filch/task_group.hpp>

#include "memory.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <poll.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class blocking : public ::testing::Test {};
TYPED_TEST_SUITE(blocking, all_schedulers, scheduler_names);

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

TYPED_TEST(blocking, returns_what_f_returns_or_throws) {
  auto const checks = [] {
    int x = 1;
    EXPECT_EQ(&filch::blocking([&]() -> int& { return x; }), &x);
    EXPECT_THROW(filch::blocking([] { throw 1; }), int);
    EXPECT_EQ(filch::blocking([] { return fib<TypeParam>(10); }), 55);
    EXPECT_EQ(filch::blocking([] { return filch::blocking([] { return 2; }); }), 2);
    EXPECT_EQ(filch::stay([] { return filch::blocking([] { return 3; }); }), 3);
  };
  checks();
  typename TypeParam::pool pool({.workers = 2});
  pool.run(checks);
  pool.run([&] { filch::join<TypeParam>(checks, checks); });
}

TYPED_TEST(blocking, has_a_stand_in_for_each_worker_that_waits) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else if (std::is_same_v<TypeParam, filch::channel>) {
    GTEST_SKIP() << "a worker that blocks sends nothing";
  } else {
    for (int round = 0; round < 3; ++round) {
      typename TypeParam::pool pool({.workers = 2});
      gate opened;
      auto const wait = [&] {
        filch::blocking([&] { EXPECT_TRUE(opened.pass()) << "no thread takes the place of one that blocks"; });
      };
      for (int k = 0; k < 3; ++k) {
        opened.close();
        pool.run(
            [&] { filch::join<TypeParam>(wait, [&] { filch::join<TypeParam>(wait, [&] { opened.open(); }); }); });
      }
      EXPECT_EQ(pool.run([] { return fib<TypeParam>(12); }), 144);
    }
  }
}

TYPED_TEST(blocking, offers_in_a_stay_what_was_forked_before) {
  if constexpr (std::is_same_v<TypeParam, filch::direct>
#if FILCH_HAS_CACTUS
                || std::is_same_v<TypeParam, filch::cactus>
#endif
  ) {
    typename TypeParam::pool pool({.workers = 1});
    gate begun;
    pool.run([&] {
      filch::join<TypeParam>(
          [&] {
            filch::stay([&] { filch::blocking([&] { EXPECT_TRUE(begun.pass()) << "the stand-in gets nothing"; }); });
          },
          [&] { begun.open(); });
    });
  } else {
    GTEST_SKIP() << "a worker in a stay offers nothing";
  }
}

/// In a run of Inner's, inside a task of S's pool of one worker: `wait` begins in a pool of two, or in a third pool
/// in that. A task of the outer pool's group runs meanwhile, on no other thread than a stand-in.
template <class S, class Inner, class Wait> void others_run_around(Wait wait) {
  SCOPED_TRACE(Inner::name);
  for (bool const is_deeper : {false, true}) {
    SCOPED_TRACE(is_deeper);
    typename S::pool outer({.workers = 1});
    typename Inner::pool inner({.workers = 2});
    typename S::pool innermost({.workers = 2});
    gate begun;
    outer.run([&] {
      filch::task_group<S> group;
      group.run([&] { begun.open(); });
      inner.run([&] {
        if (is_deeper) {
          innermost.run([&] { wait.template operator()<S>(begun); });
        } else {
          wait.template operator()<Inner>(begun);
        }
      });
      group.wait();
    });
    EXPECT_EQ(outer.run([] { return fib<S>(12); }), 144);
  }
}
template <class S, class Wait> void others_run_around_each(Wait wait) {
  others_run_around<S, filch::direct>(wait);
  others_run_around<S, filch::channel>(wait);
#if FILCH_HAS_CACTUS
  others_run_around<S, filch::cactus>(wait);
  others_run_around<S, filch::implicit>(wait);
#endif
}

TYPED_TEST(blocking, has_a_stand_in_in_each_pool_around_the_run) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    others_run_around_each<TypeParam>([]<class>(gate const& begun) {
      filch::blocking([&] { EXPECT_TRUE(begun.pass()) << "no thread takes the outer worker's place"; });
    });
  }
}

TYPED_TEST(blocking, has_a_stand_in_in_each_pool_around_a_group_s_wait) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    others_run_around_each<TypeParam>([]<class In>(gate const& begun) {
      gate is_elsewhere;
      filch::task_group<In> inside;
      inside.run([&] {
        is_elsewhere.open();
        EXPECT_TRUE(begun.pass()) << "no thread takes the outer worker's place";
      });
      EXPECT_TRUE(is_elsewhere.pass());
      inside.wait();
    });
  }
}

TYPED_TEST(blocking, offers_around_another_pool_s_run_what_was_forked_before) {
  if constexpr (std::is_same_v<TypeParam, filch::direct>
#if FILCH_HAS_CACTUS
                || std::is_same_v<TypeParam, filch::cactus>
#endif
  ) {
    auto const in_run_of = [](auto&& inner) {
      typename TypeParam::pool pool({.workers = 1});
      gate begun;
      pool.run([&] {
        filch::join<TypeParam>(
            [&] {
              inner.run([&] { filch::blocking([&] { EXPECT_TRUE(begun.pass()) << "the stand-in gets nothing"; }); });
            },
            [&] { begun.open(); });
      });
    };
    in_run_of(filch::direct::pool({.workers = 1}));
    in_run_of(typename TypeParam::pool({.workers = 1}));
    in_run_of(filch::default_scheduler::pool({.workers = 1}));
  } else {
    GTEST_SKIP() << "its victims offer where they fork";
  }
}

TYPED_TEST(blocking, has_a_bound_of_stand_ins) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    constexpr std::size_t k_callers = 8;
    typename TypeParam::pool pool({.workers = 1});
    std::atomic<unsigned> inside{0};
    gate leave;
    std::vector<std::thread> threads;
    std::size_t const before = thread_count();
    for (std::size_t i = 0; i < k_callers; ++i) {
      threads.emplace_back([&] {
        pool.run([&] {
          filch::blocking([&] {
            ++inside;
            EXPECT_TRUE(leave.pass());
          });
          EXPECT_EQ(fib<TypeParam>(10), 55);
        });
      });
    }
    EXPECT_TRUE(eventually([&] { return inside == k_callers; }));
    EXPECT_LE(thread_count(), before + k_callers + 1) << "more stand-ins than workers";
    leave.open();
    for (auto& t : threads) t.join();
  }
}

TYPED_TEST(blocking, has_two_stand_ins_for_two_workers_that_begin_to_wait_together) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else if (std::is_same_v<TypeParam, filch::channel>) {
    GTEST_SKIP() << "a worker that blocks sends nothing";
  } else {
    for (std::size_t round = 0; round < scaled(20); ++round) {
      // The first stand-in's thread is on its way when the second worker begins.
      typename TypeParam::pool pool({.workers = 2});
      std::atomic<int> ready{0};
      std::atomic<int> tasks{0};
      std::atomic<bool> have_met{false};
      auto const part = [&] {
        ++ready;
        EXPECT_TRUE(eventually([&] { return ready == 2; }));
        filch::scope<TypeParam>([&](auto& s) {
          s.spawn([&] {
            ++tasks;
            if (eventually([&] { return tasks == 2; })) have_met = true;
          });
          filch::blocking([&] { EXPECT_TRUE(eventually([&] { return have_met.load(); })); });
        });
      };
      pool.run([&] { filch::join<TypeParam>(part, part); });
      ASSERT_TRUE(have_met) << "in round " << round;
    }
  }
}

TYPED_TEST(blocking, has_one_stand_in_for_a_worker_that_waits_in_a_wait) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 3});
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    gate done;
    std::thread other([&] {
      pool.run([&] {
        filch::scope<TypeParam>([&](auto& s) {
          for (int i = 0; i < 100; ++i) {
            s.spawn([&] {
              int const now = ++inside;
              for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
              }
              std::this_thread::sleep_for(std::chrono::milliseconds(2));
              --inside;
            });
          }
        });
      });
      done.open();
    });
    pool.run([&] {
      filch::blocking([&] { filch::blocking([&] { filch::blocking([&] { EXPECT_TRUE(done.pass()); }); }); });
    });
    other.join();
    EXPECT_LE(most, 4) << "two threads of the pool, the other caller, and one stand-in";
  }
}

TYPED_TEST(blocking, is_for_detached_tasks_that_run_when_the_pool_ends_too) {
  if constexpr (!std::is_same_v<TypeParam, filch::channel>) {
    GTEST_SKIP() << "it has no detached tasks";
  } else {
    using S = filch::channel;
    auto pool = std::make_unique<S::pool>(S::pool::options{.workers = 2});
    unsigned const workers = 2;
    gate first_waits, second_runs, pool_ends;
    std::atomic<bool> is_stand_in{false};
    std::atomic<bool> is_done{false};
    pool->run([&] {
      S::detach([&] {
        filch::blocking([&] {
          first_waits.open();
          EXPECT_TRUE(second_runs.pass());
        });
      });
      EXPECT_TRUE(eventually([&] {
        filch::poll<S>();
        return first_waits.is_open();
      }));
      S::detach([&] {
        is_stand_in = S::worker_index() >= workers;
        second_runs.open();
        EXPECT_TRUE(pool_ends.pass());
        // The pool's threads have ended by then, or are about to. The stand-ins are next.
        work_for(std::chrono::milliseconds(20));
        filch::blocking([] { work_for(std::chrono::milliseconds(1)); });
        is_done = true;
      });
      EXPECT_TRUE(eventually([&] {
        filch::poll<S>();
        return second_runs.is_open();
      }));
    });
    EXPECT_TRUE(is_stand_in);
    pool_ends.open();
    pool.reset();
    EXPECT_TRUE(is_done);
  }
}

/// The number of times that a signal ended poll() early while it waited for so long.
int interruptions_in(std::chrono::milliseconds time) {
  int count = 0;
  for (auto const end = std::chrono::steady_clock::now() + time;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return count;
    if (poll(nullptr, 0, static_cast<int>(left.count())) < 0) ++count;
  }
}

TYPED_TEST(blocking, keeps_signals_of_thieves_away) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 3});
    std::atomic<bool> is_over{false};
    // Thieves that come and go.
    std::thread other([&] {
      pool.run([&] {
        while (!is_over) {
          auto const part = [] { work_for(std::chrono::microseconds(20)); };
          filch::join<TypeParam>(part, part);
          std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
      });
    });
    constexpr auto k_time = std::chrono::milliseconds(200);
    // Each is up to one more for each thief that has looked just before.
    constexpr int k_most = 3;
    pool.run([&] {
      filch::blocking([&] {
        filch::blocking([] {});
        EXPECT_LE(interruptions_in(k_time), k_most) << "after a wait in the wait";
      });
      typename TypeParam::pool inner({.workers = 1});
      inner.run(
          [&] { filch::blocking([&] { EXPECT_LE(interruptions_in(k_time), k_most) << "in another pool's run"; }); });
      filch::stay([&] { EXPECT_LE(interruptions_in(k_time), k_most) << "in a stay"; });
    });
    is_over = true;
    other.join();
  }
}

}  // namespace
}  // namespace filch_test
