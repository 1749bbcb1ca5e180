// Medians, intervals and means of filch-bench: bench/statistics.hpp.
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

std::vector<double> up_to(std::size_t n) {
  std::vector<double> v(n);
  std::iota(v.begin(), v.end(), 0.0);
  return v;
}

/// The probability that the median of any distribution lies between the values of rank low and high of n: that of
/// more than low and of at most high heads in n throws.
double coverage(std::size_t n, std::size_t low, std::size_t high) {
  double const throws = static_cast<double>(n);
  double all = 0;
  for (std::size_t heads = low + 1; heads <= high; ++heads) {
    double const k = static_cast<double>(heads);
    all +=
        std::exp(std::lgamma(throws + 1) - std::lgamma(k + 1) - std::lgamma(throws - k + 1) - throws * std::log(2));
  }
  return all;
}

TEST(statistics, intervals_have_the_median_in_95_of_100_cases) {
  for (std::size_t n = 6; n < 200; ++n) {
    bench::interval const i = bench::median_interval(up_to(n));
    auto const low = static_cast<std::size_t>(i.low);
    auto const high = static_cast<std::size_t>(i.high);
    EXPECT_GE(coverage(n, low, high), 0.95) << n;
    if (n >= 15) {
      EXPECT_LT(coverage(n, low + 2, high - 2), 0.95) << n;  // nor much wider than that
    }
    EXPECT_EQ(low + high, n - 1);
  }
}

TEST(statistics, few_values_are_an_interval_as_a_whole) {
  for (std::size_t n = 1; n < 6; ++n) {
    bench::interval const i = bench::median_interval(up_to(n));
    EXPECT_EQ(i.low, 0);
    EXPECT_EQ(i.high, static_cast<double>(n - 1));
    EXPECT_EQ(i.median, static_cast<double>(n - 1) / 2);
  }
}

TEST(statistics, ratios_are_those_of_pairs) {
  bench::interval const i = bench::ratio_interval({1, 20, 300}, {1, 10, 100});
  EXPECT_EQ(i.low, 1);
  EXPECT_EQ(i.median, 2);
  EXPECT_EQ(i.high, 3);
}

TEST(statistics, means_of_ratios_are_geometric) { EXPECT_DOUBLE_EQ(bench::geometric_mean({0.5, 8}), 2); }

}  // namespace
