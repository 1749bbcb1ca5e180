// Sorts whose parts are Highway's.
#include "inputs_of_sorts.hpp"

#include <filch/sort.hpp>

#include <functional>

namespace filch_test {
namespace {

template <class S> class highway : public ::testing::Test {};
TYPED_TEST_SUITE(highway, algorithm_schedulers, scheduler_names);

template <class Key, class Comp>
inline constexpr bool is_used = filch::detail::has_vector_sort<Key*, filch::detail::order<Key*, Comp, std::identity>>;
static_assert(is_used<double, std::ranges::less> && is_used<std::int16_t, std::greater<>> &&
              is_used<std::uint64_t, std::less<std::uint64_t> const>);
static_assert(!is_used<char, std::ranges::less> && !is_used<int, bool (*)(int, int)>);

template <class S, class Key> void expect_sorted_both_ways(std::vector<int> const& v) {
  std::vector<Key> own(v.begin(), v.end());
  auto sorted = own;
  std::sort(sorted.begin(), sorted.end());
  filch::sort<S>(own);
  EXPECT_EQ(own, sorted);
  std::reverse(sorted.begin(), sorted.end());
  own.assign(v.begin(), v.end());
  filch::sort<S>(own.begin(), own.end(), std::greater<>());
  EXPECT_EQ(own, sorted);
}

TYPED_TEST(highway, sorts_numbers_of_every_type) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [](std::vector<int> const& v) {
      expect_sorted_both_ways<TypeParam, double>(v);
      expect_sorted_both_ways<TypeParam, std::uint16_t>(v);
    });
  });
  typename TypeParam::pool pool({.workers = 3});
  pool.run([] {
    auto const v = numbers(300'000, -100'000, 100'000);
    expect_sorted_both_ways<TypeParam, float>(v);
    expect_sorted_both_ways<TypeParam, std::int16_t>(v);
    expect_sorted_both_ways<TypeParam, std::int32_t>(v);
    expect_sorted_both_ways<TypeParam, std::uint32_t>(v);
    expect_sorted_both_ways<TypeParam, std::int64_t>(v);
    expect_sorted_both_ways<TypeParam, std::uint64_t>(v);
  });
}

/// NaN has no order. No element is lost.
TYPED_TEST(highway, sorts_keep_to_their_range_if_there_is_nan) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t n : {300u, 5'000u, 100'000u}) {
    auto const v = numbers(n + 2);
    std::vector<double> own(v.begin(), v.end());
    for (std::size_t i = 1; i <= n; i += 7) own[i] = std::nan("");
    double const below = own.front(), above = own.back();
    auto const count_and_sum = [](std::vector<double> const& all) {
      std::pair<int, double> found{};
      for (double x : all) std::isnan(x) ? static_cast<void>(++found.first) : static_cast<void>(found.second += x);
      return found;
    };
    auto const before = count_and_sum(own);
    pool.run([&] { filch::sort<TypeParam>(own.begin() + 1, own.end() - 1); });
    EXPECT_EQ(count_and_sum(own), before);
    EXPECT_EQ(own.front(), below);
    EXPECT_EQ(own.back(), above);
  }
}

}  // namespace
}  // namespace filch_test
