// Loops over more indices than a word counts, and over all indices of a type.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/for_each.hpp>
#include <filch/for_extents.hpp>
#include <filch/reduce.hpp>

#include <atomic>
#include <cstdint>
#include <limits>
#include <ranges>
#include <stdexcept>

namespace filch_test {
namespace {

template <class S> class wide_indices : public ::testing::Test {};
TYPED_TEST_SUITE(wide_indices, algorithm_schedulers, scheduler_names);

using wide = filch::detail::wide_index;
using unsigned_wide = filch::detail::unsigned_wide_index;

constexpr unsigned_wide k_word = unsigned_wide{1} << 64;  // positions that a word does not count
constexpr wide k_lowest = static_cast<wide>(unsigned_wide{1} << 127);
constexpr wide k_highest = -(k_lowest + 1);

static_assert(sizeof(filch::detail::position_of_index<std::uint64_t>) == sizeof(std::size_t));

/// The loops of [first, first + n) run each index once.
template <class S, class Index> void run_each_once(Index first, std::size_t n) {
  std::vector<int> visits(n);
  filch::for_index<S>(first, static_cast<Index>(first + static_cast<Index>(n)),
                      [&](Index i) { ++visits.at(static_cast<std::size_t>(i - first)); });
  EXPECT_EQ(visits, std::vector<int>(n, 1));
}

TYPED_TEST(wide_indices, run_short_loops_anywhere) {
  in_every_pool<TypeParam>([](std::size_t n) {
    run_each_once<TypeParam>(unsigned_wide{0}, n);
    run_each_once<TypeParam>(k_word - n / 2, n);
    run_each_once<TypeParam>((k_word << 63) - n / 2, n);
    run_each_once<TypeParam>(~unsigned_wide{0} - n, n);
    run_each_once<TypeParam>(wide{-7}, n);
    run_each_once<TypeParam>(k_lowest, n);
    run_each_once<TypeParam>(k_highest - static_cast<wide>(n), n);
    run_each_once<TypeParam>(-static_cast<wide>(k_word) - 3, n);
    filch::for_index<TypeParam>(wide{5}, -static_cast<wide>(k_word), [](wide) { FAIL(); });
  });
}

template <class S, class Index> void visits_all_of() {
  constexpr long k_least = std::numeric_limits<Index>::min();
  constexpr long k_greatest = std::numeric_limits<Index>::max();
  std::vector<int> visits(k_greatest - k_least + 1);
  filch::for_index<S>(std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max(),
                      [&](Index i) { ++visits.at(static_cast<std::size_t>(i - k_least)); });
  EXPECT_EQ(visits.back(), 0);
  visits.pop_back();
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}
TYPED_TEST(wide_indices, run_all_of_a_narrow_type) {
  typename TypeParam::pool pool({.workers = 2});
  auto const run = [&] {
    pool.run([] {
      visits_all_of<TypeParam, std::int8_t>();
      visits_all_of<TypeParam, std::uint8_t>();
      visits_all_of<TypeParam, std::int16_t>();
    });
  };
  run();
  single_pieces const all;
  run();
}

/// Loops that are too long to end: begins at `first`, and ends by an exception after some iterations.
template <class S, class Index> void begins_and_throws(Index first, Index last) {
  typename S::pool pool({.workers = 1});
  auto const begins = [&](Index throws_at) {
    std::size_t calls = 0;
    bool is_right = true;
    EXPECT_THROW(pool.run([&] {
      filch::for_index<S>(first, last, [&](Index i) {
        is_right = is_right && i == static_cast<Index>(first + static_cast<Index>(calls++));
        if (i == throws_at) throw 7;
      });
    }),
                 int);
    EXPECT_TRUE(is_right);
    EXPECT_EQ(calls, static_cast<std::size_t>(throws_at - first) + 1);
  };
  begins(first);
  begins(static_cast<Index>(first + 1'000));
  single_pieces const all;
  begins(first);
  begins(static_cast<Index>(first + 1'000));
}
/// The same by a stop.
template <class S, class Index> void begins_and_stops(Index first, Index last) {
  typename S::pool pool({.workers = 2});
  stop_source source;
  std::atomic<std::size_t> calls{0};
  EXPECT_FALSE(pool.run([&] {
    return filch::for_index<S>(source.get_token(), first, last, [&](Index i) {
      EXPECT_TRUE(first <= i && i < last);
      if (calls.fetch_add(1, std::memory_order_relaxed) == 1'000) source.request_stop();
    });
  }));
}
TYPED_TEST(wide_indices, begin_and_end_where_there_are_too_many_to_run) {
  auto const both = [](auto first, decltype(first) last) {
    begins_and_throws<TypeParam>(first, last);
    begins_and_stops<TypeParam>(first, last);
  };
  both(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  both(std::size_t{0}, std::numeric_limits<std::size_t>::max());
  both(unsigned_wide{0}, k_word);
  both(unsigned_wide{0}, k_word + 3);
  both(unsigned_wide{5}, ~unsigned_wide{0});
  both(-static_cast<wide>(k_word), static_cast<wide>(k_word));
  both(k_lowest, k_highest);
}

/// A second worker gets the upper half. The lower half never gets there.
template <class S, class Index> void is_split_in_half(Index first, Index last) {
  typename S::pool pool({.workers = 2});
  Index const middle = static_cast<Index>(first + static_cast<Index>((last - first) / 2));
  EXPECT_THROW(pool.run([&] {
    filch::for_index<S>(first, last, [&](Index i) {
      if (i >= middle) throw 7;
    });
  }),
               int);
}
TYPED_TEST(wide_indices, are_split_in_half_where_there_are_too_many_to_run) {
  if constexpr (!std::same_as<TypeParam, filch::serial>) {
    is_split_in_half<TypeParam>(std::size_t{0}, std::numeric_limits<std::size_t>::max());
    is_split_in_half<TypeParam>(unsigned_wide{0}, k_word + 3);
    is_split_in_half<TypeParam>(unsigned_wide{0}, k_word * 1'000);
    is_split_in_half<TypeParam>(unsigned_wide{1}, ~unsigned_wide{0});
    is_split_in_half<TypeParam>(-static_cast<wide>(k_word), static_cast<wide>(k_word) + 2);
  }
}

/// Is there a std::views::iota of 128 bits? Clang 14 and libc++ have none.
#if defined(_LIBCPP_VERSION)
constexpr bool k_has_wide_views = false;
#else
constexpr bool k_has_wide_views = filch::detail::has_subranges;
#endif

template <class Wide> void expect_that_long_views_are_refused() {
  if constexpr (k_has_wide_views) {
    Wide const word = k_word;
    auto const too_long = std::views::iota(Wide{0}, word);
    EXPECT_THROW(filch::for_each<filch::serial>(too_long, [](auto) { FAIL(); }), std::length_error);
    EXPECT_THROW(filch::for_each<filch::serial>(too_long.begin(), too_long.end(), [](auto) { FAIL(); }),
                 std::length_error);
    auto const far = std::views::iota(word * 7, word * 7 + 1'000);
    EXPECT_EQ(filch::count_if<filch::serial>(far, [](auto x) { return x % 4 == 0; }), 250);
  }
}
TEST(wide_lengths, that_are_no_words_are_refused) {
  expect_that_long_views_are_refused<unsigned_wide>();
  auto const refuses = [](auto grid) {
    EXPECT_THROW(filch::for_index<filch::serial>(grid, [](auto...) { FAIL(); }), std::length_error);
  };
  refuses(filch::extents{std::size_t{1} << 32, std::size_t{1} << 31});
  refuses(filch::extents{std::size_t{1} << 22, std::size_t{1} << 21, std::size_t{1} << 21});
  refuses(filch::extents{k_word, unsigned_wide{1}});
  int calls = 0;
  filch::for_index<filch::serial>(filch::extents{wide{3}, wide{5}}, [&](wide r, wide c) { calls += r < 3 && c < 5; });
  EXPECT_EQ(calls, 15);
}

}  // namespace
}  // namespace filch_test
