// Comparators and equalities that a caller leaves out ask for < and == only, as those of C++17 do.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

namespace filch_test {
namespace {

using S = filch::default_scheduler;

/// A number with < alone.
struct ordered {
  int x = 0;
  friend bool operator<(ordered a, ordered b) { return a.x < b.x; }
};
/// Two types that are equal to each other, and have nothing in common.
struct left {
  int x = 0;
};
struct right {
  int x = 0;
};
bool operator==(left a, right b) { return a.x == b.x; }
bool operator==(left a, left b) { return a.x == b.x; }
/// A record whose key is `ordered`.
struct record {
  ordered key;
};

std::vector<ordered> ordered_numbers(std::size_t n) {
  std::vector<ordered> v;
  for (int x : numbers(n)) v.push_back({x});
  return v;
}
template <class Other> std::vector<Other> same_numbers(std::vector<left> const& v) {
  std::vector<Other> w;
  for (left l : v) w.push_back({l.x});
  return w;
}
bool are_same(std::vector<ordered> const& v, std::vector<ordered> const& w) {
  return std::equal(v.begin(), v.end(), w.begin(), w.end(), [](ordered a, ordered b) { return a.x == b.x; });
}

TEST(default_functions, sort_types_with_less_alone) {
  in_every_pool<S>([](std::size_t n) {
    auto const v = ordered_numbers(n);
    auto expected = v;
    std::sort(expected.begin(), expected.end());
    auto own = v;
    filch::sort(own.begin(), own.end());
    EXPECT_TRUE(are_same(own, expected));
    own = v;
    filch::stable_sort(own);
    EXPECT_TRUE(are_same(own, expected));
    own = v;
    EXPECT_TRUE(filch::sort(stop_token(), own));
    EXPECT_TRUE(are_same(own, expected));
    own = v;
    filch::partial_sort(own.begin(), own.end(), own.end());
    EXPECT_TRUE(are_same(own, expected));
    filch::partial_sort_copy(v.begin(), v.end(), own.begin(), own.end());
    EXPECT_TRUE(are_same(own, expected));
    own = v;
    filch::nth_element(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n / 2), own.end());
    if (n != 0) {
      EXPECT_EQ(own[n / 2].x, expected[n / 2].x);
    }
    std::vector<record> records;
    for (ordered x : v) records.push_back({x});
    filch::sort(records, {}, &record::key);
    EXPECT_TRUE(filch::is_sorted(records, {}, &record::key));
    EXPECT_EQ(filch::max_element(v.begin(), v.end()), std::max_element(v.begin(), v.end()));
    EXPECT_EQ(filch::minmax_element(v).min, std::min_element(v.begin(), v.end()));
    if (n != 0) {
      EXPECT_EQ(filch::min(v).x, expected.front().x);
      EXPECT_EQ(filch::minmax(stop_token(), v)->max.x, expected.back().x);
    }
  });
}

TEST(default_functions, merge_and_compare_types_with_less_alone) {
  in_every_pool<S>([](std::size_t n) {
    auto v = ordered_numbers(n);
    EXPECT_EQ(filch::is_sorted_until(v.begin(), v.end()), std::is_sorted_until(v.begin(), v.end()));
    EXPECT_EQ(filch::is_heap_until(v.begin(), v.end()), std::is_heap_until(v.begin(), v.end()));
    std::sort(v.begin(), v.end());
    EXPECT_TRUE(filch::is_sorted(v));
    EXPECT_EQ(filch::is_heap(v), std::is_heap(v.begin(), v.end()));
    std::vector<ordered> out(2 * n), expected(2 * n);
    std::merge(v.begin(), v.end(), v.begin(), v.end(), expected.begin());
    filch::merge(v.begin(), v.end(), v.begin(), v.end(), out.begin());
    EXPECT_TRUE(are_same(out, expected));
    std::copy(v.begin(), v.end(), std::copy(v.begin(), v.end(), out.begin()));
    filch::inplace_merge(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), out.end());
    EXPECT_TRUE(are_same(out, expected));
    EXPECT_EQ(filch::set_union(v.begin(), v.end(), v.begin(), v.end(), out.begin()), out.end() - v.end() + v.begin());
    EXPECT_TRUE(filch::includes(v, v));
    EXPECT_FALSE(filch::lexicographical_compare(v.begin(), v.end(), v.begin(), v.end()));
    EXPECT_FALSE(filch::lexicographical_compare(stop_token(), v, v).value());
  });
}

TEST(default_functions, order_values_of_two_types) {
  std::vector<int> const low{1, 3, 5};
  std::vector<long> const high{2, 4};
  std::vector<long> all(5);
  filch::merge(low, high, all);
  EXPECT_EQ(all, (std::vector<long>{1, 2, 3, 4, 5}));
  std::vector<std::string> const words{"a", "b"};
  std::vector<std::string_view> const views{"a", "b"};
  EXPECT_TRUE(filch::includes(words, views));
  EXPECT_FALSE(filch::lexicographical_compare(words.begin(), words.end(), views.begin(), views.end()));
  EXPECT_TRUE(filch::equal(words, views));
  EXPECT_TRUE(filch::equal(low.begin(), low.end(), std::vector<long>{1, 3, 5}.begin()));
  // Pointers to different objects have an order, too.
  std::vector<std::unique_ptr<int>> owners(100);
  std::vector<int*> places;
  for (auto& owner : owners) places.push_back((owner = std::make_unique<int>()).get());
  filch::sort(places);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end(), std::less<int*>{}));
}

TEST(default_functions, search_for_values_of_other_types) {
  in_every_pool<S>([](std::size_t n) {
    if (n < 3) return;
    std::vector<left> v;
    for (int x : numbers(n, 0, 30)) v.push_back({x});
    auto const w = same_numbers<right>(v);
    auto const end = w.end();
    EXPECT_TRUE(filch::equal(v.begin(), v.end(), w.begin()));
    EXPECT_TRUE(filch::equal(v, w));
    EXPECT_TRUE(filch::equal(stop_token(), v, w).value());
    EXPECT_EQ(filch::mismatch(v.begin(), v.end(), w.begin(), end).in2, end);
    EXPECT_EQ(filch::search(v.begin(), v.end(), w.begin(), end), v.begin());
    EXPECT_EQ(filch::find_end(v.begin(), v.end(), end - 2, end), std::find_end(v.begin(), v.end(), end - 2, end));
    EXPECT_EQ(filch::find_first_of(v.begin(), v.end(), end - 2, end),
              std::find_first_of(v.begin(), v.end(), end - 2, end));
    EXPECT_EQ(filch::search_n(v.begin(), v.end(), 2, right{3}), std::search_n(v.begin(), v.end(), 2, right{3}));
    EXPECT_EQ(filch::adjacent_find(v.begin(), v.end()), std::adjacent_find(v.begin(), v.end()));
    EXPECT_EQ(filch::find_last(v.begin(), v.end(), right{v.back().x}), v.end() - 1);
    EXPECT_TRUE(filch::contains(v, w[n / 2]));
    EXPECT_TRUE(filch::contains_subrange(v, w));
    EXPECT_TRUE(filch::starts_with(v, w));
    EXPECT_TRUE(filch::ends_with(v.begin(), v.end(), w.begin(), end));
    auto own = v;
    own.erase(filch::unique(own.begin(), own.end()), own.end());
    std::vector<left> copy(n);
    copy.erase(filch::unique_copy(v.begin(), v.end(), copy.begin()), copy.end());
    EXPECT_TRUE(filch::equal(copy, own));
  });
}

// They are those whose fast ways the library knows.
using namespace filch::detail;
static_assert(is_order_of_numbers<std::less<>, int> && is_order_of_numbers<std::ranges::less, int>);
using numbers_differ = negated<std::equal_to<>> const;
using are_compared = projected_pair_of<int*, int*, numbers_differ, std::identity, std::identity>;
static_assert(element_pairs<int*, int*, are_compared>::compares_memory);
static_assert(is_arithmetic_function<std::equal_to<>> && is_arithmetic_function<std::ranges::equal_to>);

}  // namespace
}  // namespace filch_test
