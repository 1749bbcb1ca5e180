// Join frames of unusual functions are found, offered and resumed.
#include "blind.hpp"
#include "scale.hpp"
#include "schedulers/implicit/probes.hpp"
#include "stealing.hpp"

#include <unwind.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

namespace filch_test {
namespace {

using S = filch::implicit;

/// Calls body() on one of two workers, while the other one requests work.
template <class Body> void beside_a_thief(Body body) {
  S::pool pool({.workers = 2});
  pool.run([&] {
    wait_for_thief<S>();
    body();
  });
  EXPECT_GT(pool.stats().steals, 0u);
}

TEST(frames, of_noexcept_children_are_found) {
  beside_a_thief([] {
    gate begun;
    filch::join<S>([&]() noexcept { EXPECT_TRUE(begun.pass()); }, [&]() noexcept { begun.open(); });
  });
}

/// A tree none of whose functions may throw.
long without_exceptions(int depth) noexcept {
  if (depth == 0) return 1;
  auto const [a, b] = filch::join<S>([=]() noexcept { return without_exceptions(depth - 1); },
                                     [=]() noexcept { return without_exceptions(depth - 1); });
  return a + b;
}

TEST(frames, of_noexcept_functions_are_found) {
  S::pool pool({.workers = 3});
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(pool.run([] { return without_exceptions(10); }), 1024);
    return pool.stats().steals >= 50;
  }));
}

/// Calling conventions pass it on the stack, although it is small.
struct [[gnu::packed]] packed {
  char depth;
  long value;
};

long with_arguments_on_the_stack(packed x) {
  if (x.depth == 0) return x.value;
  packed const left{static_cast<char>(x.depth - 1), x.value * 2};
  packed const right{static_cast<char>(x.depth - 1), x.value * 2 + 1};
  auto const [a, b] = filch::join<S>([left] { return with_arguments_on_the_stack(left); },
                                     [right] { return with_arguments_on_the_stack(right); });
  return a + b;
}

TEST(frames, that_push_arguments_keep_them) {
  S::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(500); ++i) {
    ASSERT_EQ(pool.run([] { return with_arguments_on_the_stack({10, 1}); }), (1024L + 2047) * 512);
  }
  // Other join frames around them are found.
  std::uint64_t const before = pool.stats().steals;
  pool.run([] {
    stolen_join<S>{}([] { return with_arguments_on_the_stack({5, 1}); },
                     [] { return with_arguments_on_the_stack({5, 1}); });
  });
  EXPECT_GT(pool.stats().steals, before);
}

/// Joins again and again in one activation, and returns by how much its stack pointer sinks meanwhile.
[[gnu::noinline]] std::uint64_t sinks_in_joins(int n) {
  static gate* the_gate;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < n; ++i) {
    gate begun;
    the_gate = &begun;
    packed const x{1, 2};
    auto const [a, b] = filch::join<S>(
        [x] {
          EXPECT_TRUE(the_gate->pass());
          return x.value;
        },
        [] {
          the_gate->open();
          return 5L;
        });
    EXPECT_EQ(a + b, 7);
    asm volatile("movq %%rsp, %0" : "=r"(last));
    if (i == 0) first = last;
  }
  return first - last;
}

TEST(frames, that_push_arguments_do_not_sink) {
  beside_a_thief([] { EXPECT_EQ(sinks_in_joins(20), 0u); });
}

TEST(frames, outside_all_pools_that_push_arguments_do_not_sink) { EXPECT_EQ(sinks_in_joins(20), 0u); }

TEST(frames, of_children_whose_result_is_known_give_it) {
  beside_a_thief([] {
    static gate* the_gate;
    gate begun;
    the_gate = &begun;
    auto const [a, b] = filch::join<S>(
        [] {
          EXPECT_TRUE(the_gate->pass());
          return std::array<long, 2>{7, 0};
        },
        [] {
          the_gate->open();
          return 5;
        });
    EXPECT_EQ(a[0], 7);
    EXPECT_EQ(a[1], 0);
    EXPECT_EQ(b, 5);
  });
}

TEST(frames, with_over_aligned_locals_keep_them) {
  beside_a_thief([] {
    struct alignas(64) block {
      std::array<int, 48> v;
    };
    block before;
    for (int i = 0; i < 48; ++i) before.v[static_cast<std::size_t>(i)] = i * i;
    gate begun;
    auto const [a, b] = filch::join<S>(
        [&] {
          block mine = before;
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&mine) % 64, 0u);
          EXPECT_TRUE(begun.pass());
          for (auto& x : mine.v) x += 1;
          return mine;
        },
        [&] {
          begun.open();
          block mine = before;
          EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&mine) % 64, 0u);
          for (auto& x : mine.v) x += 2;
          return mine;
        });
    for (int i = 0; i < 48; ++i) {
      auto const k = static_cast<std::size_t>(i);
      ASSERT_EQ(before.v[k], i * i);
      ASSERT_EQ(a.v[k], i * i + 1);
      ASSERT_EQ(b.v[k], i * i + 2);
    }
  });
}

TEST(frames, hold_a_variable_number_of_bytes) {
  for (std::size_t bytes : {1u, 100u, 5000u}) {
    beside_a_thief([bytes] {
      auto* const room = static_cast<char*>(__builtin_alloca(bytes));
      for (std::size_t i = 0; i < bytes; ++i) room[i] = static_cast<char>(i);
      gate begun;
      std::string const text(bytes, 'x');
      auto const [a, b] = filch::join<S>(
          [&] {
            EXPECT_TRUE(begun.pass());
            return text + "f";
          },
          [&] {
            begun.open();
            return text.size();
          });
      for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(room[i], static_cast<char>(i));
      EXPECT_EQ(a.size(), bytes + 1);
      EXPECT_EQ(b, bytes);
    });
  }
}

TEST(frames, may_lie_on_both_sides_of_a_function_without_unwind_information) {
  beside_a_thief([] {
    gate inner;
    long outer = 0;
    auto const [a, b] = filch::join<S>(
        [&] {
          wait_for_thief<S>();
          call_blindly(
              [](void* p) {
                auto& g = *static_cast<gate*>(p);
                wait_for_thief<S>();
                filch::join<S>([&] { EXPECT_TRUE(g.pass()); }, [&] { g.open(); });
              },
              &inner);
          return 1;
        },
        [&] {
          outer = 3;
          return 2;
        });
    EXPECT_EQ(a + b + outer, 6);
  });
}

TEST(frames, of_two_scopes_in_one_function_have_an_order) {
  beside_a_thief([] {
    gate begun;
    gate end;
    bool ran = false;
    S::frame outer;
    S::frame inner;
    inner.spawn([&] {
      begun.open();
      EXPECT_TRUE(end.pass());
    });
    EXPECT_TRUE(begun.pass()) << "the task was not stolen";
    outer.spawn([&] { ran = true; });
    EXPECT_TRUE(ran) << "a task of the outer scope waits to be offered after one of the inner scope";
    end.open();
    inner.sync();
    outer.sync();
  });
}

/// Its constructor is a call, as in a build without inlining.
struct frame_in_a_class : S::frame {
  [[gnu::noinline]] frame_in_a_class() { asm volatile(""); }
};

TEST(frames, of_scopes_are_older_than_the_joins_in_them) {
  if constexpr (is_thread_sanitized) GTEST_SKIP() << "no interrupts under ThreadSanitizer";
  S::pool pool({.workers = 3});
  for (int i = 0; i < 20; ++i) {
    gate spawned_runs;
    gate g_runs;
    gate end;
    bool joined = false;
    pool.run([&] {
      frame_in_a_class scope;
      scope.spawn([&] {
        spawned_runs.open();
        EXPECT_TRUE(end.pass());
      });
      filch::join<S>(
          [&] {
            EXPECT_TRUE(spawned_runs.pass());
            EXPECT_TRUE(g_runs.pass());
          },
          [&] { g_runs.open(); });
      joined = true;  // while the older task runs
      end.open();
      scope.sync();
    });
    EXPECT_TRUE(joined);
  }
}

/// A scope on the heap that begins in a function below the one that joins.
struct object_with_scope {
  S::frame tasks;
  [[gnu::noinline]] object_with_scope() { asm volatile(""); }
};

void spin_for(std::chrono::microseconds t) {
  for (auto const end = std::chrono::steady_clock::now() + t; std::chrono::steady_clock::now() < end;) {
  }
}

TEST(frames, of_joins_beside_a_scope_on_the_heap_end) {
  S::pool pool({.workers = 2});
  std::size_t const rounds = scaled(200);
  for (std::size_t i = 0; i < rounds; ++i) {
    std::atomic<int> tasks{0};
    std::atomic<int> seconds{0};
    std::atomic<bool> is_over{false};
    gate busy;
    pool.run([&] {
      filch::join<S>(
          [&] {
            EXPECT_TRUE(busy.pass());
            auto const object = std::make_unique<object_with_scope>();
            for (int k = 0; k < 4; ++k) {
              object->tasks.spawn([&] {
                ++tasks;
                spin_for(std::chrono::microseconds(20));
              });
            }
            filch::join<S>(
                [&] {
                  is_over = true;                            // the other worker searches from here on
                  spin_for(std::chrono::microseconds(600));  // it requests, and interrupts
                },
                [&] { ++seconds; });
            object->tasks.sync();
          },
          [&] {
            busy.open();
            EXPECT_TRUE(eventually([&] { return is_over.load(); }));
          });
    });
    ASSERT_EQ(tasks, 4);
    ASSERT_EQ(seconds, 1);
  }
}

TEST(frames, are_resumed_in_the_right_order_when_many_were_offered) {
  S::pool pool({.workers = 3});
  struct deep {
    static long down(int n) {
      if (n == 0) return 0;
      auto const [a, b] = filch::join<S>([=] { return down(n - 1); }, [=] { return static_cast<long>(n); });
      return a + b;
    }
  };
  for (int i = 0; i < static_cast<int>(scaled(100)); ++i) {
    ASSERT_EQ(pool.run([] { return deep::down(2000); }), 2000L * 2001 / 2);
  }
}

#if defined(FILCH_PROBES)
/// While it exists, owners run landing pads, and count those that are read to another result.
class landing_pads_are_run {
 public:
  landing_pads_are_run() { filch::detail::probes::all().runs_pads.set(true); }
  landing_pads_are_run(landing_pads_are_run const&) = delete;
  landing_pads_are_run& operator=(landing_pads_are_run const&) = delete;
  ~landing_pads_are_run() { filch::detail::probes::all().runs_pads.set(false); }
  static std::uint64_t misread() { return filch::detail::probes::all().misread_pads.get(); }
};

/// Joins closures of N words. Up to two words reach the thief in its record, more in the join frame.
template <std::size_t N> long copied_words(int depth, std::array<long, N> words) {
  if (depth == 0) return words[N - 1];
  auto const [a, b] = filch::join<S>([=] { return copied_words<N>(depth - 1, words); },
                                     [=] {
                                       std::array<long, N> more = words;
                                       for (long& w : more) w += 1;
                                       return copied_words<N>(depth - 1, more);
                                     });
  return a + b;
}

/// The same with captures of other types, which are in registers of other kinds.
double mixed(int depth, float f, double d, char c, bool b) {
  if (depth == 0) return static_cast<double>(f) + d + c + (b ? 1 : 0);
  auto const [x, y] = filch::join<S>([=] { return mixed(depth - 1, f, d, c, b); },
                                     [=] { return mixed(depth - 1, f + 1, d - 1, c, !b); });
  return x + y;
}

TEST(frames, are_the_same_whether_their_landing_pads_are_read_or_run) {
  S::pool pool({.workers = 3});
  auto const run_all = [&] {
    EXPECT_EQ(pool.run([] { return copied_words<1>(9, {1}); }), 512 + 512 * 9 / 2);
    EXPECT_EQ(pool.run([] { return copied_words<2>(9, {1, 1}); }), 512 + 512 * 9 / 2);
    EXPECT_EQ(pool.run([] { return copied_words<5>(9, {1, 1, 1, 1, 1}); }), 512 + 512 * 9 / 2);
    EXPECT_EQ(pool.run([] { return copied_words<7>(9, {1, 1, 1, 1, 1, 1, 1}); }), 512 + 512 * 9 / 2);
    EXPECT_EQ(pool.run([] { return mixed(9, 1, 2, 3, true); }), 512 * 6 + 256);
    return pool.stats().steals;
  };
  std::uint64_t const steals = scaled(50);
  EXPECT_TRUE(eventually([&] { return run_all() >= steals; }));
  landing_pads_are_run const from_now;
  std::uint64_t const before = pool.stats().steals;
  EXPECT_TRUE(eventually([&] { return run_all() >= before + steals; }));
  EXPECT_EQ(landing_pads_are_run::misread(), 0u);
}
#endif

/// Throws as the runtime of another language does.
[[noreturn]] void raise_foreign_exception() {
  static _Unwind_Exception foreign{};
  foreign.exception_class = 1;
  _Unwind_RaiseException(&foreign);
  std::abort();
}

TEST(frames, wait_for_the_result_of_a_child_that_a_foreign_exception_left) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        S::pool pool({.workers = 1});
        pool.run([] { filch::join<S>([] { raise_foreign_exception(); }, [] {}); });
      },
      "an exception that is not C\\+\\+'s left a task");
}

/// Thieves still find a fiber's stack through the worker that it left. The thief that takes the last offer there must
/// request from the worker that offered it. Otherwise the others would sleep while that worker forks.
TEST(frames, of_a_fiber_that_moved_get_every_worker_to_work) {
  S::pool pool({.workers = 3});
  for (std::size_t round = 0; round < scaled(40); ++round) {
    pool.run([&] {
      for (int i = 0; i < 100 && S::worker_index() == 0; ++i) join_with_late_thief<S>();
      // Preferably both other workers sleep.
      for (int looks = 0; looks < 1000 && pool.stats().sleeps - pool.stats().wakeups < 2; ++looks) {
        std::this_thread::yield();
      }
      gate all;
      std::atomic<unsigned> seen{0};
      auto const note = [&] { seen |= 1u << S::worker_index(); };
      filch::join<S>(
          [&] {
            EXPECT_TRUE(eventually([&] {
              filch::join<S>([&] { work_for(std::chrono::microseconds(50)); }, note);
              note();
              return seen == 7;
            })) << "workers "
                << seen << " of 7 got work";
            all.open();
          },
          [&] {
            note();
            EXPECT_TRUE(all.pass());
          });
    });
    ASSERT_FALSE(::testing::Test::HasFailure()) << "in round " << round;
  }
}

}  // namespace
}  // namespace filch_test
