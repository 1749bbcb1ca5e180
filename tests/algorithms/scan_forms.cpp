// Scans with functions and ranges, and how they end: one pass on one worker, exceptions, stops.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/scan.hpp>

#include <algorithm>
#include <atomic>
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

/// form(first, last, out, out_last) is a scan with a bounded output; the results of v are sums.
template <class Form> void expect_bounded(std::vector<int> const& v, std::vector<int> const& sums, Form form) {
  for (std::size_t room : {v.size() / 2, v.size(), v.size() + 1}) {
    std::size_t const n = std::min(room, v.size());
    std::vector<int> out(room + 1, -1);
    auto const at = static_cast<std::ptrdiff_t>(n);
    bool const is_right = form(v.begin(), v.end(), out.begin(), out.end() - 1, v.begin() + at, out.begin() + at);
    EXPECT_TRUE(is_right && std::equal(sums.begin(), sums.begin() + at, out.begin()));
    EXPECT_EQ(std::count(out.begin() + at, out.end(), -1), out.end() - out.begin() - at) << "no other is written";
  }
}
TYPED_TEST(scan_forms, end_at_the_end_of_the_shorter_pair_of_iterators) {
  using S = TypeParam;
  in_every_pool<S>([](std::size_t n) {
    auto const v = numbers(n, 1, 9);
    std::plus<> const plus;
    std::negate<> const minus;
    std::vector<int> sums(n), from_2(n), before(n), negative(n), negative_from_2(n), negative_before(n), steps(n);
    std::inclusive_scan(v.begin(), v.end(), sums.begin());
    std::inclusive_scan(v.begin(), v.end(), from_2.begin(), plus, 2);
    std::exclusive_scan(v.begin(), v.end(), before.begin(), 2);
    std::transform_inclusive_scan(v.begin(), v.end(), negative.begin(), plus, minus);
    std::transform_inclusive_scan(v.begin(), v.end(), negative_from_2.begin(), plus, minus, 2);
    std::transform_exclusive_scan(v.begin(), v.end(), negative_before.begin(), 2, plus, minus);
    std::adjacent_difference(v.begin(), v.end(), steps.begin());
    stop_token const token;
    // Each form, also with a token, with its functions and initial value.
    auto const bounded = [&](std::vector<int> const& expected, auto scan, auto... fn) {
      expect_bounded(v, expected, [&](auto i, auto end, auto out, auto out_end, auto i_end, auto o_end) {
        auto const ends = scan(i, end, out, out_end, fn...);
        return ends.in == i_end && ends.out == o_end;
      });
      expect_bounded(v, expected, [&](auto i, auto end, auto out, auto out_end, auto, auto) {
        return scan(token, i, end, out, out_end, fn...);
      });
    };
    bounded(sums, [](auto const&... a) { return filch::inclusive_scan<S>(a...); });
    bounded(from_2, [](auto const&... a) { return filch::inclusive_scan<S>(a...); }, plus, 2);
    bounded(before, [](auto const&... a) { return filch::exclusive_scan<S>(a...); }, 2);
    bounded(before, [](auto const&... a) { return filch::exclusive_scan<S>(a...); }, 2, plus);
    bounded(negative, [](auto const&... a) { return filch::transform_inclusive_scan<S>(a...); }, plus, minus);
    bounded(
        negative_from_2, [](auto const&... a) { return filch::transform_inclusive_scan<S>(a...); }, plus, minus, 2);
    bounded(
        negative_before, [](auto const&... a) { return filch::transform_exclusive_scan<S>(a...); }, 2, plus, minus);
    bounded(steps, [](auto const&... a) { return filch::adjacent_difference<S>(a...); });
    bounded(steps, [](auto const&... a) { return filch::adjacent_difference<S>(a...); }, std::minus<>());
  });
}

TYPED_TEST(scan_forms, take_one_pass_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  std::vector<int> v(10'000, 1);
  int calls = 0;
  auto const op = [&calls](int a, int b) { return ++calls, a + b; };
  pool.run([&] { filch::inclusive_scan<TypeParam>(v, v, op); });
  EXPECT_EQ(calls, 9'999);
}

/// Counts the copies that are made, not those that are assigned.
struct copied_number {
  static inline std::atomic<int> copies{0};
  long x = 0;
  explicit copied_number(long value) : x(value) {}
  copied_number(copied_number const& other) : x(other.x) { ++copies; }
  copied_number(copied_number&&) = default;
  copied_number& operator=(copied_number const&) = default;
  copied_number& operator=(copied_number&&) = default;
};
TYPED_TEST(scan_forms, copy_no_element_that_op_takes_in_place) {
  using S = TypeParam;
  typename S::pool pool({.workers = 1});
  std::vector<copied_number> v(1'000, copied_number(1)), out(v);
  auto const copies_of = [&](auto scan) {
    copied_number::copies = 0;
    pool.run(scan);
    return copied_number::copies.load();
  };
  auto const op = [](copied_number a, copied_number const& b) { return copied_number(a.x + b.x); };
  int const for_pieces = steals_are_forced<S> ? 50 : 5;  // stolen pieces begin with a copy
  EXPECT_LE(copies_of([&] { filch::inclusive_scan<S>(v, out, op); }), for_pieces);
  EXPECT_EQ(out.back().x, 1'000);
  // The sum below an element is written, and op gets a copy of it.
  EXPECT_LE(copies_of([&] { filch::exclusive_scan<S>(v, out, copied_number(0), op); }), 1'000 + for_pieces);
  EXPECT_EQ(out.back().x, 999);
  // An operation that takes values only.
  auto const of_values = [](copied_number&& a, copied_number&& b) { return copied_number(a.x + b.x); };
  filch::inclusive_scan<S>(v, out, of_values);
  EXPECT_EQ(out.back().x, 1'000);
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
