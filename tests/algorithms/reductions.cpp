// Reductions, compared with the standard's serial ones.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/reduce.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

namespace filch_test {
namespace {

template <class S> class reductions : public ::testing::Test {};
TYPED_TEST_SUITE(reductions, algorithm_schedulers, scheduler_names);

TYPED_TEST(reductions, begin_with_values_that_are_iterators) {
  std::vector<int> v{3, 9, 4};
  auto const better = [](int* a, int* b) { return *b > *a ? b : a; };
  auto const address = [](int& x) { return &x; };
  EXPECT_EQ(*filch::transform_reduce<TypeParam>(v.begin(), v.end(), v.data(), better, address), 9);
  stop_source const never;
  EXPECT_EQ(**filch::transform_reduce<TypeParam>(never.get_token(), v.begin(), v.end(), v.data(), better, address),
            9);
}

TYPED_TEST(reductions, sum_as_the_standards) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const w = numbers(n + 1);
    EXPECT_EQ(filch::reduce<TypeParam>(v, 5L), std::accumulate(v.begin(), v.end(), 5L));
    EXPECT_EQ(filch::reduce<TypeParam>(v.begin(), v.end(), 5L), std::accumulate(v.begin(), v.end(), 5L));
    auto const squares = std::inner_product(v.begin(), v.end(), v.begin(), 0L);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(v, 0L, std::plus<>{}, [](int x) { return x * x; }), squares);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(v.begin(), v.end(), v.begin(), 0L), squares);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(v, w, 3L), std::inner_product(v.begin(), v.end(), w.begin(), 3L));
  });
}

TYPED_TEST(reductions, count_as_the_standards) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 9);
    auto const is_odd = [](int x) { return x % 2 != 0; };
    EXPECT_EQ(filch::count_if<TypeParam>(v, is_odd), std::count_if(v.begin(), v.end(), is_odd));
    EXPECT_EQ(filch::count_if<TypeParam>(v.begin(), v.end(), is_odd), std::count_if(v.begin(), v.end(), is_odd));
    EXPECT_EQ(filch::count<TypeParam>(v, 7), std::count(v.begin(), v.end(), 7));
    EXPECT_EQ(filch::count<TypeParam>(v, -7, std::negate<>{}), std::count(v.begin(), v.end(), 7));
  });
}

TYPED_TEST(reductions, find_the_extremes_of_the_standard) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, static_cast<int>(n / 4));
    EXPECT_EQ(filch::min_element<TypeParam>(v), std::min_element(v.begin(), v.end()));
    EXPECT_EQ(filch::max_element<TypeParam>(v), std::max_element(v.begin(), v.end()));
    EXPECT_EQ(filch::max_element<TypeParam>(v.begin(), v.end(), std::greater<>{}),
              std::max_element(v.begin(), v.end(), std::greater<>{}));
    auto const both = filch::minmax_element<TypeParam>(v, std::ranges::less{}, std::negate<>{});
    auto const expected = std::minmax_element(v.begin(), v.end(), std::greater<>{});
    EXPECT_EQ(both.min, expected.first);
    EXPECT_EQ(both.max, expected.second);
    if (n != 0) {
      EXPECT_EQ(filch::min<TypeParam>(v), *expected.second);
      EXPECT_EQ(filch::max<TypeParam>(v), *expected.first);
      auto const [least, greatest] = filch::minmax<TypeParam>(v);
      EXPECT_TRUE(least == *expected.second && greatest == *expected.first);
      EXPECT_EQ(filch::minmax<TypeParam>(v, std::ranges::less{}, std::negate<>{}).min, greatest);
    }
  });
}

TYPED_TEST(reductions, find_the_extremes_of_a_list) {
  using S = TypeParam;
  using text = std::string;
  EXPECT_EQ(filch::min<S>({3, 1, 2}), 1);
  EXPECT_EQ(filch::max<S>({3, 1, 2}, {}, std::negate<>{}), 1);
  EXPECT_EQ(filch::min<S>({text("b"), text("a")}, std::greater<>{}), "b");
  auto const [least, greatest] = filch::minmax<S>({text("bb"), text("a"), text("cc")}, {}, &text::size);
  EXPECT_TRUE(least == "a" && greatest == "cc") << "the first least one, and the last greatest one";
  std::initializer_list<int> const list{4, 6, 5};
  EXPECT_TRUE(filch::min<S>(list) == 4 && filch::max<S>(list) == 6 && filch::minmax<S>(list).max == 6);
  stop_token const token;
  EXPECT_EQ(filch::min<S>(token, {3, 1, 2}), 1);
  EXPECT_EQ(filch::max<S>(token, {3, 1, 2}), 3);
  EXPECT_EQ(filch::minmax<S>(token, {3, 1, 2})->max, 3);
  stop_source source;
  source.request_stop();
  EXPECT_FALSE(filch::min<S>(source.get_token(), {3, 1, 2}));
  EXPECT_FALSE(filch::minmax<S>(source.get_token(), {3, 1, 2}));
}

TYPED_TEST(reductions, find_both_extremes_with_three_comparisons_of_two_elements) {
  typename TypeParam::pool pool({.workers = 1});
  for (int n : {1, 2, 3, 1'000, 10'001}) {
    auto const v = numbers(static_cast<std::size_t>(n));
    int calls = 0;
    pool.run([&] {
      static_cast<void>(filch::minmax_element<TypeParam>(v, [&](int x, int y) { return ++calls, x < y; }));
    });
    EXPECT_LE(calls, 3 * n / 2) << n;
  }
}

TYPED_TEST(reductions, say_whether_all_or_any_or_none_are) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<int> v(n, 1);
    for (std::size_t hit : {std::size_t{0}, n / 2, n}) {
      if (hit < n) v[hit] = 2;
      auto const is_one = [](int x) { return x == 1; };
      EXPECT_EQ(filch::all_of<TypeParam>(v, is_one), std::all_of(v.begin(), v.end(), is_one));
      EXPECT_EQ(filch::any_of<TypeParam>(v.begin(), v.end(), is_one), std::any_of(v.begin(), v.end(), is_one));
      EXPECT_EQ(filch::none_of<TypeParam>(v, is_one, [](int x) { return 3 - x; }), hit >= n);
      if (hit < n) v[hit] = 1;
    }
  });
}

TYPED_TEST(reductions, compare_two_ranges) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    for (std::size_t hit : {std::size_t{0}, n / 3, n / 2, n}) {
      auto w = v;
      if (hit < n) w[hit] += 1;
      w.push_back(0);
      auto const at = filch::mismatch<TypeParam>(v, w);
      EXPECT_EQ(at.in1, v.begin() + static_cast<std::ptrdiff_t>(std::min(hit, n)));
      EXPECT_EQ(at.in2, w.begin() + static_cast<std::ptrdiff_t>(std::min(hit, n)));
      EXPECT_FALSE(filch::equal<TypeParam>(v, w));
      EXPECT_EQ(filch::equal<TypeParam>(v.begin(), v.end(), w.begin()), hit >= n);
      w.pop_back();
      EXPECT_EQ(filch::equal<TypeParam>(v, w), hit >= n);
      EXPECT_EQ(filch::equal<TypeParam>(v.begin(), v.end(), w.begin(), w.end()), hit >= n);
    }
  });
}

TYPED_TEST(reductions, keep_values_that_can_only_be_moved) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using text = std::unique_ptr<std::string>;
    auto const v = numbers(n, 0, 9);
    std::string expected;
    for (int x : v) expected += std::to_string(x);
    auto const all = filch::transform_reduce<TypeParam>(
        v, std::make_unique<std::string>(),
        [](text a, text const& b) {
          *a += *b;
          return a;
        },
        [](int x) { return std::make_unique<std::string>(std::to_string(x)); });
    EXPECT_EQ(*all, expected);
  });
}

// A container as the initial value is not taken for a second range.
TYPED_TEST(reductions, concatenate_containers) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::string const digits(n, '7');
    stop_source source;
    auto const token = source.get_token();
    auto const id = std::identity{};
    auto const digit = [](char c) { return std::string(1, c); };
    std::string const none;
    std::plus<> const both;
    EXPECT_EQ(filch::transform_reduce<TypeParam>(digits, none, both, digit), digits);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, digits, none, both, digit), digits);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, digits, none, both, digit), digits);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, filch::reproducible, digits, none, both, digit), digits);
    std::vector<std::string> const one{digits};
    EXPECT_EQ(filch::transform_reduce<TypeParam>(one, none, both, id), digits);
  });
}

/// Trivially copyable, but its copies are deleted.
struct moved_number {
  long x;
  explicit moved_number(long value) : x(value) {}
  moved_number(moved_number&&) = default;
  moved_number& operator=(moved_number&&) = default;
};
static_assert(std::is_trivially_copyable_v<moved_number>);

TYPED_TEST(reductions, keep_numbers_that_can_only_be_moved) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const add = [](moved_number a, moved_number const& b) { return moved_number(a.x + b.x); };
    auto const map = [](int x) { return moved_number(x); };
    EXPECT_EQ(filch::transform_reduce<TypeParam>(v, moved_number(5), add, map).x,
              std::accumulate(v.begin(), v.end(), 5L));
  });
}

TYPED_TEST(reductions, convert_elements_as_an_assignment_does) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n);
    auto const sum = std::accumulate(v.begin(), v.end(), 5L);
    converted_long const five(5L);
    EXPECT_EQ(filch::reduce<TypeParam>(v, five), sum);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v, five), sum);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(v, five, std::plus<>{}, [](int x) { return x; }), sum);
  });
}

// An operation that takes no two values can't combine pieces: no form is chosen.
struct counted_length {
  int length;
};
using adds_elements = counted_length (*)(counted_length, int);
template <class Op>
concept can_be_reduced_by =
    requires(std::vector<int>& v, Op op) { filch::reduce(v, counted_length{0}, op); } ||
    requires(std::vector<int>& v, Op op) { filch::reduce(v.begin(), v.end(), counted_length{0}, op); } ||
    requires(std::vector<int>& v, Op op) { filch::transform_reduce(v, counted_length{0}, op, std::identity{}); };
static_assert(!can_be_reduced_by<adds_elements>);

struct alignas(128) aligned_sum {
  long sum = 0;
  aligned_sum operator+(aligned_sum const& other) const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(std::addressof(other)) % 128, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % 128, 0u);
    return {sum + other.sum};
  }
  void operator&() const = delete;
};

TYPED_TEST(reductions, keep_values_aligned) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<aligned_sum> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i].sum = static_cast<long>(i);
    EXPECT_EQ(filch::reduce<TypeParam>(v, aligned_sum{}).sum, static_cast<long>(n * (n + 1) / 2 - n));
  });
}

}  // namespace
}  // namespace filch_test
