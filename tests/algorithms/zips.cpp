// zip: a range of tuples of references, and what algorithms do to the elements.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string>

namespace filch_test {
namespace {

// The inputs are new to the algorithms, not to the loops: one scheduler is enough.
using scheduler = filch::default_scheduler;

using ints = std::vector<int>;
using doubles = std::vector<double>;
using both = filch::zip_iterator<ints::iterator, doubles::iterator>;
using both_const = filch::zip_iterator<ints::const_iterator, doubles::const_iterator>;
using pointers = filch::zip_iterator<std::unique_ptr<int>*, int*>;
static_assert(std::random_access_iterator<both> && std::sized_sentinel_for<both, both>);
static_assert(std::random_access_iterator<both_const> && std::random_access_iterator<pointers>);
static_assert(std::indirectly_writable<both, std::tuple<int, double>>);
static_assert(std::indirectly_writable<both, std::iter_reference_t<both_const>>);
static_assert(!std::indirectly_writable<both_const, std::tuple<int, double>>);
static_assert(std::permutable<both> && std::permutable<pointers> && std::sortable<both>);
static_assert(std::is_trivially_copyable_v<filch::zip_iterator<int*, double const*>>);

/// A zip of [0, n) and n squares, as a pair of iterators.
template <class Body> void with_squares(std::size_t n, Body body) {
  ints v = numbers(n);
  std::vector<long> w(n);
  for (std::size_t i = 0; i < n; ++i) w[i] = long{v[i]} * v[i];
  body(v, w, filch::zip_iterator(v.begin(), w.begin()), filch::zip_iterator(v.end(), w.end()));
}
/// Are the elements still those of with_squares, each beside its square?
void expect_squares(ints const& v, std::vector<long> const& w, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(w[i], long{v[i]} * v[i]) << i;
}
constexpr auto first_is_taken = [](auto const& e) { return std::get<0>(e) % 3 == 0; };

TEST(zips, run_loops_and_reductions) {
  in_every_pool<scheduler>([](std::size_t n) {
    with_squares(n, [n](ints& v, std::vector<long>& w, auto first, auto last) {
      filch::for_each<scheduler>(first, last, [](auto&& e) {
        auto& [x, y] = e;
        y += x;
      });
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(w[i], long{v[i]} * v[i] + v[i]);
      auto const product = [](auto const& e) { return std::get<0>(e) * std::get<1>(e); };
      long const expected = std::inner_product(v.begin(), v.end(), w.begin(), 5L);
      EXPECT_EQ(filch::transform_reduce<scheduler>(first, last, 5L, std::plus<>{}, product), expected);
      auto const add = [](std::tuple<int, long> const& a, auto const& b) {
        return std::tuple(std::get<0>(a) + std::get<0>(b), std::get<1>(a) + std::get<1>(b));
      };
      EXPECT_EQ(filch::reduce<scheduler>(first, last, std::tuple(1, 2L), add),
                std::tuple(std::accumulate(v.begin(), v.end(), 1), std::accumulate(w.begin(), w.end(), 2L)));
      std::vector<long> out(n), expected_out(n);
      std::transform(v.begin(), v.end(), w.begin(), expected_out.begin(), std::multiplies<>{});
      EXPECT_EQ(filch::transform<scheduler>(first, last, out.begin(), product), out.end());
      EXPECT_EQ(out, expected_out);
    });
  });
}

TEST(zips, are_searched_and_counted) {
  in_every_pool<scheduler>([](std::size_t n) {
    with_squares(n, [n](ints& v, std::vector<long>&, auto first, auto last) {
      auto const is_taken = [](int x) { return x % 3 == 0; };
      EXPECT_EQ(filch::count_if<scheduler>(first, last, first_is_taken), std::count_if(v.begin(), v.end(), is_taken));
      EXPECT_EQ(filch::find_if<scheduler>(first, last, first_is_taken) - first,
                std::find_if(v.begin(), v.end(), is_taken) - v.begin());
      EXPECT_EQ(filch::all_of<scheduler>(first, last, first_is_taken), std::all_of(v.begin(), v.end(), is_taken));
      EXPECT_EQ(filch::min_element<scheduler>(first, last) - first, std::min_element(v.begin(), v.end()) - v.begin());
      if (n != 0) {
        EXPECT_EQ(filch::find<scheduler>(first, last, std::tuple(v.back(), long{v.back()} * v.back())) - first,
                  std::find(v.begin(), v.end(), v.back()) - v.begin());
      }
      EXPECT_TRUE(filch::equal<scheduler>(first, last, first, last));
    });
  });
}

TEST(zips, are_copied_and_scanned) {
  in_every_pool<scheduler>([](std::size_t n) {
    with_squares(n, [n](ints& v, std::vector<long>& w, auto first, auto last) {
      ints v2(n);
      std::vector<long> w2(n);
      filch::zip_iterator const out(v2.begin(), w2.begin());
      auto const copied = static_cast<std::size_t>(filch::copy_if<scheduler>(first, last, out, first_is_taken) - out);
      ints expected(n);
      expected.erase(std::copy_if(v.begin(), v.end(), expected.begin(), [](int x) { return x % 3 == 0; }),
                     expected.end());
      EXPECT_EQ(ints(v2.begin(), v2.begin() + static_cast<std::ptrdiff_t>(copied)), expected);
      expect_squares(v2, w2, copied);
      auto const same_third = [](auto const& a, auto const& b) {
        return std::get<0>(a) / 700 == std::get<0>(b) / 700;
      };
      auto const unique = static_cast<std::size_t>(filch::unique_copy<scheduler>(first, last, out, same_third) - out);
      expected.resize(n);
      expected.erase(
          std::unique_copy(v.begin(), v.end(), expected.begin(), [](int x, int y) { return x / 700 == y / 700; }),
          expected.end());
      EXPECT_EQ(ints(v2.begin(), v2.begin() + static_cast<std::ptrdiff_t>(unique)), expected);
      expect_squares(v2, w2, unique);
      EXPECT_EQ(filch::copy<scheduler>(first, last, out) - out, static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(v2, v);
      EXPECT_EQ(w2, w);
      std::vector<std::tuple<int, long>> values(n);
      filch::copy<scheduler>(first, last, values.begin());
      EXPECT_TRUE(std::equal(first, last, values.begin()));
      filch::inclusive_scan<scheduler>(first, last, out, [](auto const& a, auto const& b) {
        return std::tuple(std::max(std::get<0>(a), std::get<0>(b)), std::get<1>(a) + std::get<1>(b));
      });
      ints maxima(n);
      std::vector<long> sums(n);
      std::inclusive_scan(v.begin(), v.end(), maxima.begin(), [](int a, int b) { return std::max(a, b); });
      std::inclusive_scan(w.begin(), w.end(), sums.begin());
      EXPECT_EQ(v2, maxima);
      EXPECT_EQ(w2, sums);
      filch::fill<scheduler>(first, last, std::tuple(3, 9L));
      EXPECT_EQ(v, ints(n, 3));
    });
  });
}

TEST(zips, are_filtered_in_place) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const filtered = [n](auto filter) {
      with_squares(n, [&](ints& v, std::vector<long>& w, auto first, auto last) {
        ints alone = v;
        std::ptrdiff_t const front = filter(first, last, first_is_taken) - first;
        // The same elements at the front as without a zip, and each beside its square.
        EXPECT_EQ(filter(alone.begin(), alone.end(), [](int x) { return x % 3 == 0; }) - alone.begin(), front);
        ints mine(v.begin(), v.begin() + front);
        alone.resize(mine.size());
        std::sort(mine.begin(), mine.end());
        std::sort(alone.begin(), alone.end());
        EXPECT_EQ(mine, alone);
        expect_squares(v, w, mine.size());
      });
    };
    filtered([](auto i, auto j, auto pred) { return filch::remove_if<scheduler>(i, j, pred); });
    filtered([](auto i, auto j, auto pred) { return filch::partition<scheduler>(i, j, pred); });
    filtered([](auto i, auto j, auto pred) { return filch::stable_partition<scheduler>(i, j, pred); });
    with_squares(n, [](ints& v, std::vector<long>& w, auto first, auto last) {
      for (std::size_t i = 0; i < v.size(); ++i) w[i] = v[i] /= 100;
      ints expected = v;
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      auto const end = filch::unique<scheduler>(first, last);
      EXPECT_EQ(ints(v.begin(), end.template part<0>()), expected);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), w.begin()));
    });
  });
}

TEST(zips, stable_partition_keeps_the_order_of_what_can_be_moved_only) {
  in_every_pool<scheduler>([](std::size_t n) {
    ints v = numbers(n);
    std::vector<std::unique_ptr<int>> p;
    for (int x : v) p.push_back(std::make_unique<int>(x));
    ints expected = v;
    expected.erase(std::remove_if(expected.begin(), expected.end(), [](int x) { return x <= 0; }), expected.end());
    std::copy_if(v.begin(), v.end(), std::back_inserter(expected), [](int x) { return x <= 0; });
    filch::stable_partition<scheduler>(filch::zip_iterator(v.begin(), p.begin()),
                                       filch::zip_iterator(v.end(), p.end()),
                                       [](auto const& e) { return *std::get<1>(e) > 0; });
    EXPECT_EQ(v, expected);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), p.begin(), [](int x, auto const& q) { return q && *q == x; }));
    filch::remove_if<scheduler>(filch::zip_iterator(v.begin(), p.begin()), filch::zip_iterator(v.end(), p.end()),
                                [](auto const& e) { return std::get<0>(e) <= 0; });
    for (std::size_t i = 0; i < n && i < expected.size() && expected[i] > 0; ++i) EXPECT_EQ(*p[i], v[i]);
  });
}

TEST(zip_references, assign_and_swap_the_elements) {
  int a = 1, b = 2;
  std::string s = "one", t = "two";
  filch::zip_iterator<int*, std::string*> const i(&a, &s), j(&b, &t);
  std::ranges::iter_swap(i, j);
  EXPECT_EQ(std::tuple(a, s, b, t), std::tuple(2, "two", 1, "one"));
  std::tuple<int, std::string> value = std::ranges::iter_move(i);
  EXPECT_EQ(s, "");
  *i = std::ranges::iter_move(j);
  EXPECT_EQ(std::tuple(a, s, t), std::tuple(1, "one", ""));
  *j = std::move(value);
  EXPECT_EQ(t, "two");
  auto x = *i, y = *j;
  swap(x, y);
  EXPECT_EQ(std::tuple(a, s, b, t), std::tuple(2, "two", 1, "one"));
  x = y;
  EXPECT_EQ(s, "one");
  EXPECT_EQ(*i, *j);
  EXPECT_EQ(*i, std::tuple(1, "one"));
}

#if !defined(__clang_major__) || __clang_major__ >= 16
static_assert(std::ranges::view<decltype(filch::zip(std::declval<ints&>(), std::declval<doubles&>()))>);
static_assert(
    std::ranges::borrowed_range<decltype(filch::zip(std::declval<ints&>(), std::declval<std::span<int>>()))>);
static_assert(!std::ranges::view<decltype(filch::zip(std::declval<ints>(), std::declval<doubles&>()))>);

TEST(zips, are_ranges_as_long_as_the_shortest) {
  in_every_pool<scheduler>([](std::size_t n) {
    ints const v = numbers(n);
    doubles x(n + 3, 2.0);
    auto z = filch::zip(v, x, std::views::iota(std::size_t{0}, n + 1));
    static_assert(filch::sized_random_access_range<decltype(z)>);
    EXPECT_EQ(z.size(), n);
    filch::for_each<scheduler>(z, [](auto&& e) {
      auto&& [a, b, i] = e;
      b += a + static_cast<double>(i);
    });
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[i], v[i] + 2.0 + static_cast<double>(i));
    // Moved into the zip: a container, and a view that is not borrowed.
    auto const sums = filch::zip(ints(n, 1), v | std::views::transform([](int i) { return 2 * i; }));
    auto const sum = [](auto const& e) { return std::get<0>(e) + std::get<1>(e); };
    EXPECT_EQ(filch::transform_reduce<scheduler>(sums, 0, std::plus<>{}, sum),
              static_cast<int>(n) + 2 * std::accumulate(v.begin(), v.end(), 0));
    ints out(n);
    filch::transform<scheduler>(filch::zip(v, v), out, sum);
    EXPECT_EQ(filch::count_if<scheduler>(filch::zip(out, v),
                                         [](auto const& e) { return std::get<0>(e) == 2 * std::get<1>(e); }),
              static_cast<std::ptrdiff_t>(n));
    if (n != 0) {
      EXPECT_EQ(filch::min<scheduler>(filch::zip(v, out)),
                std::tuple(*std::ranges::min_element(v), 2 * *std::ranges::min_element(v)));
    }
    ints w = v;
    auto const rest = filch::remove_if<scheduler>(filch::zip(w, out), first_is_taken);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(rest.size()),
              std::count_if(v.begin(), v.end(), [](int i) { return i % 3 == 0; }));
  });
}

TEST(zip_ranges, work_with_std_s_algorithms_and_views) {
  ints keys{3, 1, 2};
  std::vector<std::string> words{"c", "a", "b"};
  std::ranges::sort(filch::zip(keys, words));
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b", "c"}));
  std::string text;
  for (auto&& [key, word] : filch::zip(keys, words) | std::views::reverse | std::views::take(2)) {
    text += word + std::to_string(key);
  }
  EXPECT_EQ(text, "c3b2");
  auto const pairs = filch::zip(keys, filch::zip(words, keys));
  EXPECT_EQ(pairs[1], std::tuple(2, std::tuple("b", 2)));
}
#endif

}  // namespace
}  // namespace filch_test
