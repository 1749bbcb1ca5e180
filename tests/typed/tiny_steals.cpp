// A thief that finds tiny tasks only pauses between its steals.
#include "scale.hpp"
#include "stealing.hpp"

#include <chrono>

namespace filch_test {
namespace {

template <class S> class tiny_steals : public ::testing::Test {};
TYPED_TEST_SUITE(tiny_steals, all_schedulers, scheduler_names);

/// Runs series() in a pool of two workers, a few times. So many steals at first, then one in `each`. Time in which a
/// thief had no processor does not count.
template <class S> void expect_few_steals(std::chrono::microseconds each, auto const& series, int at_first = 300) {
  typename S::pool pool({.workers = 2});
  for (int round = 0; round < 5; ++round) {
    auto const before = pool.stats();
    auto const begin = std::chrono::steady_clock::now();
    pool.run(series);
    auto const most = static_cast<std::uint64_t>(at_first + (std::chrono::steady_clock::now() - begin) / each);
    auto const after = pool.stats();
    EXPECT_LE(after.steals - before.steals, most) << "in round " << round;
    if constexpr (std::is_same_v<S, filch::channel>) {
      EXPECT_LE(after.publications - before.publications, most) << "answers, in round " << round;
    }
  }
}

TYPED_TEST(tiny_steals, are_a_bounded_part_of_a_series_of_tiny_joins) {
  if constexpr (!steals<TypeParam> || steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "it has no thieves, or they take everything";
  } else {
    expect_few_steals<TypeParam>(std::chrono::microseconds(2), [] {
      long sum = 0;
      for (int i = 0; i < 200'000; ++i) {
        auto const [a, b] = filch::join<TypeParam>([=] { return i; }, [=] { return i & 1; });
        sum += a + b;
      }
      EXPECT_EQ(sum, 200'000L * 199'999 / 2 + 100'000);
    });
  }
}

/// Leaves of ten nanoseconds or so.
template <class S> unsigned tree(int depth) {
  if (depth == 0) {
    unsigned x = 1;
    for (int i = 0; i < 20; ++i) {
      x = x * 1664525 + 1;
      asm volatile("" : "+r"(x));
    }
    return x & 1;
  }
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1); }, [=] { return tree<S>(depth - 1); });
  return a + b;
}

TYPED_TEST(tiny_steals, are_a_bounded_part_of_a_series_of_tiny_trees) {
  if constexpr (!steals<TypeParam> || steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "it has no thieves, or they take everything";
  } else {
    if (is_sanitized || is_emulated || !is_optimised) GTEST_SKIP() << "such trees take longer than a steal";
    // Stolen parts fork, and are waited for: neither makes them longer.
    for (int depth : {2, 4, 6}) {
      SCOPED_TRACE(depth);
      expect_few_steals<TypeParam>(std::chrono::microseconds(4), [depth] {
        constexpr unsigned k_leaves = 1U << 21;
        unsigned odd = 0;
        for (unsigned i = 0; i < k_leaves >> depth; ++i) odd += tree<TypeParam>(depth);
        EXPECT_EQ(odd, k_leaves);
      });
    }
  }
}

template <class S> long chain(int length) {
  if (length == 0) return 0;
  auto const [a, b] = filch::join<S>([=] { return chain<S>(length - 1); }, [=] { return long{length}; });
  return a + b;
}

/// All of its tiny tasks stand at once: a thief that takes half of them costs their owner a wait for each.
TYPED_TEST(tiny_steals, are_a_bounded_part_of_a_deep_chain) {
  if constexpr (!steals<TypeParam> || steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "it has no thieves, or they take everything";
  } else {
    constexpr int k_length = 10'000;
    constexpr int k_times = 50;
    auto const series = [] {
      for (int i = 0; i < k_times; ++i) EXPECT_EQ(chain<TypeParam>(k_length), k_length * (k_length + 1L) / 2);
    };
    // Channel: one message with half of a chain, after a task that looked longer than it was. Under sanitizers tasks
    // take as long as a steal.
    if (!is_sanitized) expect_few_steals<TypeParam>(std::chrono::microseconds(2), series, k_length);
#if FILCH_HAS_CACTUS
    if constexpr (std::is_same_v<TypeParam, filch::cactus>) {
      filch::cactus::pool pool({.workers = 2});
      pool.run(series);
      EXPECT_LE(pool.stats().publications, k_length * k_times / 4) << "a thousand public tasks are enough";
    }
#endif
  }
}

}  // namespace
}  // namespace filch_test
