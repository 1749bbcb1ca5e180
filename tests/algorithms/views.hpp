// Views that are inputs of algorithms, and the results of the serial loop.
#pragma once

#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <ranges>
#include <string>

#if !defined(__clang_major__) || __clang_major__ >= 16
#define FILCH_TEST_VIEWS 1
namespace filch_test {

// The inputs are new to the algorithms, not to the loops: one scheduler is enough.
using scheduler = filch::default_scheduler;

namespace v = std::views;

template <class Range> auto values_of(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> values;
  for (auto&& x : range) values.push_back(static_cast<decltype(x)>(x));
  return values;
}
inline constexpr auto is_even = [](auto x) { return x % 2 == 0; };
inline constexpr auto is_positive = [](auto x) { return x > 0; };
inline constexpr auto square = [](auto x) { return long{x} * x; };

/// A view that makes its elements and counts how often.
class counted_reads {
 public:
  explicit counted_reads(std::vector<int> const& of) : of_(of) {}
  auto range() {
    return of_ | v::transform([this](int x) { return reads_.fetch_add(1, std::memory_order_relaxed), x; });
  }
  /// The number of reads since the last call.
  std::size_t take() { return reads_.exchange(0, std::memory_order_relaxed); }

 private:
  std::vector<int> const& of_;
  std::atomic<std::size_t> reads_{0};
};

/// Reductions and searches of a range that can be split, whose elements are numbers.
template <class S, class Range> void agrees_with_the_loop(Range&& range) {
  auto const all = values_of(range);
  long const sum = std::accumulate(all.begin(), all.end(), 7L);
  EXPECT_EQ(filch::reduce<S>(range, 7L), sum);
  EXPECT_EQ(filch::reduce<S>(range) + 7L, sum);
  EXPECT_EQ(filch::transform_reduce<S>(range, 7L, std::plus<>{}, std::identity{}), sum);
  std::atomic<long> seen{7};
  filch::for_each<S>(range, [&](auto x) { seen.fetch_add(x, std::memory_order_relaxed); });
  EXPECT_EQ(seen, sum);
  EXPECT_EQ(filch::count_if<S>(range, is_positive), std::count_if(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::all_of<S>(range, is_positive), std::all_of(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::any_of<S>(range, is_positive), std::any_of(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::none_of<S>(range, is_positive), std::none_of(all.begin(), all.end(), is_positive));
  if constexpr (requires(std::vector<long>& out) { filch::copy_if<S>(range, out, is_positive); }) {
    std::vector<std::ranges::range_value_t<Range>> out(all.size()), taken;
    std::copy_if(all.begin(), all.end(), std::back_inserter(taken), is_positive);
    out.erase(filch::copy_if<S>(range, out, is_positive).out, out.end());
    EXPECT_EQ(out, taken);
  }
  if (all.empty()) return;
  EXPECT_EQ(filch::count<S>(range, all.back()), std::count(all.begin(), all.end(), all.back()));
  EXPECT_EQ(filch::min<S>(range), *std::min_element(all.begin(), all.end()));
  EXPECT_EQ(filch::max<S>(range), *std::max_element(all.begin(), all.end()));
  EXPECT_EQ(filch::max<S>(range, std::less<>{}, std::negate<>{}), *std::min_element(all.begin(), all.end()));
  auto const both = filch::minmax<S>(range);
  EXPECT_EQ(both.min, *std::min_element(all.begin(), all.end()));
  EXPECT_EQ(both.max, *std::max_element(all.begin(), all.end()));
}
/// Functions that need positions.
template <class S, class Range> void agrees_at_positions(Range&& range) {
  auto const all = values_of(range);
  using value = std::ranges::range_value_t<Range>;
  std::vector<value> out(all.size()), expected(all.size());
  filch::copy<S>(range, out);
  EXPECT_EQ(out, all);
  filch::inclusive_scan<S>(range, out);
  std::inclusive_scan(all.begin(), all.end(), expected.begin());
  EXPECT_EQ(out, expected);
  filch::adjacent_difference<S>(range, out);
  std::adjacent_difference(all.begin(), all.end(), expected.begin());
  EXPECT_EQ(out, expected);
  auto const is_as_odd = [](auto x, auto y) { return x % 2 == y % 2; };
  auto const end = filch::unique_copy<S>(range, out, is_as_odd).out - out.begin();
  EXPECT_EQ(end, std::unique_copy(all.begin(), all.end(), expected.begin(), is_as_odd) - expected.begin());
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + end, expected.begin()));
  EXPECT_EQ(filch::find_if<S>(range, is_positive) - std::ranges::begin(range),
            std::find_if(all.begin(), all.end(), is_positive) - all.begin());
  EXPECT_EQ(filch::is_sorted<S>(range), std::is_sorted(all.begin(), all.end()));
  EXPECT_TRUE(filch::equal<S>(range, all));
  EXPECT_EQ(filch::min_element<S>(range) - std::ranges::begin(range),
            std::min_element(all.begin(), all.end()) - all.begin());
}

}  // namespace filch_test
#else
#define FILCH_TEST_VIEWS 0
#endif
