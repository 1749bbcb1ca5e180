// By key: the counts, sums and groups of the serial loop, in its order.
#include "pieces.hpp"

#include <filch/group_by.hpp>
#include <filch/histogram.hpp>

#include <map>
#include <string>
#include <utility>

namespace filch_test {
namespace {

template <class S> class by_key : public ::testing::Test {};
TYPED_TEST_SUITE(by_key, algorithm_schedulers, scheduler_names);

TYPED_TEST(by_key, histogram_counts_each_element_in_few_and_many_and_skewed_bins) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 9'999);
    auto const counts_as_a_loop = [&](std::size_t bins, auto bin_of) {
      std::vector<std::size_t> expected(bins);
      for (int x : v) ++expected[bin_of(x)];
      EXPECT_EQ(filch::histogram<TypeParam>(v, bins, bin_of), expected) << bins;
    };
    for (std::size_t bins : {7u, 10'000u}) {
      counts_as_a_loop(bins, [bins](int x) { return static_cast<std::size_t>(x) % bins; });
    }
    counts_as_a_loop(500, [](int x) { return static_cast<std::size_t>(x < 9'000 ? 0 : x % 500); });
  });
}

TYPED_TEST(by_key, histogram_adds_to_the_bins) {
  std::vector<unsigned> bins{10, 20};
  std::vector<bool> const v{true, false, true};
  filch::histogram<TypeParam>(v, bins);
  EXPECT_EQ(bins, (std::vector<unsigned>{11, 22}));
}

TYPED_TEST(by_key, reduce_by_key_keeps_the_order_of_keys_and_values) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n > 1'000) return;  // a table for each piece of one iteration takes long
    auto const v = numbers(n, 0, 30);
    std::vector<std::pair<int, std::string>> expected;
    std::map<int, std::size_t> places;
    auto const key_of = [](int x) { return x / 3; };
    for (int x : v) {
      auto const [place, is_new] = places.emplace(key_of(x), expected.size());
      if (is_new) expected.emplace_back(key_of(x), "");
      expected[place->second].second += std::to_string(x);
    }
    EXPECT_EQ(filch::reduce_by_key<TypeParam>(v, key_of, [](int x) { return std::to_string(x); }), expected);
  });
}

TYPED_TEST(by_key, group_by_keeps_the_order_of_keys_and_elements) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n > 1'000) return;
    auto const v = numbers(n);
    std::vector<std::pair<int, std::vector<int>>> expected;
    std::map<int, std::size_t> places;
    auto const key_of = [](int x) { return x % 100; };
    for (int x : v) {
      auto const [place, is_new] = places.emplace(key_of(x), expected.size());
      if (is_new) expected.push_back({key_of(x), {}});
      expected[place->second].second.push_back(x);
    }
    EXPECT_EQ(filch::group_by<TypeParam>(v, key_of), expected);
  });
}

TYPED_TEST(by_key, throw_exceptions_of_the_functions) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n == 0 || n > 1'000) return;
    auto const v = numbers(n);
    auto const throws = [&](int x) { return x == v[n / 2] ? throw 3 : std::size_t{0}; };
    EXPECT_THROW(filch::histogram<TypeParam>(v, 1, throws), int);
    EXPECT_THROW(filch::group_by<TypeParam>(v, throws), int);
  });
}

}  // namespace
}  // namespace filch_test
