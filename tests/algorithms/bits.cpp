// Bits, whose neighbours share a word. The results are those of std's functions, also where two workers could write.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace filch_test {
namespace {

using S = filch::default_scheduler;
using bits = std::vector<bool>;

bits some_bits(std::size_t n, unsigned seed = 0) {
  bits all(n);
  auto const random = numbers(n + seed, 0, 7);
  for (std::size_t i = 0; i != n; ++i) all[i] = random[i + seed] < 4;
  return all;
}
constexpr auto is_set = [](bool x) { return x; };

/// Calls body(b, first, last) with bits that are the same each time, and an odd part of them, several times with two
/// workers, as usual and in pieces of one iteration.
template <class Body> void for_parts(Body body) {
  typename S::pool pool({.workers = 2});
  auto const run = [&](std::size_t n) {
    bits const made = some_bits(n);
    for (int round = 0; round != 4; ++round) {
      auto const skipped = static_cast<std::ptrdiff_t>(round * 9 % 31 + 1);
      pool.run([&] {
        bits b = made;
        if (!has_no_thieves<S>()) wait_for_thief<S>();
        body(b, b.begin() + skipped, b.end() - skipped / 2);
      });
    }
  };
  for (std::size_t n : {70u, 1'000u, 40'000u}) run(n);
  single_pieces const all;
  for (std::size_t n : {70u, 1'000u}) run(n);
}
/// Expects that what `ours` does with a part is what `theirs` does, and that nothing else changes.
template <class Ours, class Theirs> void agree(Ours ours, Theirs theirs) {
  for_parts([&](bits& b, bits::iterator first, bits::iterator last) {
    bits expected = b;
    auto const from = expected.begin() + (first - b.begin());
    auto const to = expected.begin() + (last - b.begin());
    theirs(from, to);
    ours(first, last);
    EXPECT_EQ(b, expected);
  });
}

static_assert(std::is_same_v<filch::detail::scheduler_for<filch::direct, bits::iterator>, filch::serial>);
static_assert(std::is_same_v<filch::detail::scheduler_for<filch::direct, std::reverse_iterator<bits::iterator>>,
                             filch::serial>);
static_assert(std::is_same_v<filch::detail::scheduler_for<filch::direct, int*, bits::iterator>, filch::serial>);
static_assert(std::is_same_v<filch::detail::scheduler_for<filch::direct, bool*, char*>, filch::direct>);
using zipped = decltype(filch::zip(std::declval<bits&>(), std::declval<std::vector<int>&>()).begin());
static_assert(std::is_same_v<filch::detail::scheduler_for<filch::direct, zipped>, filch::serial>);

TEST(bits, are_written) {
  agree([](auto i, auto j) { filch::fill<S>(i, j, true); }, [](auto i, auto j) { std::fill(i, j, true); });
  agree([](auto i, auto j) { filch::generate<S>(i, j, [] { return true; }); },
        [](auto i, auto j) { std::fill(i, j, true); });
  agree([](auto i, auto j) { filch::transform<S>(i, j, i, std::logical_not<>{}); },
        [](auto i, auto j) { std::transform(i, j, i, std::logical_not<>{}); });
  agree([](auto i, auto j) { filch::replace<S>(i, j, true, false); }, [](auto i, auto j) { std::fill(i, j, false); });
  bits const in = some_bits(40'000, 3);
  auto const end_of = [&](auto i, auto j) { return in.begin() + (j - i); };
  agree([&](auto i, auto j) { filch::copy<S>(in.begin(), end_of(i, j), i); },
        [&](auto i, auto j) { std::copy(in.begin(), end_of(i, j), i); });
  agree([&](auto i, auto j) { filch::replace_copy<S>(in.begin(), end_of(i, j), i, true, false); },
        [&](auto i, auto j) { std::fill(i, j, false); });
  agree([&](auto i, auto j) { filch::move<S>(in.begin(), end_of(i, j), i); },
        [&](auto i, auto j) { std::copy(in.begin(), end_of(i, j), i); });
  agree([&](auto i, auto j) { filch::reverse_copy<S>(in.begin(), end_of(i, j), i); },
        [&](auto i, auto j) { std::reverse_copy(in.begin(), end_of(i, j), i); });
  agree([&](auto i, auto j) { filch::copy_if<S>(in.begin(), end_of(i, j), i, is_set); },
        [&](auto i, auto j) { std::copy_if(in.begin(), end_of(i, j), i, is_set); });
  agree([&](auto i, auto j) { filch::unique_copy<S>(in.begin(), end_of(i, j), i); },
        [&](auto i, auto j) { std::unique_copy(in.begin(), end_of(i, j), i); });
  agree([&](auto i, auto j) { filch::inclusive_scan<S>(in.begin(), end_of(i, j), i, std::logical_and<>{}); },
        [&](auto i, auto j) { std::inclusive_scan(in.begin(), end_of(i, j), i, std::logical_and<>{}); });
  agree([&](auto i, auto j) { filch::adjacent_difference<S>(in.begin(), end_of(i, j), i, std::not_equal_to<>{}); },
        [&](auto i, auto j) { std::adjacent_difference(in.begin(), end_of(i, j), i, std::not_equal_to<>{}); });
}

TEST(bits, are_rearranged) {
  agree([](auto i, auto j) { filch::reverse<S>(i, j); }, [](auto i, auto j) { std::reverse(i, j); });
  agree([](auto i, auto j) { filch::rotate<S>(i, i + (j - i) / 3, j); },
        [](auto i, auto j) { std::rotate(i, i + (j - i) / 3, j); });
  agree([](auto i, auto j) { filch::swap_ranges<S>(i, i + (j - i) / 2, i + (j - i) / 2); },
        [](auto i, auto j) { std::swap_ranges(i, i + (j - i) / 2, i + (j - i) / 2); });
  agree([](auto i, auto j) { filch::partition<S>(i, j, is_set); },
        [](auto i, auto j) { std::partition(i, j, is_set); });
  agree([](auto i, auto j) { filch::stable_partition<S>(i, j, is_set); },
        [](auto i, auto j) { std::partition(i, j, is_set); });
  agree([](auto i, auto j) { filch::random_shuffle<S>(i, j, 1); },
        [](auto i, auto j) { filch::random_shuffle<filch::serial>(i, j, 1); });
  agree([](auto i, auto j) { filch::shift_left<S>(i, j, (j - i) / 2), filch::fill<S>(i + (j - i) / 2, j, true); },
        [](auto i, auto j) { std::shift_left(i, j, (j - i) / 2), std::fill(i + (j - i) / 2, j, true); });
  agree([](auto i, auto j) { filch::fill<S>(filch::remove_if<S>(i, j, is_set), j, true); },
        [](auto i, auto j) { std::fill(std::remove_if(i, j, is_set), j, true); });
  agree([](auto i, auto j) { filch::fill<S>(filch::unique<S>(i, j), j, true); },
        [](auto i, auto j) { std::fill(std::unique(i, j), j, true); });
}

TEST(bits, are_sorted) {
  auto const sort = [](auto i, auto j) { std::sort(i, j); };
  agree([](auto i, auto j) { filch::sort<S>(i, j); }, sort);
  agree([](auto i, auto j) { filch::stable_sort<S>(i, j); }, sort);
  agree([](auto i, auto j) { filch::partial_sort<S>(i, j, j); }, sort);
  agree([](auto i, auto j) { filch::nth_element<S>(i, i + (j - i) / 2, j), filch::sort<S>(i, j); }, sort);
  agree(
      [](auto i, auto j) {
        auto const middle = i + (j - i) / 3;
        filch::sort<S>(i, middle), filch::sort<S>(middle, j), filch::inplace_merge<S>(i, middle, j);
      },
      sort);
  for_parts([](bits& b, bits::iterator first, bits::iterator last) {
    bits in(first, last);
    std::sort(in.begin(), in.end());
    bits const half(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2));
    bits const rest(in.begin() + static_cast<std::ptrdiff_t>(in.size() / 2), in.end());
    filch::merge<S>(half.begin(), half.end(), rest.begin(), rest.end(), first);
    EXPECT_TRUE(std::equal(first, last, in.begin()));
    bits expected = b;
    auto const to = expected.begin() + (first - b.begin());
    EXPECT_EQ(filch::set_union<S>(half.begin(), half.end(), rest.begin(), rest.end(), first) - first,
              std::set_union(half.begin(), half.end(), rest.begin(), rest.end(), to) - to);
    EXPECT_EQ(b, expected);
  });
}

TEST(bits, are_sorted_by_keys) {
  agree([](auto i, auto j) { filch::integer_sort<S>(i, j); }, [](auto i, auto j) { std::sort(i, j); });
  agree([](auto i, auto j) { filch::integer_sort<S>(i, j, std::logical_not<>{}); },
        [](auto i, auto j) { std::sort(i, j, std::greater<>{}); });
}

/// Calls body(zip, pairs) with numbers beside bits, and a copy of them in pairs, and expects that both stay the same.
template <class Body> void beside_numbers(Body body) {
  in_every_pool<S>([&](std::size_t n) {
    std::vector<int> v = numbers(n, 0, 30);
    bits b = some_bits(n);
    std::vector<std::pair<int, bool>> pairs(n);
    for (std::size_t i = 0; i != n; ++i) pairs[i] = {v[i], b[i]};
    body(filch::zip_iterator(v.begin(), b.begin()), filch::zip_iterator(v.end(), b.end()), pairs);
    for (std::size_t i = 0; i != n; ++i) ASSERT_EQ((std::pair<int, bool>(v[i], b[i])), pairs[i]) << i;
  });
}
/// Sorts pairs by a key from 0 to 30, and keeps the order of equal ones.
template <class KeyOf> void sort_by_key(std::vector<std::pair<int, bool>>& pairs, KeyOf key_of) {
  auto const all = std::exchange(pairs, {});
  for (int key = 0; key <= 30; ++key)
    std::copy_if(all.begin(), all.end(), std::back_inserter(pairs), [&](auto const& e) { return key_of(e) == key; });
}
constexpr auto bit_is_set = [](auto const& e) { return static_cast<bool>(std::get<1>(e)); };

TEST(bits, of_a_zip_are_written) {
  beside_numbers([](auto i, auto j, auto& pairs) {
    filch::fill<S>(i, j, std::tuple(7, true));
    std::fill(pairs.begin(), pairs.end(), std::pair(7, true));
  });
  beside_numbers([](auto i, auto j, auto& pairs) {
    filch::generate<S>(i, j, [] { return std::tuple(8, true); });
    std::fill(pairs.begin(), pairs.end(), std::pair(8, true));
  });
  beside_numbers([](auto i, auto j, auto& pairs) {
    filch::transform<S>(i, j, i, [](auto const& e) { return std::tuple(std::get<0>(e), !std::get<1>(e)); });
    for (auto& [number, bit] : pairs) bit = !bit;
  });
  beside_numbers([](auto i, auto j, auto& pairs) {
    std::vector<std::tuple<int, bool>> const values(pairs.size(), std::tuple(9, false));
    filch::copy<S>(values.begin(), values.end(), i);
    EXPECT_EQ(j - i, static_cast<std::ptrdiff_t>(pairs.size()));
    std::fill(pairs.begin(), pairs.end(), std::pair(9, false));
  });
}

TEST(bits, of_a_zip_are_sorted_and_partitioned) {
  beside_numbers([](auto i, auto j, auto& pairs) {
    filch::sort<S>(i, j);
    std::sort(pairs.begin(), pairs.end());
  });
  auto const first_less = [](auto const& x, auto const& y) { return std::get<0>(x) < std::get<0>(y); };
  beside_numbers([&](auto i, auto j, auto& pairs) {
    filch::stable_sort<S>(i, j, first_less);
    sort_by_key(pairs, [](auto const& e) { return e.first; });
  });
  beside_numbers([&](auto i, auto j, auto& pairs) {
    filch::stable_partition<S>(i, j, bit_is_set);
    sort_by_key(pairs, [](auto const& e) { return e.second ? 0 : 1; });
  });
  beside_numbers([&](auto i, auto j, auto& pairs) {
    filch::integer_sort<S>(i, j, [](auto const& e) { return std::get<1>(e); });
    sort_by_key(pairs, [](auto const& e) { return e.second ? 1 : 0; });
  });
}

}  // namespace
}  // namespace filch_test
