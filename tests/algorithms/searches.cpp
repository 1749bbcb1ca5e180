// Searches, compared with the standard's serial ones: the lowest position.
#include "pieces.hpp"

#include <filch/all_of.hpp>
#include <filch/find.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <numeric>

namespace filch_test {
namespace {

template <class S> class searches : public ::testing::Test {};
TYPED_TEST_SUITE(searches, algorithm_schedulers, scheduler_names);

TYPED_TEST(searches, find_the_lowest_position) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for (int range : {1, 10, 100'000}) {
      auto const v = numbers(n, 0, range);
      auto const is_high = [range](int x) { return x > range - range / 10; };
      EXPECT_EQ(filch::find_if<TypeParam>(v, is_high), std::find_if(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find_if<TypeParam>(v.begin(), v.end(), is_high), std::find_if(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find_if_not<TypeParam>(v, is_high), std::find_if_not(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find<TypeParam>(v, range), std::find(v.begin(), v.end(), range));
      EXPECT_EQ(filch::find<TypeParam>(v, -range, std::negate<>{}), std::find(v.begin(), v.end(), range));
    }
  });
}

TYPED_TEST(searches, find_neighbours) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for (int range : {1, 1'000, 100'000}) {
      auto v = numbers(n, 0, range);
      EXPECT_EQ(filch::adjacent_find<TypeParam>(v), std::adjacent_find(v.begin(), v.end()));
      EXPECT_EQ(filch::adjacent_find<TypeParam>(v.begin(), v.end(), std::greater<>{}),
                std::adjacent_find(v.begin(), v.end(), std::greater<>{}));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), std::is_sorted_until(v.begin(), v.end()));
      std::sort(v.begin(), v.end());
      EXPECT_TRUE(filch::is_sorted<TypeParam>(v));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), v.end());
      if (n > 1) std::swap(v[n / 2], v[n / 2 - 1]);
      EXPECT_EQ(filch::is_sorted<TypeParam>(v.begin(), v.end()), std::is_sorted(v.begin(), v.end()));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), std::is_sorted_until(v.begin(), v.end()));
    }
  });
}

TYPED_TEST(searches, find_parts) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 2);
    for (std::size_t m : {std::size_t{0}, std::size_t{1}, std::size_t{4}, n / 2, n, n + 1}) {
      auto w = numbers(m, 0, 2);
      if (m == n / 2) w.assign(v.begin() + static_cast<std::ptrdiff_t>(n - m), v.end());
      EXPECT_EQ(filch::search<TypeParam>(v.begin(), v.end(), w.begin(), w.end()),
                std::search(v.begin(), v.end(), w.begin(), w.end()));
      EXPECT_EQ(filch::find_end<TypeParam>(v.begin(), v.end(), w.begin(), w.end()),
                std::find_end(v.begin(), v.end(), w.begin(), w.end()));
      if constexpr (filch::detail::has_subranges) {
        auto const part = filch::search<TypeParam>(v, w);
        EXPECT_EQ(part.begin(), std::search(v.begin(), v.end(), w.begin(), w.end()));
        EXPECT_EQ(part.size(), part.begin() == v.end() ? 0 : m);
      }
    }
  });
}

/// equal and mismatch of two equal ranges, and after a change at each of some places.
template <class S, class T> void compares_memory(std::size_t n) {
  auto const source = numbers(n, 0, 100);
  std::vector<T> const v(source.begin(), source.end());
  std::vector<T> w(v);
  EXPECT_TRUE(filch::equal<S>(v, w));
  EXPECT_TRUE(filch::equal<S>(v.begin(), v.end(), w.begin(), std::equal_to<T>{}));
  EXPECT_EQ(filch::mismatch<S>(v, w).in2, w.end());
  for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
    if (at >= n) continue;
    w[at] = static_cast<T>(w[at] + 1);
    EXPECT_FALSE(filch::equal<S>(v, w));
    EXPECT_FALSE(filch::equal<S>(v.begin(), v.end(), w.begin(), std::equal_to<>{}));
    EXPECT_EQ(filch::mismatch<S>(v, w).in2, w.begin() + static_cast<std::ptrdiff_t>(at));
    w[at] = v[at];
  }
}
TYPED_TEST(searches, compare_memory) {
  in_every_pool<TypeParam>([](std::size_t n) {
    compares_memory<TypeParam, char>(n);
    compares_memory<TypeParam, int>(n);
    compares_memory<TypeParam, double>(n);
  });
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> const v{0.0, 1.0, nan};
  std::vector<double> const w{-0.0, 1.0, nan};
  EXPECT_FALSE(filch::equal<TypeParam>(v, v));
  EXPECT_EQ(filch::mismatch<TypeParam>(v, w).in1, v.begin() + 2);
  EXPECT_TRUE(filch::equal<TypeParam>(v.begin(), v.begin() + 2, w.begin()));
}

/// All positions of a hit, and none, in memory that begins at any place of a vector and ends right behind it.
template <class S, class Number, class Wanted> void expect_found(Number other, Number same, Wanted const& wanted) {
  for (std::size_t const n : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 150u}) {
    for (std::size_t from = 0; from != 3; ++from) {
      std::vector<Number> v(n + from, other);
      v.shrink_to_fit();
      auto const first = v.begin() + static_cast<std::ptrdiff_t>(from);
      EXPECT_EQ(filch::find<S>(first, v.end(), wanted), std::find(first, v.end(), wanted));
      for (auto hit = first; hit != v.end(); ++hit) {
        *hit = same;
        auto const expected = std::find(first, v.end(), wanted);
        ASSERT_EQ(filch::find<S>(first, v.end(), wanted) - first, expected - first) << n;
        Number const part[] = {same, other};
        ASSERT_EQ(filch::search<S>(first, v.end(), part, part + 2), std::search(first, v.end(), part, part + 2)) << n;
        ASSERT_EQ(filch::find_end<S>(first, v.end(), part, part + 2), std::find_end(first, v.end(), part, part + 2))
            << n;
        *hit = other;
      }
    }
  }
}

TYPED_TEST(searches, find_numbers_in_memory) {
  using S = TypeParam;
  typename S::pool pool({.workers = 2});
  pool.run([] {
    expect_found<S, char>('a', 'b', 'b');
    expect_found<S, signed char>(-1, 127, static_cast<signed char>(127));
    expect_found<S, unsigned char>(0, 255, static_cast<unsigned char>(255));
    expect_found<S, char16_t>(u'a', u'\xffff', u'\xffff');
    expect_found<S, short>(0, -1, static_cast<short>(-1));
    expect_found<S, int>(0, std::numeric_limits<int>::min(), std::numeric_limits<int>::min());
    expect_found<S, unsigned>(1, 4'294'967'295u, 4'294'967'295u);
    expect_found<S, long long>(1, -1, -1LL);
    expect_found<S, float>(1.5f, -0.0f, 0.0f);
    expect_found<S, double>(0.1, 1e300, 1e300);
    expect_found<S, bool>(false, true, true);
    // Numbers of two types are converted as == converts them.
    expect_found<S, long long>(1, -1, -1);
    expect_found<S, unsigned char>(255, 1, 257);
    expect_found<S, float>(0.5f, 0.1f, 0.1);
    expect_found<S, double>(0.5, 3, 3);
    expect_found<S, unsigned>(1, 2, 2LL);
    // No number is equal to one that is none.
    double const none = std::numeric_limits<double>::quiet_NaN();
    expect_found<S, double>(none, none, none);
    expect_found<S, double>(1, none, none);
  });
}

TYPED_TEST(searches, end_within_a_stretch_after_a_hit) {
  constexpr std::size_t k_length = 1'000'000;
  std::vector<char> v(k_length);
  v[k_length / 2] = 1;
  typename TypeParam::pool pool({.workers = 1});
  std::size_t calls = 0;
  pool.run([&] {
    EXPECT_EQ(filch::find_if<TypeParam>(v,
                                        [&](char c) {
                                          ++calls;
                                          return c != 0;
                                        }) -
                  v.begin(),
              k_length / 2);
  });
  EXPECT_EQ(calls, k_length / 2 + 1);
}

/// A search of two workers whose lower one hits. The calls that begin after the hit.
template <class S> int calls_after_a_hit_below() {
  constexpr int k_length = 1'000'000;
  std::vector<int> v(k_length);
  std::iota(v.begin(), v.end(), 0);
  std::atomic<int> calls{0};
  gate above_begun, hit;
  typename S::pool pool({.workers = 2});
  pool.run([&] {
    wait_for_thief<S>();
    auto const found = filch::find_if<S>(v, [&](int i) {
      if (hit.is_open()) ++calls;
      if (i >= k_length / 2) above_begun.open();
      if (i != 1'000) return false;
      EXPECT_TRUE(above_begun.pass()) << "the loop was not split";
      hit.open();
      return true;
    });
    EXPECT_EQ(found - v.begin(), 1'000);
  });
  return calls;
}
TYPED_TEST(searches, end_within_a_stretch_on_each_worker_after_a_hit) {
  if constexpr (steals<TypeParam>) {
    // The machine may stop a worker between its hit and its report of it: one round of many is without.
    int least = std::numeric_limits<int>::max();
    for (int round = 0; round < 50 && least > 64; ++round) {
      least = std::min(least, calls_after_a_hit_below<TypeParam>());
    }
    EXPECT_LE(least, 64);
  }
}

/// A search of two workers whose upper one hits at once. Calls search(f), which calls f for each position and must
/// get true for it, but at the hit. The calls below the hit after it.
template <class S, class Search> int calls_after_a_hit_above(int n, Search search) {
  std::atomic<int> calls{0};
  gate hit;
  typename S::pool pool({.workers = 2});
  pool.run([&] {
    wait_for_thief<S>();
    search([&](int i) {
      if (i >= n / 2) {
        hit.open();
        return false;
      }
      if (i == 0) {
        EXPECT_TRUE(hit.pass()) << "the loop was not split";
      } else if (hit.is_open()) {
        ++calls;
        work_for(std::chrono::microseconds(200));
      }
      return true;
    });
  });
  return calls;
}
TYPED_TEST(searches, for_any_hit_end_below_it) {
  if constexpr (steals<TypeParam>) {
    constexpr int k_length = 20'000;
    std::vector<int> v(k_length + 1);
    std::iota(v.begin(), v.end(), 0);
    auto const ends = [&](char const* name, auto const& search) {
      EXPECT_LT(calls_after_a_hit_above<TypeParam>(k_length, search), k_length / 4) << name;
    };
    ends("all_of", [&](auto f) { EXPECT_FALSE(filch::all_of<TypeParam>(v, f)); });
    ends("equal", [&](auto f) { EXPECT_FALSE(filch::equal<TypeParam>(v, v, [&f](int x, int) { return f(x); })); });
    ends("is_sorted",
         [&](auto f) { EXPECT_FALSE(filch::is_sorted<TypeParam>(v, [&f](int, int x) { return !f(x); })); });
  }
}

/// As after a request to stop. Runs no threads.
TYPED_TEST(searches, know_the_lowest_hit_if_all_below_has_run) {
  std::vector<int> const v{0, 0, 0, 0, 0, 1, 1, 0};
  auto const is_one = [](int x) { return x == 1; };
  using source = filch::detail::elements<std::vector<int>::const_iterator, decltype(is_one)>;
  filch::detail::finding_piece<source, false> const whole{source(v.begin(), is_one)};
  for (std::size_t const ran : {0u, 3u, 4u}) {
    auto low = whole;
    auto high = low.split(4, 8);
    run_stretch_of(high, 4, 8);
    if (ran != 0) run_stretch_of(low, 0, ran);
    low.abandon(high);
    EXPECT_EQ(low.is_found, ran == 4);
    if (low.is_found) {
      EXPECT_EQ(low.end, 5u);
    }
  }
}

/// One end of what is sought matches at each fourth place, the other one nowhere: the rare one is looked for.
TEST(searches_of_parts, call_the_predicate_about_once_a_place) {
  std::vector<int> v(64'000);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<int>(i % 4);
  auto const expect = [&v](auto const& delay) {
    for (std::vector<int> const& part : {std::vector<int>{0, 9}, std::vector<int>{9, 0}}) {
      std::size_t calls = 0;
      auto const same = [&](int a, int b) { return delay(), ++calls, a == b; };
      EXPECT_EQ(filch::search<filch::serial>(v.begin(), v.end(), part.begin(), part.end(), same), v.end());
      EXPECT_LT(calls, v.size() * 9 / 8);
      calls = 0;
      EXPECT_EQ(filch::find_end<filch::serial>(v.begin(), v.end(), part.begin(), part.end(), same), v.end());
      EXPECT_LT(calls, v.size() * 9 / 8);
    }
  };
  expect([] {});
  // The stretches of a dear test are a place or two.
  expect([] {
    for (auto const end = filch::detail::loop_ticks() + 1'000; filch::detail::loop_ticks() < end;) {
    }
  });
}

}  // namespace
}  // namespace filch_test
