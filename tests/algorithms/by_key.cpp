// By key: the counts, sums and groups of the serial loop, in its order.
#include "pieces.hpp"

#include <filch/group_by.hpp>
#include <filch/histogram.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

TYPED_TEST(by_key, histogram_takes_any_integer_as_the_number_of_a_bin) {
  enum class colour : signed char { red, green };
  std::vector<colour> const v{colour::green, colour::red, colour::green};
  EXPECT_EQ(filch::histogram<TypeParam>(v, 2), (std::vector<std::size_t>{1, 2}));
  auto const is_green = [](colour c) { return c == colour::green; };
  EXPECT_EQ(filch::histogram<TypeParam>(v, 2, is_green), (std::vector<std::size_t>{1, 2}));
  static_assert(!filch::detail::bin_number<double&> && !filch::detail::bin_number<float>);
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

/// A key without std::hash and ==.
struct remainder_key {
  int of;
};
TYPED_TEST(by_key, take_a_hash_and_an_equality) {
  using S = TypeParam;
  auto const key_of = [](int x) { return remainder_key{x}; };
  auto const hash = [](remainder_key const& k) { return static_cast<std::size_t>(k.of % 3); };
  auto const equal = [](remainder_key const& a, remainder_key const& b) { return a.of % 3 == b.of % 3; };
  std::vector<int> const v{1, 2, 4, 3, 5, 6, 7};
  auto const one = [](int) { return 1; };
  std::plus<> const plus;
  auto const check = [](auto const& counts, auto const& groups) {
    ASSERT_TRUE(counts.size() == 3 && groups.size() == 3);
    EXPECT_TRUE(counts[0].second == 3 && counts[1].second == 2 && counts[2].second == 2);
    EXPECT_EQ(groups[1].second, (std::vector<int>{2, 5}));
  };
  check(filch::reduce_by_key<S>(v, key_of, one, plus, hash, equal), filch::group_by<S>(v, key_of, hash, equal));
  check(filch::reduce_by_key<S>(v.begin(), v.end(), key_of, one, plus, hash, equal),
        filch::group_by<S>(v.begin(), v.end(), key_of, hash, equal));
}

/// Checks the sums of many keys with this hash.
template <class S, class Hash> void expect_sums_of_many_keys(Hash const& hash) {
  using key_type = std::uint64_t;
  auto const v = numbers(20'000, 0, 4'999);
  auto const key_of = [](int x) { return key_type{1} << 40 | static_cast<key_type>(x) << 7; };
  std::map<key_type, long> expected;
  for (int x : v) expected[key_of(x)] += x;
  filch::pool_options const two{.workers = 2};
  typename S::pool pool(two);
  auto const sums = pool.run(
      [&] { return filch::reduce_by_key<S>(v, key_of, [](int x) { return long{x}; }, std::plus<>(), hash); });
  ASSERT_EQ(sums.size(), expected.size());
  for (auto const& [key, sum] : sums) EXPECT_EQ(sum, expected[key]) << key;
}
TYPED_TEST(by_key, take_any_hash) {
  expect_sums_of_many_keys<TypeParam>(std::hash<std::uint64_t>());
  // Bits that are the same for all keys, a few values, and one.
  expect_sums_of_many_keys<TypeParam>([](std::uint64_t k) { return static_cast<std::size_t>(k << 36); });
  expect_sums_of_many_keys<TypeParam>([](std::uint64_t k) { return static_cast<std::size_t>(k >> 7 & 255); });
}

/// A key that cannot be copied.
struct moved_key {
  std::unique_ptr<int> of;
  bool operator==(moved_key const& other) const { return *of == *other.of; }
};
TYPED_TEST(by_key, move_keys_and_values) {
  auto const hash = [](moved_key const& k) { return std::hash<int>()(*k.of); };
  auto const own = [](int x) { return std::make_unique<int>(x); };
  auto const key_of = [&](int x) { return moved_key{own(x % 3)}; };
  auto const sum = [](std::unique_ptr<int> a, std::unique_ptr<int> b) { return *a += *b, std::move(a); };
  std::vector<int> const v{1, 2, 3, 4, 5, 6, 7};
  single_pieces const each;
  auto const sums = filch::reduce_by_key<TypeParam>(v, key_of, own, sum, hash);
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_TRUE(*sums[0].first.of == 1 && *sums[0].second == 12);
  EXPECT_TRUE(*sums[1].first.of == 2 && *sums[1].second == 7);
  EXPECT_TRUE(*sums[2].first.of == 0 && *sums[2].second == 9);
}

/// value_of may move from the element, of which the key is a part.
TYPED_TEST(by_key, copy_keys_before_their_elements_are_moved) {
  std::vector<std::string> const words{"one", "two", "one", "three", "two", "one"};
  auto const part_of = [](std::string& word) -> std::string& { return word; };
  auto const moved = [](std::string& word) { return std::move(word); };
  using sums_type = std::vector<std::pair<std::string, std::string>>;
  for (bool is_split : {false, true}) {
    auto v = words;
    std::optional<single_pieces> each;
    if (is_split) each.emplace();
    EXPECT_EQ(filch::reduce_by_key<TypeParam>(v, part_of, moved),
              (sums_type{{"one", "oneoneone"}, {"two", "twotwo"}, {"three", "three"}}));
  }
}

/// After an exception of any function the index is as it was before.
TYPED_TEST(by_key, find_keys_after_an_exception) {
  std::vector<std::pair<int, int>> entries;
  filch::detail::key_index<std::hash<int>, std::equal_to<>> index{{}, {}};
  std::size_t found = 0;
  auto const add = [&](int key) {
    index.find_or_make(
        entries, key,
        [&](std::size_t place) {
          EXPECT_EQ(entries[place].second, key);
          ++found;
        },
        [&](int own) {
          if (own % 10 == 7) throw own;
          entries.emplace_back(own, own);
        });
  };
  for (int key = 0; key < 1'000; ++key) {
    if (key % 10 == 7) {
      EXPECT_THROW(add(key), int);
    } else {
      add(key);
    }
  }
  EXPECT_EQ(found, 0u);
  for (int key = 0; key < 1'000; ++key) {
    if (key % 10 != 7) add(key);
  }
  EXPECT_EQ(found, 900u);
}

/// As after an exception. Runs no threads. The upper piece has bins of positions in memory, or calls bin_of late.
TYPED_TEST(by_key, histogram_adds_no_position_that_did_not_run) {
  using namespace filch::detail;
  std::vector<int> const v(16, 1);
  for (std::size_t const n_bins : {5u, 100u}) {  // counts, and a word for each position
    for (std::size_t const middle_runs : {0u, 1u, 4u}) {
      for (std::size_t const top_runs : {0u, 1u, 4u}) {
        SCOPED_TRACE(testing::Message() << n_bins << ", " << middle_runs << " and " << top_runs);
        std::vector<unsigned> bins(n_bins);
        std::size_t calls = 0;
        auto const bin_of = [&calls](int x) { return ++calls, static_cast<std::size_t>(x); };
        using source = elements<std::vector<int>::const_iterator, decltype(bin_of)>;
        bin_counting_piece<TypeParam, source, std::vector<unsigned>::iterator> low(source(v.begin(), bin_of),
                                                                                   bins.begin(), n_bins);
        auto middle = low.split(8, 16);
        auto top = middle.split(12, 16);
        run_stretch_of(low, 0, 8);
        if (middle_runs != 0) run_stretch_of(middle, 8, 8 + middle_runs);
        if (top_runs != 0) run_stretch_of(top, 12, 12 + top_runs);
        middle.merge(top);
        low.merge(middle);
        std::size_t const ran = 8 + middle_runs + top_runs;
        EXPECT_EQ(calls, ran);
        // Words above a position that did not run are not read.
        EXPECT_EQ(bins[1], n_bins > 8 && middle_runs != 4 ? 8 + middle_runs : ran);
      }
    }
  }
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
