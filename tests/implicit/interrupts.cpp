// Interrupts reach victims that do not fork for long. At any instruction: interrupts_anywhere.cpp.
#include "blind.hpp"
#include "scale.hpp"
#include "stealing.hpp"
#include "this_thread.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

using S = filch::implicit;

/// ThreadSanitizer delays signal handlers, so no worker is interrupted there.
constexpr bool are_delivered = !is_thread_sanitized;

TEST(interrupts, get_a_continuation_from_a_victim_that_does_not_fork) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  S::pool pool({.workers = 2});
  for (int i = 0; i < 20; ++i) {
    gate inner;
    bool outer_ran = false;
    pool.run([&] {
      // The sleeping thief gets the continuation of the outer join. After that, only an interrupt offers it the
      // continuation of the inner join: the victim waits without a fork.
      filch::join<S>([&] { filch::join<S>([&] { EXPECT_TRUE(inner.pass()); }, [&] { inner.open(); }); },
                     [&] { outer_ran = true; });
    });
    EXPECT_TRUE(outer_ran);
  }
}

TEST(interrupts, may_come_on_the_way_into_a_shared_library) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  S::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(1000); ++i) {
    gate inner;
    bool outer_ran = false;
    pool.run([&] {
      filch::join<S>(
          [&] {
            filch::join<S>(
                [&] {
                  // Almost only calls. Half of the time is in the procedure linkage table.
                  EXPECT_TRUE(eventually([&] {
                    for (int k = 0; k < 1000 && !inner.is_open(); ++k) static_cast<void>(getpagesize());
                    return inner.is_open();
                  }));
                },
                [&] { inner.open(); });
          },
          [&] { outer_ran = true; });
    });
    ASSERT_TRUE(outer_ran);
    ASSERT_TRUE(inner.is_open());
  }
}

TEST(interrupts, find_spawned_tasks_too) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  S::pool pool({.workers = 2});
  for (int i = 0; i < 20; ++i) {
    gate all;
    std::atomic<int> ran{0};
    pool.run([&] {
      filch::scope<S>([&](auto& s) {
        for (int k = 0; k < 10; ++k) {
          s.spawn([&] {
            if (++ran == 10) all.open();
          });
        }
        EXPECT_TRUE(all.pass());
      });
    });
  }
}

/// One of two workers forks while the other one is busy. Then meanwhile(pool, release, inner) opens `release`, which
/// ends the busy task. After it nothing is forked, but the join must be stolen, which opens `inner`.
void expect_steal_after(auto const& meanwhile) {
  S::pool pool({.workers = 2});
  for (int i = 0; i < 5; ++i) {
    gate busy;
    gate release;
    gate inner;
    pool.run([&] {
      filch::join<S>(
          [&] {
            EXPECT_TRUE(busy.pass());
            filch::join<S>(
                [&] {
                  meanwhile(pool, release, inner);
                  EXPECT_TRUE(inner.pass());
                },
                [&] { inner.open(); });
          },
          [&] {
            busy.open();
            EXPECT_TRUE(release.pass());
          });
    });
  }
}

/// The same where the other worker requests during meanwhile(f).
void expect_answer_after(auto const& meanwhile) {
  expect_steal_after([&](S::pool& pool, gate& release, gate const& inner) {
    bool was_asked = false;
    auto const before = pool.stats().sleeps;  // the other worker is awake
    release.open();
    meanwhile([&] { was_asked = eventually([&] { return inner.is_open() || pool.stats().sleeps != before; }); });
    EXPECT_TRUE(was_asked);
  });
}

/// Calls body() in a function that no walk gets past.
void call_in_blind_frame(std::function<void()> body) {
  call_blindly([](void* p) { (*static_cast<std::function<void()>*>(p))(); }, &body);
}

TEST(interrupts, are_answered_after_a_stay_or_a_run_in_another_pool) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_answer_after([](auto const& f) { filch::stay(f); });
  filch::direct::pool direct({.workers = 1});
  expect_answer_after([&](auto const& f) { direct.run(f); });
  S::pool other({.workers = 1});
  expect_answer_after([&](auto const& f) { other.run(f); });
  S::pool larger({.workers = 2});
  expect_answer_after([&](auto const& f) { larger.run(f); });
}

TEST(interrupts, come_again_after_an_exception_on_its_way) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_answer_after([](auto const& f) {
    struct at_the_end {
      std::function<void()> const call;
      ~at_the_end() { call(); }
    };
    try {
      at_the_end const here{f};
      throw std::runtime_error("on its way");
    } catch (std::runtime_error const&) {
    }
  });
}

TEST(interrupts, come_again_after_a_stack_that_cannot_be_walked) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_answer_after([](auto const& f) { call_in_blind_frame(f); });
}

TEST(interrupts, come_after_a_request_seen_where_the_stack_cannot_be_walked) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_answer_after([](auto const& f) { call_in_blind_frame([&f] { filch::stay(f); }); });
}

/// Calls body() on a stack that the library does not know.
void call_on_fiber(std::function<void()> const& body) {
  static thread_local std::function<void()> const* current;
  static thread_local ucontext_t here;
  static thread_local ucontext_t there;
  std::vector<char> stack(std::size_t{256} << 10);
  current = &body;
  getcontext(&there);
  there.uc_stack.ss_sp = stack.data();
  there.uc_stack.ss_size = stack.size();
  there.uc_link = &here;
  makecontext(&there, [] { (*current)(); }, 0);
  swapcontext(&here, &there);
}

TEST(interrupts, come_after_a_request_seen_on_another_stack) {
  if constexpr (is_sanitized) GTEST_SKIP() << "sanitizers are not told of the stack";
  expect_answer_after([](auto const& f) { call_on_fiber([&f] { filch::stay(f); }); });
}

TEST(interrupts, come_after_a_scope_that_hid_older_frames) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  expect_steal_after([](S::pool& pool, gate& release, gate const&) {
    std::atomic<std::uint64_t> sleeps{0};
    gate ran;
    // Only the spawned task is offered. Nothing older is offered until the scope has forgotten it.
    call_in_blind_frame([&] {
      filch::scope<S>([&](auto& s) {
        s.spawn([&] {
          sleeps = pool.stats().sleeps;
          ran.open();
        });
        release.open();
        EXPECT_TRUE(ran.pass());
        EXPECT_TRUE(eventually([&] { return pool.stats().sleeps != sleeps; }));
      });
    });
  });
}

TEST(interrupts, find_more_spawned_tasks_than_a_stack_has_records) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  constexpr std::size_t k_stack = std::size_t{1} << 20;
  constexpr int k_tasks = 2000;
  S::pool pool({.workers = 2, .stack_size = k_stack});
  gate all;
  std::atomic<int> ran{0};
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      for (int k = 0; k < k_tasks; ++k) {
        s.spawn([&] {
          if (++ran == k_tasks) all.open();
        });
      }
      EXPECT_TRUE(all.pass());  // the thief runs them all
    });
  });
  EXPECT_EQ(ran, k_tasks);
}

/// Nests `depth` joins. The g of each join, and the innermost f, calls arrive().
void nest_joins(unsigned depth, auto const& arrive) {
  if (depth == 0) return arrive();
  filch::join<S>([&] { nest_joins(depth - 1, arrive); }, [&] { arrive(); });
}

TEST(interrupts, get_a_continuation_for_each_thief_that_sleeps) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  constexpr unsigned k_workers = 4;
  for (std::size_t i = 0; i < scaled(50); ++i) {
    S::pool pool({.workers = k_workers});
    ASSERT_TRUE(eventually([&] { return pool.stats().sleeps == k_workers - 1; }));
    // The first fork wakes one thief. No fork wakes the others: the victim is in the innermost child by then.
    std::atomic<unsigned> arrived{0};
    std::atomic<bool> met{true};
    pool.run([&] {
      nest_joins(k_workers - 1, [&] {
        ++arrived;
        if (!eventually([&] { return arrived == k_workers; })) met = false;
      });
    });
    ASSERT_TRUE(met) << "in round " << i;
  }
}

TEST(interrupts, come_if_the_maker_of_the_pool_blocks_signals) {
  if constexpr (!are_delivered) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  S::pool pool = [] {
    no_interrupts const here;
    return S::pool({.workers = 3});
  }();
  for (int i = 0; i < 20; ++i) {
    gate inner;
    gate outer;
    pool.run([&] {
      // Victim and thief are both threads of the pool.
      filch::join<S>([&] { EXPECT_TRUE(outer.pass()); },
                     [&] {
                       for (int looks = 0; looks < 1000 && pool.stats().sleeps <= pool.stats().wakeups; ++looks) {
                         std::this_thread::yield();
                       }
                       gate taken;
                       filch::join<S>(
                           [&] { filch::join<S>([&] { EXPECT_TRUE(inner.pass()); }, [&] { inner.open(); }); },
                           [&] { taken.open(); });
                       outer.open();
                     });
    });
  }
}

}  // namespace
}  // namespace filch_test
