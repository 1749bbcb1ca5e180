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

}  // namespace
}  // namespace filch_test
