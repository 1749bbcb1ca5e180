// Which loops wake a worker: a short one does not, unless there are many in a row.
#include "pieces.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <filch/for_index.hpp>
#include <filch/stay.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace filch_test {
namespace {

constexpr int k_iterations = 8;
/// More than a cheap iteration, whose loop is not split at all; all together less than a wake-up.
constexpr std::int64_t k_ticks = 400;

void run_for(std::int64_t ticks) {
  for (auto const end = filch::detail::loop_ticks() + ticks; filch::detail::loop_ticks() < end;) {
  }
}

/// Instrumented code makes iterations much longer than that.
constexpr bool k_iterations_are_short = !is_sanitized && !is_emulated && is_optimised;

/// Workers wait, and all of them sleep.
struct all_asleep : counts_joins {
  static inline bool pays = false;
  static inline std::uint64_t rest = 0;
  static inline std::uint64_t alone = 0;
  static bool wanted() noexcept { return true; }
  static bool pays_to_wake(std::uint64_t ticks) noexcept {
    rest = std::max(rest, ticks);
    return pays;
  }
  static void ran_alone(std::uint64_t ticks) noexcept { alone += ticks; }
};

/// No worker has a request here, but one searches, or not.
struct no_request : counts_joins {
  static inline bool somebody = true;
  static bool wanted() noexcept { return false; }
  static bool somebody_looks() noexcept { return somebody; }
};

TEST(searching_workers, split_loops_of_long_iterations_before_the_first) {
  constexpr std::int64_t k_long = 4 * static_cast<std::int64_t>(filch::detail::k_long_iteration_ticks);
  auto const joins_of = [](std::int64_t ticks) {
    no_request::joins = 0;
    filch::for_index<no_request>(0, k_iterations, [ticks](int) { run_for(ticks); });
    return no_request::joins;
  };
  no_request::somebody = false;
  EXPECT_EQ(joins_of(k_long), 0u);
  no_request::somebody = true;
  EXPECT_EQ(joins_of(k_long), static_cast<std::size_t>(k_iterations) - 1);
  if (!k_iterations_are_short) return;
  joins_of(k_ticks);
  EXPECT_EQ(joins_of(k_ticks), 0u) << "a thief requests before these have run";
}

TEST(wakeups, are_asked_for_with_the_time_that_the_rest_takes) {
  if (!k_iterations_are_short) GTEST_SKIP();
  int ran = 0;
  auto const loop = [&] {
    all_asleep::joins = all_asleep::rest = all_asleep::alone = 0;
    filch::for_index<all_asleep>(0, k_iterations, [&](int) {
      run_for(k_ticks);
      ++ran;
    });
  };
  loop();
  EXPECT_GT(all_asleep::joins, 0u) << "a loop that has not run may be long";
  loop();
  EXPECT_EQ(all_asleep::joins, 0u);
  EXPECT_GE(all_asleep::rest, static_cast<std::uint64_t>(k_ticks));
  EXPECT_GE(all_asleep::alone, static_cast<std::uint64_t>(k_iterations * k_ticks));
  all_asleep::pays = true;
  loop();
  EXPECT_GT(all_asleep::joins, 0u);
  EXPECT_EQ(all_asleep::alone, 0u);
  EXPECT_EQ(ran, 3 * k_iterations);
}

TEST(wakeups, are_not_asked_for_by_a_first_iteration_that_is_slow_by_chance) {
  if (!k_iterations_are_short) GTEST_SKIP();
  all_asleep::pays = false;
  bool is_slow = false;
  auto const loop = [&] {
    all_asleep::rest = 0;
    filch::for_index<all_asleep>(0, 64, [&](int i) { run_for(is_slow && i == 0 ? 40 * k_ticks : k_ticks); });
  };
  loop();
  loop();
  auto const usual = all_asleep::rest;
  is_slow = true;
  loop();
  EXPECT_LT(all_asleep::rest, 10 * usual) << "64 iterations like the first one take 40 times as long";
}

TEST(wakeups, are_not_saved_before_iterations_that_may_be_long) {
  if (!k_iterations_are_short) GTEST_SKIP();
  all_asleep::pays = false;
  auto const loop = [] {
    all_asleep::joins = all_asleep::rest = 0;
    filch::for_index<all_asleep>(0, 2, [](int) { run_for(50 * k_ticks); });
  };
  for (int i = 0; i < 3; ++i) {
    loop();
    EXPECT_EQ(all_asleep::joins, 1u);
    EXPECT_EQ(all_asleep::rest, 0u);
  }
}

template <class S>
concept tells_of_searching_workers = requires { S::somebody_looks(); };

template <class S> class loops_beside_searching_workers : public ::testing::Test {};
TYPED_TEST_SUITE(loops_beside_searching_workers, algorithm_schedulers, scheduler_names);

TYPED_TEST(loops_beside_searching_workers, are_told_of_them) {
  using S = TypeParam;
  if (steals_are_forced<S>) GTEST_SKIP() << "each fork is public";
  if constexpr (tells_of_searching_workers<S>) {
    EXPECT_FALSE(S::somebody_looks()) << "outside";
    typename S::pool alone({.workers = 1});
    EXPECT_FALSE(alone.run([] { return S::somebody_looks(); }));
    typename S::pool pool({.workers = 2});
    pool.run([] {
      EXPECT_TRUE(eventually([] { return S::somebody_looks(); }));
      filch::stay([] { EXPECT_FALSE(S::somebody_looks()) << "forks run in order"; });
      if (S::name == "cactus") return;  // the next fork may be public after a steal
      gate has_looked;
      stolen_join<S>{}([&] { EXPECT_TRUE(has_looked.pass()); },
                       [&] {
                         EXPECT_TRUE(eventually([] { return !S::somebody_looks(); }));
                         has_looked.open();
                       });
    });
  } else {
    GTEST_SKIP() << "a worker that searches has requested";
  }
}

template <class S> class paced_wakeups : public ::testing::Test {};
TYPED_TEST_SUITE(paced_wakeups, algorithm_schedulers, scheduler_names);

TYPED_TEST(paced_wakeups, are_for_long_loops_and_many_short_ones) {
  if (!steals<TypeParam> || steals_are_forced<TypeParam> || is_emulated)
    GTEST_SKIP() << "the clock is slow, or no worker sleeps";
  typename TypeParam::pool pool({.workers = 2});
  auto const wakeups = [&] { return pool.stats().wakeups; };
  auto const loop = [] { filch::for_index<TypeParam>(0, k_iterations, [](int) { run_for(k_ticks); }); };
  pool.run([&] {
    // A worker that has slept in a join does not search afterwards.
    stolen_join<TypeParam>{}([] {},
                             [&pool] {
                               std::uint64_t const sleeps = pool.stats().sleeps;
                               EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > sleeps; }));
                             });
    loop();
    std::uint64_t const before = wakeups();
    constexpr std::uint64_t k_loops = 100;
    for (std::uint64_t i = 0; i < k_loops; ++i) {
      work_for(std::chrono::microseconds(300));
      loop();
    }
    if (k_iterations_are_short) {
      EXPECT_LT(wakeups() - before, k_loops / 4) << "other programs may make some loops long";
    }
    int rows_that_wake = 0;
    EXPECT_TRUE(eventually([&] {
      work_for(std::chrono::microseconds(300));
      std::uint64_t const asleep = wakeups();
      for (int i = 0; i < 200; ++i) loop();
      rows_that_wake += wakeups() > asleep ? 1 : 0;
      return rows_that_wake == 5;
    }));
    EXPECT_TRUE(eventually([&] {
      work_for(std::chrono::microseconds(300));
      std::uint64_t const asleep = wakeups();
      filch::for_index<TypeParam>(0, 100'000, [](int) { run_for(k_ticks); });
      return wakeups() > asleep;
    }));
  });
}

}  // namespace
}  // namespace filch_test
