// Scans: the results of std's, in any split and in order.
#include "matrices.hpp"

#include <filch/scan.hpp>

#include <cstdint>
#include <deque>
#include <numeric>
#include <string>

namespace filch_test {
namespace {

template <class S> class scans : public ::testing::Test {};
TYPED_TEST_SUITE(scans, algorithm_schedulers, scheduler_names);

/// A number in a string. op keeps the two ends of what it combines, so that a string stays short.
struct ends {
  std::string first, last;
  ends() = default;
  explicit ends(std::size_t i) : first(std::to_string(i)), last(first) {}
  ends(std::string f, std::string l) : first(std::move(f)), last(std::move(l)) {}
  bool operator==(ends const&) const = default;
};
ends joined(ends const& low, ends const& high) {
  if (std::stoul(low.last) + 1 != std::stoul(high.first)) throw std::logic_error("out of order");
  return {low.first, high.last};
}

TYPED_TEST(scans, inclusive_scan_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<int> expected(n), out(n);
    std::inclusive_scan(v.begin(), v.end(), expected.begin());
    EXPECT_EQ(filch::inclusive_scan<TypeParam>(v.begin(), v.end(), out.begin()), out.end());
    EXPECT_EQ(out, expected);
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, 7);
    auto in_place = v;
    filch::inclusive_scan<TypeParam>(in_place.begin(), in_place.end(), in_place.begin(), std::plus<>{}, 7);
    EXPECT_EQ(in_place, expected);
  });
}

TYPED_TEST(scans, exclusive_scan_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<long> expected(n), out(n);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), 5L);
    EXPECT_EQ(filch::exclusive_scan<TypeParam>(v.begin(), v.end(), out.begin(), 5L), out.end());
    EXPECT_EQ(out, expected);
    std::vector<long> in_place(v.begin(), v.end());
    filch::exclusive_scan<TypeParam>(in_place, in_place, 5L);
    EXPECT_EQ(in_place, expected);
  });
}

TYPED_TEST(scans, keep_the_order_of_ops_that_do_not_commute) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = matrices(n);
    std::vector<matrix> expected(n), out(n);
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::multiplies<>{});
    filch::inclusive_scan<TypeParam>(v, out, std::multiplies<>{});
    EXPECT_EQ(out, expected);
    std::exclusive_scan(v.begin(), v.end(), expected.begin(), matrix{1, 0, 0, 1}, std::multiplies<>{});
    filch::exclusive_scan<TypeParam>(v, out, matrix{1, 0, 0, 1}, std::multiplies<>{});
    EXPECT_EQ(out, expected);
  });
}

TYPED_TEST(scans, combine_neighbours_only) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::deque<ends> v, out(n);
    for (std::size_t i = 0; i < n; ++i) v.emplace_back(i + 1);
    filch::inclusive_scan<TypeParam>(v, out, joined, ends(0));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], ends("0", std::to_string(i + 1)));
    filch::exclusive_scan<TypeParam>(v, out, ends(0), joined);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], ends("0", std::to_string(i)));
  });
}

}  // namespace
}  // namespace filch_test
