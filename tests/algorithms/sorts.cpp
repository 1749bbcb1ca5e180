// Sorts: the order of std's, on inputs that are made to break them.
#include "inputs_of_sorts.hpp"

#include <filch/integer_sort.hpp>
#include <filch/sort.hpp>
#include <filch/zip.hpp>

#include <memory>

namespace filch_test {
namespace {

template <class S> class sorts : public ::testing::Test {};
TYPED_TEST_SUITE(sorts, algorithm_schedulers, scheduler_names);

TYPED_TEST(sorts, sort_every_pattern) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [](std::vector<int> const& v) {
      auto sorted = v;
      std::sort(sorted.begin(), sorted.end());
      auto own = v;
      EXPECT_EQ(filch::sort<TypeParam>(own.begin(), own.end()), own.end());
      EXPECT_EQ(own, sorted);
      if (v.size() > 1'000) return;
      std::vector<std::string> words, words_sorted;
      for (int x : v) words.push_back(std::to_string(x) + " is a number in a long string");
      words_sorted = words;
      std::sort(words_sorted.begin(), words_sorted.end(), std::greater<>());
      filch::sort<TypeParam>(words, std::greater<>());
      EXPECT_EQ(words, words_sorted);
    });
  });
}

/// Numbers in the order of their keys, equal ones in the order of their tags.
bool is_stable(std::vector<record> const& v) {
  return std::is_sorted(v.begin(), v.end(), [](record const& x, record const& y) {
    return x.key < y.key || (x.key == y.key && *x.tag < *y.tag);
  });
}
TYPED_TEST(sorts, keep_the_order_of_equal_records_that_can_be_moved_only) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [n](std::vector<int> const& v) {
      auto const records = [&] {
        std::vector<record> all;
        for (int x : v) all.emplace_back(x / 4, static_cast<int>(all.size()));
        return all;
      };
      auto own = records();
      filch::stable_sort<TypeParam>(own, {}, &record::key);
      EXPECT_TRUE(is_stable(own));
      own = records();
      filch::integer_sort<TypeParam>(own.begin(), own.end(), &record::key);
      EXPECT_TRUE(is_stable(own));
      own = records();
      filch::sort<TypeParam>(own, std::greater<>(), &record::key);
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), [](auto& x, auto& y) { return x.key > y.key; }));
      EXPECT_TRUE(std::all_of(own.begin(), own.end(), [](auto& x) { return x.tag != nullptr; }));
      EXPECT_EQ(own.size(), n);
    });
  });
}

TYPED_TEST(sorts, sort_two_ranges_by_the_first) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto keys = numbers(n, 0, 1 << 30);
    std::vector<long> values(keys.begin(), keys.end());
    auto const zipped = filch::zip(keys, values);
    filch::sort<TypeParam>(zipped.begin(), zipped.end(), {}, [](auto&& x) { return std::get<0>(x); });
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    EXPECT_TRUE(std::equal(keys.begin(), keys.end(), values.begin()));
  });
}

template <class Key> void expect_sorted_keys(std::vector<Key> v) {
  auto sorted = v;
  std::sort(sorted.begin(), sorted.end());
  filch::integer_sort<filch::serial>(v);
  EXPECT_EQ(v, sorted);
}
TEST(integer_sorts, take_integers_of_every_size_and_sign) {
  std::mt19937_64 random(5);
  for (std::size_t n : {3u, 1023u, 5'000u, 200'000u}) {
    for (unsigned width : {1u, 8u, 9u, 17u, 40u, 64u}) {
      auto const v = [&]<class Key>(Key) {
        std::vector<Key> all(n);
        for (Key& x : all) x = static_cast<Key>(random() >> (64 - width));
        return all;
      };
      expect_sorted_keys(v(std::int8_t{}));
      expect_sorted_keys(v(int{}));
      expect_sorted_keys(v(std::uint64_t{}));
    }
  }
  std::vector<int> one_part(300'000);  // all in one part, which is larger than a cache
  for (int& x : one_part) x = static_cast<int>(random() % 100'000);
  one_part[0] = 1 << 30;
  expect_sorted_keys(one_part);
}

TYPED_TEST(sorts, end_when_a_key_changes) {
  std::vector<int> v(5'000);
  std::atomic<unsigned> state{1};
  auto const key = [&](int) { return static_cast<int>(state.fetch_add(0x9e3779b9, std::memory_order_relaxed) >> 9); };
  EXPECT_THROW(filch::integer_sort<TypeParam>(v, key), std::invalid_argument);
}

TYPED_TEST(sorts, select_and_sort_in_part) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [n](std::vector<int> const& v) {
      auto sorted = v;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t const k : {std::size_t{0}, n / 3, n - std::min<std::size_t>(n, 1), n}) {
        auto const at = static_cast<std::ptrdiff_t>(k);
        auto own = v;
        filch::nth_element<TypeParam>(own.begin(), own.begin() + at, own.end());
        if (k < n) {
          EXPECT_EQ(own[k], sorted[k]);
          EXPECT_TRUE(std::all_of(own.begin(), own.begin() + at, [&](int x) { return x <= own[k]; }));
          EXPECT_TRUE(std::all_of(own.begin() + at, own.end(), [&](int x) { return x >= own[k]; }));
        }
        own = v;
        filch::partial_sort<TypeParam>(own, own.begin() + at);
        EXPECT_TRUE(std::equal(own.begin(), own.begin() + at, sorted.begin()));
        std::sort(own.begin(), own.end());
        EXPECT_EQ(own, sorted);
        std::vector<int> least(k, -1);
        auto const ends = filch::partial_sort_copy<TypeParam>(v, least);
        EXPECT_TRUE(ends.in == v.end() && ends.out == least.end());
        EXPECT_TRUE(std::equal(least.begin(), least.end(), sorted.begin()));
      }
    });
  });
}

}  // namespace
}  // namespace filch_test
