// Reductions whose result is the same to the bit for any number of workers and any scheduler.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/reduce.hpp>

#include <cmath>
#include <functional>
#include <ranges>
#include <string>

namespace filch_test {
namespace {

template <class S> class reproducible : public ::testing::Test {};
TYPED_TEST_SUITE(reproducible, algorithm_schedulers, scheduler_names);

TYPED_TEST(reproducible, has_the_same_bits_for_each_split) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<double> v(n);
    std::size_t i = 0;
    for (int x : numbers(n)) v[i++] = std::ldexp(x, x % 60);
    double const expected = filch::reduce<filch::serial>(filch::reproducible, v, 0.1);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v, 0.1), expected);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v.begin(), v.end(), 0.1), expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, v, 0.1, std::plus<>{}, std::identity{}),
              expected);
    double const squares = filch::transform_reduce<filch::serial>(filch::reproducible, v, v, 0.1);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, v, v, 0.1), squares);
    auto const first = v.begin();
    auto const last = v.end();
    std::identity const all;
    std::plus<> const plus;
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, first, last, 0.1, plus, all), expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, first, last, first, 0.1), squares);
    stop_token const token;
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, filch::reproducible, v, 0.1, plus, all), expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, filch::reproducible, first, last, 0.1, plus, all), expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, filch::reproducible, v, v, 0.1), squares);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(token, filch::reproducible, first, last, first, 0.1), squares);
    double const sum = filch::reduce<filch::serial>(filch::reproducible, v, 0.0);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v), sum);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, first, last), sum);
    EXPECT_EQ(filch::reduce<TypeParam>(token, filch::reproducible, v), sum);
    EXPECT_EQ(filch::reduce<TypeParam>(token, filch::reproducible, first, last, 0.1), expected);
  });
}

#if !defined(__clang_major__) || __clang_major__ >= 16
/// Some blocks have no element, and some ranges none at all.
TYPED_TEST(reproducible, has_the_same_bits_for_filters) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<double> v(n);
    std::size_t i = 0;
    for (int x : numbers(n)) v[i++] = std::ldexp(x, x % 60);
    std::vector<std::string> words(n);
    for (i = 0; i < n; ++i) words[i] = std::to_string(i);
    for (std::size_t most : {std::size_t{0}, n / 8, n}) {
      auto const is_taken = [&v, most](double const& x) {
        auto const at = static_cast<std::size_t>(std::addressof(x) - v.data());
        return at < most && at / 64 % 3 != 1 && at % 5 != 0;
      };
      auto part = v | std::views::filter(is_taken);
      double const expected = filch::reduce<filch::serial>(filch::reproducible, part, 0.1);
      EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, part, 0.1), expected);
      EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, part, 0.1, std::plus<>{}, std::identity{}),
                expected);
      double const sum = filch::reduce<filch::serial>(filch::reproducible, part, 0.0);
      EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, part), sum);
      EXPECT_EQ(filch::reduce<TypeParam>(stop_token(), filch::reproducible, part), sum);
      std::string in_order = "<";
      auto const is_short = [](std::string const& x) { return x.size() < 4 && x.back() == '3'; };
      for (std::string const& x : words) in_order += is_short(x) ? x : "";
      EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, words | std::views::filter(is_short), std::string("<")),
                in_order);
    }
  });
}
#endif

TYPED_TEST(reproducible, keeps_the_order) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::string> words(n);
    std::string expected = "<";
    for (std::size_t i = 0; i < n; ++i) expected += words[i] = std::to_string(i);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, words, std::string("<")), expected);
  });
}

}  // namespace
}  // namespace filch_test
