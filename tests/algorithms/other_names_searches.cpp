// The rest of the standard's searches, shuffles, and names that are not the standard's: their results in any split.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>

namespace filch_test {
namespace {

template <class S> class other_searches : public ::testing::Test {};
TYPED_TEST_SUITE(other_searches, algorithm_schedulers, scheduler_names);

using ints = std::vector<int>;
std::ptrdiff_t signed_of(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

TYPED_TEST(other_searches, search_as_std_s_do) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n, 0, 30);
    ints const some{7, 11}, none{99, 98};
    auto const is_seven = [](int x) { return x == 7; };
    auto const last = std::find(v.rbegin(), v.rend(), 7);
    auto const expected = last == v.rend() ? v.end() : last.base() - 1;
    EXPECT_EQ(filch::find_last<S>(v, 7), expected);
    EXPECT_EQ(filch::find_last_if<S>(v.begin(), v.end(), is_seven), expected);
    EXPECT_EQ(filch::find_last_if_not<S>(v, [](int x) { return x != 7; }), expected);
    EXPECT_EQ(filch::contains<S>(v, 7), expected != v.end());
    EXPECT_FALSE(filch::contains<S>(v, 31));
    EXPECT_EQ(filch::find_first_of<S>(v, some), std::find_first_of(v.begin(), v.end(), some.begin(), some.end()));
    EXPECT_EQ(filch::find_first_of<S>(v.begin(), v.end(), none.begin(), none.end()), v.end());
    auto few = numbers(n, 0, 1);
    auto most = numbers(n + 1, 0, 5);
    for (int& x : most) x = x != 0 ? 1 : 0;
    for (int const count : {0, 1, 2, 5, 9, 12, 15, 20, 25, 40}) {
      for (auto const& ones : {few, most}) {
        EXPECT_EQ(filch::search_n<S>(ones.begin(), ones.end(), count, 1),
                  std::search_n(ones.begin(), ones.end(), count, 1))
            << count;
      }
    }
    auto const middle = few.begin() + signed_of(n / 2);
    ints const part(middle, few.end());
    EXPECT_TRUE(filch::ends_with<S>(few, part));
    EXPECT_TRUE(filch::contains_subrange<S>(few, part));
    EXPECT_TRUE(filch::starts_with<S>(few.begin(), few.end(), few.begin(), middle));
    EXPECT_FALSE(filch::starts_with<S>(part, ints(n + 1)));
    EXPECT_FALSE(filch::ends_with<S>(few, ints{2}));
    EXPECT_FALSE(filch::contains_subrange<S>(few, none));
    auto const is_one = [](int x) { return x == 1; };
    EXPECT_EQ(filch::is_partitioned<S>(few, is_one), std::is_partitioned(few.begin(), few.end(), is_one));
    auto sorted = few;
    std::sort(sorted.rbegin(), sorted.rend());
    EXPECT_TRUE(filch::is_partitioned<S>(sorted, is_one));
    auto heap = v;
    std::make_heap(heap.begin(), heap.end());
    EXPECT_TRUE(filch::is_heap<S>(heap));
    if (n > 5) heap[2 * n / 3] = 99;
    EXPECT_EQ(filch::is_heap_until<S>(heap), std::is_heap_until(heap.begin(), heap.end()));
    EXPECT_EQ(filch::is_heap<S>(heap.begin(), heap.end()), std::is_heap(heap.begin(), heap.end()));
    auto other = v;
    EXPECT_FALSE(filch::lexicographical_compare<S>(v, other));
    if (n != 0) ++other[n - 1 - n / 4];
    EXPECT_EQ(filch::lexicographical_compare<S>(v, other), n != 0);
    EXPECT_FALSE(filch::lexicographical_compare<S>(other.begin(), other.end(), v.begin(), v.end()));
    other = v;
    other.push_back(0);
    EXPECT_TRUE(filch::lexicographical_compare<S>(v, other));
    if (n != 0) {
      auto const ends = filch::minmax<S>(v);
      EXPECT_EQ(ends.min, *std::min_element(v.begin(), v.end()));
      EXPECT_EQ(ends.max, *std::max_element(v.begin(), v.end()));
    }
  });
}

TYPED_TEST(other_searches, shuffle_by_seed_alike_on_any_number_of_workers) {
  for (std::size_t n : {0u, 1u, 2u, 1'000u, 16'384u, 16'385u, 100'000u}) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    auto expected = v;
    filch::random_shuffle<filch::serial>(expected, 42);
    auto sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, v);
    auto other = v;
    filch::random_shuffle<filch::serial>(other, 43);
    EXPECT_EQ(other == expected, n < 2 || (n == 2 && other == expected));
    for (unsigned workers : {1u, 3u}) {
      typename TypeParam::pool pool({.workers = workers});
      auto own = v;
      pool.run([&] { filch::random_shuffle<TypeParam>(own.begin(), own.end(), 42); });
      EXPECT_EQ(own, expected);
    }
    if (n < 1'000) continue;
    // Far from the order that they had: an element moves by a third of n on average.
    double moved = 0;
    for (std::size_t i = 0; i < n; ++i) moved += std::abs(static_cast<double>(expected[i]) - static_cast<double>(i));
    EXPECT_NEAR(moved / static_cast<double>(n) / static_cast<double>(n), 1.0 / 3, 0.03);
  }
}

TYPED_TEST(other_searches, shuffle_every_order_alike) {
  std::array<int, 6> counts{};
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    std::array<int, 3> v{0, 1, 2};
    filch::random_shuffle<TypeParam>(v, seed);
    ++counts[static_cast<std::size_t>(v[0] * 2 + (v[1] > v[2] ? 1 : 0))];
  }
  for (int count : counts) EXPECT_NEAR(count, 1'000, 150);
}

TYPED_TEST(other_searches, flatten_and_remove_duplicates) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n > 1'000) return;
    std::vector<ints> rows;
    ints expected, distinct;
    for (int x : numbers(n, 0, 70)) {
      rows.emplace_back(static_cast<std::size_t>(x % 9), x);
      expected.insert(expected.end(), rows.back().begin(), rows.back().end());
    }
    for (int x : expected) {
      if (std::find(distinct.begin(), distinct.end(), x) == distinct.end()) distinct.push_back(x);
    }
    EXPECT_EQ(filch::flatten<TypeParam>(rows), expected);
    EXPECT_EQ(filch::remove_duplicates<TypeParam>(expected), distinct);
    stop_source source;
    EXPECT_EQ(filch::flatten<TypeParam>(source.get_token(), rows.begin(), rows.end()), expected);
    source.request_stop();
    EXPECT_EQ(filch::remove_duplicates<TypeParam>(source.get_token(), expected).has_value(), expected.empty());
  });
}

TYPED_TEST(other_searches, flatten_ranges_of_bits) {
  std::vector<std::vector<bool>> rows;
  std::vector<bool> expected;
  for (int x : numbers(3'000, 0, 1'000)) {
    rows.emplace_back(static_cast<std::size_t>(x % 50), x % 2 == 0);
    expected.insert(expected.end(), rows.back().begin(), rows.back().end());
  }
  single_pieces const all;
  typename TypeParam::pool pool({.workers = 3});
  pool.run([&] {
    for (int round = 0; round != 50; ++round) ASSERT_EQ(filch::flatten<TypeParam>(rows), expected) << round;
  });
}

#if !defined(__clang_major__) || __clang_major__ >= 16
TEST(other_searches_of_views, flatten_ranges_that_are_made_at_each_access) {
  auto const rows =
      std::views::iota(0, 3) | std::views::transform([](int x) { return ints(static_cast<std::size_t>(x), x); });
  EXPECT_EQ(filch::flatten<filch::serial>(rows), (ints{1, 2, 2}));
}

TEST(other_searches_of_views, flatten_ranges_that_change_within_their_first_lengths) {
  int accesses = 0;
  auto const rows = std::views::iota(0, 2) | std::views::transform([&accesses](int x) {
                      bool const is_first = accesses++ < 2;
                      return ints(is_first ? 2 : x == 0 ? 1 : 3, x + 7);
                    });
  EXPECT_EQ(filch::flatten<filch::serial>(rows), (ints{7, 0, 8, 8}));
}
#endif

}  // namespace
}  // namespace filch_test
