// Arrays as arguments. `f(a, a + 6)` is a pair of pointers, and `f(a)` a range, also behind a stop token.
#include "stop_source.hpp"

#include <filch/algorithm.hpp>
#include <filch/serial.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace filch_test {
namespace {

// The form that is taken does not depend on the scheduler.
class arrays : public ::testing::Test {
 protected:
  using S = filch::serial;
  static constexpr auto is_odd = [](int x) { return x % 2 != 0; };
  arrays() { std::iota(a, a + 10, 0); }
  /// The first six elements are a pair of pointers.
  int a[10];
  int* const end = a + 6;
  int b[10] = {};
  stop_token const token;
};

TEST_F(arrays, are_both_in_loops) {
  auto const add = [](int& x) { x += 100; };
  EXPECT_EQ(filch::for_each<S>(a, end, add), end);
  EXPECT_EQ(filch::for_each<S>(a, add), a + 10);
  EXPECT_TRUE(filch::for_each<S>(token, a, end, add));
  EXPECT_TRUE(filch::for_each<S>(token, a, add));
  EXPECT_EQ(filch::for_each_n<S>(a, 6, add), end);
  EXPECT_EQ(std::accumulate(a, a + 10, 0), 45 + 3 * 600 + 2 * 1000);
  EXPECT_EQ(filch::transform<S>(a, end, b, std::negate<>{}), b + 6);
  EXPECT_EQ(filch::transform<S>(a, end, b, b + 3, std::negate<>{}).out, b + 3);
  EXPECT_EQ(filch::transform<S>(a, end, a, b, std::plus<>{}), b + 6);
  EXPECT_EQ(filch::transform<S>(a, b, std::negate<>{}).out, b + 10);
  EXPECT_EQ(filch::copy<S>(a, end, b), b + 6);
  EXPECT_EQ(filch::copy<S>(a, b).out, b + 10);
  EXPECT_EQ(filch::fill<S>(a, end, 1), end);
  EXPECT_EQ(filch::fill<S>(a, 2), a + 10);
  EXPECT_TRUE(filch::fill<S>(token, a, end, 1));
  EXPECT_EQ(a[5] + a[6], 3);
  EXPECT_EQ(filch::generate<S>(a, end, [] { return 7; }), end);
  EXPECT_TRUE(filch::generate<S>(token, a, end, [] { return 8; }));
  EXPECT_EQ(filch::iota<S>(a, end, 20), end);
  EXPECT_TRUE(filch::iota<S>(token, a, end, 20));
  EXPECT_EQ(a[5] + a[6], 27);
  int c[10] = {};
  EXPECT_TRUE(filch::copy<S>(token, a, end, c));
  EXPECT_TRUE(filch::transform<S>(token, a, end, c, std::identity{}));
  EXPECT_TRUE(filch::transform<S>(token, a, end, a, c, std::plus<>{}));
  EXPECT_EQ(c[5], 50);
  EXPECT_EQ(c[6], 0);
}

TEST_F(arrays, are_both_in_reductions) {
  EXPECT_EQ(filch::reduce<S>(a, end), 15);
  EXPECT_EQ(filch::reduce<S>(a), 45);
  EXPECT_EQ(filch::reduce<S>(token, a, end), 15);
  EXPECT_EQ(filch::reduce<S>(token, a), 45);
  EXPECT_EQ(filch::reduce<S>(a, end, 0), 15);
  EXPECT_EQ(filch::reduce<S>(a, 0), 45);
  EXPECT_EQ(filch::reduce<S>(token, a, end, 0), 15);
  EXPECT_EQ(filch::reduce<S>(token, a, 0), 45);
  EXPECT_EQ(filch::reduce<S>(filch::reproducible, a, end, 0), 15);
  EXPECT_EQ(filch::reduce<S>(token, filch::reproducible, a, end, 0), 15);
  EXPECT_EQ(filch::transform_reduce<S>(a, end, 0, std::plus<>{}, std::negate<>{}), -15);
  EXPECT_EQ(filch::transform_reduce<S>(token, a, end, 0, std::plus<>{}, std::negate<>{}), -15);
  EXPECT_EQ(filch::transform_reduce<S>(a, end, a, 0), 55);
  EXPECT_EQ(filch::transform_reduce<S>(token, a, end, a, 0), 55);
  EXPECT_EQ(filch::count<S>(a, end, 3), 1);
  EXPECT_EQ(filch::count<S>(a, 7), 1);
  EXPECT_EQ(filch::count<S>(token, a, end, 7), 0);
  EXPECT_EQ(filch::count_if<S>(a, end, is_odd), 3);
  EXPECT_EQ(filch::count_if<S>(token, a, end, is_odd), 3);
  EXPECT_EQ(filch::min_element<S>(a, end), a);
  EXPECT_EQ(filch::min_element<S>(a, end, std::greater<>{}), end - 1);
  EXPECT_EQ(filch::min_element<S>(token, a, end, std::greater<>{}), end - 1);
  EXPECT_EQ(filch::max_element<S>(a, end), end - 1);
  EXPECT_EQ(filch::max_element<S>(a), a + 9);
  EXPECT_EQ(filch::max_element<S>(token, a, end), end - 1);
  EXPECT_EQ(filch::minmax_element<S>(a, end).max, end - 1);
  EXPECT_EQ(filch::minmax_element<S>(token, a, end)->max, end - 1);
  EXPECT_EQ(filch::min<S>(a), 0);
  EXPECT_EQ(filch::max<S>(token, a), 9);
  EXPECT_FALSE(filch::all_of<S>(a, end, is_odd));
  EXPECT_TRUE(*filch::any_of<S>(token, a, end, is_odd));
  EXPECT_FALSE(filch::none_of<S>(a, end, is_odd));
  EXPECT_FALSE(filch::equal<S>(a, end, b));
  EXPECT_TRUE(filch::equal<S>(a, end, a, end));
  EXPECT_TRUE(filch::equal<S>(a, a));
  EXPECT_TRUE(*filch::equal<S>(token, a, end, a));
  EXPECT_FALSE(*filch::equal<S>(token, a, end, a, a + 7));
  EXPECT_EQ(filch::mismatch<S>(a, end, b, b + 10).in1, a + 1);
  EXPECT_EQ(filch::mismatch<S>(token, a, end, b)->in2, b + 1);
}

TEST_F(arrays, are_both_in_searches) {
  EXPECT_EQ(filch::find<S>(a, end, 9), end);
  EXPECT_EQ(filch::find<S>(a, 9), a + 9);
  EXPECT_EQ(filch::find<S>(token, a, end, 9), end);
  EXPECT_EQ(filch::find<S>(token, a, 9), a + 9);
  EXPECT_EQ(filch::find_if<S>(a, end, is_odd), a + 1);
  EXPECT_EQ(filch::find_if<S>(token, a, end, is_odd), a + 1);
  EXPECT_EQ(filch::find_if_not<S>(a, end, is_odd), a);
  EXPECT_EQ(filch::find_if_not<S>(token, a, end, is_odd), a);
  EXPECT_EQ(filch::adjacent_find<S>(a, end), end);
  EXPECT_EQ(filch::adjacent_find<S>(a), a + 10);
  EXPECT_EQ(filch::adjacent_find<S>(a, end, std::less<>{}), a);
  EXPECT_EQ(filch::adjacent_find<S>(token, a, end), end);
  EXPECT_EQ(filch::is_sorted_until<S>(a, end), end);
  EXPECT_EQ(filch::is_sorted_until<S>(a), a + 10);
  EXPECT_EQ(filch::is_sorted_until<S>(token, a, end), end);
  EXPECT_TRUE(filch::is_sorted<S>(a, end));
  EXPECT_FALSE(filch::is_sorted<S>(a, end, std::greater<>{}));
  EXPECT_TRUE(*filch::is_sorted<S>(token, a, end));
  EXPECT_EQ(filch::search<S>(a, end, a + 2, a + 4), a + 2);
  EXPECT_EQ(filch::search<S>(token, a, end, a + 2, a + 4), a + 2);
  EXPECT_EQ(filch::search<S>(a, end, a, end), a);
  EXPECT_EQ(filch::find_end<S>(a, end, a, end), a);
  EXPECT_EQ(filch::find_end<S>(token, a, end, a, end), a);
}

TEST_F(arrays, are_both_in_scans) {
  EXPECT_EQ(filch::inclusive_scan<S>(a, end, b), b + 6);
  EXPECT_EQ(filch::inclusive_scan<S>(a, end, b, std::plus<>{}, 1), b + 6);
  EXPECT_EQ(filch::exclusive_scan<S>(a, end, b, 1), b + 6);
  EXPECT_EQ(filch::transform_inclusive_scan<S>(a, end, b, std::plus<>{}, std::negate<>{}), b + 6);
  EXPECT_EQ(filch::transform_exclusive_scan<S>(a, end, b, 0, std::plus<>{}, std::negate<>{}), b + 6);
  EXPECT_EQ(filch::adjacent_difference<S>(a, end, b), b + 6);
  EXPECT_TRUE(filch::inclusive_scan<S>(token, a, end, b));
  EXPECT_TRUE(filch::exclusive_scan<S>(token, a, end, b, 0));
  EXPECT_TRUE(filch::transform_inclusive_scan<S>(token, a, end, b, std::plus<>{}, std::negate<>{}));
  EXPECT_TRUE(filch::transform_exclusive_scan<S>(token, a, end, b, 0, std::plus<>{}, std::negate<>{}));
  EXPECT_TRUE(filch::adjacent_difference<S>(token, a, end, b));
  EXPECT_EQ(b[6], 0);
  EXPECT_EQ(filch::inclusive_scan<S>(a, b).out, b + 10);
}

TEST_F(arrays, are_both_in_filters) {
  int c[10] = {};
  EXPECT_EQ(filch::copy_if<S>(a, end, b, is_odd), b + 3);
  EXPECT_EQ(filch::copy_if<S>(token, a, end, b, is_odd), b + 3);
  EXPECT_EQ(filch::pack_index<S>(a, end, b), b + 5);
  EXPECT_EQ(filch::pack_index<S>(token, a, end, b), b + 5);
  EXPECT_EQ(filch::partition_copy<S>(a, end, b, c, is_odd).first, b + 3);
  EXPECT_EQ(filch::partition_copy<S>(token, a, end, b, c, is_odd)->second, c + 3);
  EXPECT_EQ(filch::partition_copy<S>(a, b + 0, c + 0, is_odd).out1, b + 5);
  EXPECT_EQ(filch::partition_copy<S>(token, a, b + 0, c + 0, is_odd)->in, a + 10);
  EXPECT_EQ(c[4], 8);
  EXPECT_EQ(filch::unique<S>(a, end), end);
  EXPECT_EQ(filch::unique<S>(token, a, end), end);
  EXPECT_EQ(filch::partition<S>(a, end, is_odd), a + 3);
  EXPECT_EQ(filch::partition<S>(token, a, end, is_odd), a + 3);
  EXPECT_EQ(filch::stable_partition<S>(a, end, is_odd), a + 3);
  EXPECT_EQ(filch::stable_partition<S>(token, a, end, is_odd), a + 3);
  EXPECT_EQ(filch::remove_if<S>(a + 0, end, is_odd), a + 3);
  EXPECT_EQ(filch::remove_if<S>(a, end, [](int) { return false; }), end);
  EXPECT_EQ(filch::remove_if<S>(token, a, end, [](int) { return true; }), a);
}

TEST_F(arrays, are_both_by_key) {
  auto const third = [](int x) { return x / 3; };
  std::vector<std::pair<int, int>> const sums{{0, 3}, {1, 12}};
  EXPECT_EQ(filch::reduce_by_key<S>(a, end, third, std::identity{}), sums);
  EXPECT_EQ(filch::reduce_by_key<S>(token, a, end, third, std::identity{}), sums);
  EXPECT_EQ(filch::reduce_by_key<S>(a, third, std::identity{}).size(), 4U);
  EXPECT_EQ(filch::group_by<S>(a, end, third).size(), 2U);
  EXPECT_EQ(filch::group_by<S>(token, a, end, third)->size(), 2U);
  EXPECT_EQ(filch::group_by<S>(a, third).size(), 4U);
  filch::histogram<S>(a, end, b, 10);
  EXPECT_TRUE(filch::histogram<S>(token, a, end, b, 10));
  EXPECT_EQ(b[5], 2);
  EXPECT_EQ(b[6], 0);
  filch::histogram<S>(a, b);
  EXPECT_EQ(b[6], 1);
}

}  // namespace
}  // namespace filch_test
