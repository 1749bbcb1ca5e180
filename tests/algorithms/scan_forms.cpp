// Scans with functions and ranges, and how they end: one pass on one worker, exceptions, stops.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/scan.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace filch_test {
namespace {

template <class S> class scan_forms : public ::testing::Test {};
TYPED_TEST_SUITE(scan_forms, algorithm_schedulers, scheduler_names);

TYPED_TEST(scan_forms, transform_each_element) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const square = [](int x) { return static_cast<long>(x) * x; };
    std::vector<long> expected(n), out(n);
    // Without an initial value std's may have the type of the elements.
    std::transform(v.begin(), v.end(), expected.begin(), square);
    std::inclusive_scan(expected.begin(), expected.end(), expected.begin());
    filch::transform_inclusive_scan<TypeParam>(v, out, std::plus<>{}, square);
    EXPECT_EQ(out, expected);
    std::transform_inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, square, 3L);
    filch::transform_inclusive_scan<TypeParam>(v.begin(), v.end(), out.begin(), std::plus<>{}, square, 3L);
    EXPECT_EQ(out, expected);
    std::transform_exclusive_scan(v.begin(), v.end(), expected.begin(), 3L, std::plus<>{}, square);
    filch::transform_exclusive_scan<TypeParam>(v, out, 3L, std::plus<>{}, square);
    EXPECT_EQ(out, expected);
  });
}

TYPED_TEST(scan_forms, adjacent_difference_is_std_s_also_in_place) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto v = numbers(n);
    std::vector<int> expected(n), out(n);
    std::adjacent_difference(v.begin(), v.end(), expected.begin());
    EXPECT_EQ(filch::adjacent_difference<TypeParam>(v.begin(), v.end(), out.begin()), out.end());
    EXPECT_EQ(out, expected);
    filch::adjacent_difference<TypeParam>(v, v);
    EXPECT_EQ(v, expected);
  });
}

/// An iterator whose elements may be moved away.
struct giving_iterator : std::vector<std::string>::iterator {
  using base = std::vector<std::string>::iterator;
  giving_iterator() = default;
  explicit giving_iterator(base i) : base(i) {}
  std::string&& operator*() const { return std::move(base::operator*()); }
  std::string&& operator[](std::ptrdiff_t n) const { return std::move(base::operator[](n)); }
  giving_iterator& operator++() { return base::operator++(), *this; }
  giving_iterator operator++(int) { return giving_iterator(base::operator++(0)); }
  giving_iterator& operator--() { return base::operator--(), *this; }
  giving_iterator operator--(int) { return giving_iterator(base::operator--(0)); }
  giving_iterator& operator+=(std::ptrdiff_t n) { return base::operator+=(n), *this; }
  giving_iterator& operator-=(std::ptrdiff_t n) { return base::operator-=(n), *this; }
  giving_iterator operator+(std::ptrdiff_t n) const { return giving_iterator(base::operator+(n)); }
  giving_iterator operator-(std::ptrdiff_t n) const { return giving_iterator(base::operator-(n)); }
  std::ptrdiff_t operator-(giving_iterator const& other) const { return base(*this) - base(other); }
  [[maybe_unused]] friend giving_iterator operator+(std::ptrdiff_t n, giving_iterator const& i) { return i + n; }
};
TYPED_TEST(scan_forms, adjacent_difference_takes_elements_that_may_be_moved_away) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::string> v(n), expected(n), out(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = std::string(30, 'x') + std::to_string(i);
    auto const op = [](std::string const& a, std::string const& b) { return a + b; };
    std::adjacent_difference(v.begin(), v.end(), expected.begin(), op);
    filch::adjacent_difference<TypeParam>(giving_iterator(v.begin()), giving_iterator(v.end()), out.begin(), op);
    EXPECT_EQ(out, expected);
  });
}

TYPED_TEST(scan_forms, convert_elements_as_an_assignment_does) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    std::vector<long> expected(n);
    std::inclusive_scan(v.begin(), v.end(), expected.begin(), std::plus<>{}, 0L);
    std::vector<converted_long> out(n, 0L);
    filch::inclusive_scan<TypeParam>(v, out, std::plus<>{}, converted_long(0L));
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin(), expected.end()));
  });
}

TYPED_TEST(scan_forms, end_at_the_end_of_the_shorter_range) {
  std::vector<int> const v(100, 1);
  std::vector<int> out(60);
  auto const [in_end, out_end] = filch::inclusive_scan<TypeParam>(v, out);
  EXPECT_EQ(in_end - v.begin(), 60);
  EXPECT_EQ(out_end, out.end());
  EXPECT_EQ(out.back(), 60);
}

TYPED_TEST(scan_forms, take_one_pass_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  std::vector<int> v(10'000, 1);
  int calls = 0;
  auto const op = [&calls](int a, int b) { return ++calls, a + b; };
  pool.run([&] { filch::inclusive_scan<TypeParam>(v, v, op); });
  EXPECT_EQ(calls, 9'999);
}

TYPED_TEST(scan_forms, take_one_pass_where_pieces_come_back_unstolen) {
  if constexpr (steals_are_forced<TypeParam>) GTEST_SKIP() << "all pieces are stolen";
  typename TypeParam::pool pool({.workers = 1});
  single_pieces const all;
  std::vector<int> v(1'000, 1);
  int calls = 0;
  auto const op = [&calls](int a, int b) { return ++calls, a + b; };
  pool.run([&] { filch::inclusive_scan<TypeParam>(v, v, op); });
  EXPECT_EQ(calls, 999);
}

TYPED_TEST(scan_forms, throw_exceptions_of_op) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 10);
    std::vector<int> out(n);
    auto const op = [](int, int) -> int { throw 3; };
    if (n > 1) {
      EXPECT_THROW(filch::inclusive_scan<TypeParam>(v, out, op), int);
    } else {
      filch::inclusive_scan<TypeParam>(v, out, op);
      EXPECT_EQ(out, v);
    }
  });
}

TYPED_TEST(scan_forms, end_when_a_stop_is_requested) {
  stop_source source;
  std::vector<int> const v(10'000, 1);
  std::vector<int> out(10'000);
  EXPECT_TRUE(filch::inclusive_scan<TypeParam>(source.get_token(), v.begin(), v.end(), out.begin()));
  EXPECT_EQ(out.back(), 10'000);
  auto const op = [&](int a, int b) {
    if (a == 500) source.request_stop();
    return a + b;
  };
  std::fill(out.begin(), out.end(), 0);
  EXPECT_FALSE(filch::inclusive_scan<TypeParam>(source.get_token(), v.begin(), v.end(), out.begin(), op));
  EXPECT_EQ(out.back(), 0);
}

}  // namespace
}  // namespace filch_test
