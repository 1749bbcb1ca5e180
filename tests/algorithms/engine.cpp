// The loop engine: pieces cover the positions once and in order, end early, and are seen by an observer.
#include "pieces.hpp"

#include <filch/for_each.hpp>
#include <filch/reduce.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace filch_test {
namespace {

template <class S> class engine : public ::testing::Test {};
TYPED_TEST_SUITE(engine, algorithm_schedulers, scheduler_names);

TYPED_TEST(engine, calls_the_function_once_for_each_element) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<int> v(n);
    EXPECT_EQ(filch::for_each<TypeParam>(v, [](int& x) { ++x; }), v.end());
    EXPECT_EQ(filch::for_each<TypeParam>(v.begin(), v.end(), [](int& x) { ++x; }), v.end());
    EXPECT_EQ(v, std::vector<int>(n, 2));
  });
}

TYPED_TEST(engine, keeps_the_order_of_a_reduction) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::string> words(n);
    std::string expected = "<";
    for (std::size_t i = 0; i < n; ++i) expected += words[i] = std::to_string(i);
    EXPECT_EQ(filch::reduce<TypeParam>(words, std::string("<")), expected);
  });
}

/// Counts its positions, and checks that they follow each other.
struct counting_piece {
  std::size_t next = 0;
  std::size_t merged = 0;

  void run(std::size_t first, std::size_t last) {
    EXPECT_EQ(first, next);
    EXPECT_LT(first, last);
    EXPECT_EQ(first / 64, (last - 1) / 64) << "vectors of arrays lie in one cache line each";
    next = last;
  }
  counting_piece split(std::size_t middle, std::size_t last) const {
    EXPECT_LT(middle, last);
    return {middle, 0};
  }
  void merge(counting_piece& upper) {
    EXPECT_LT(next, upper.next);
    next = upper.next;
    merged += 1 + upper.merged;
  }
};

TYPED_TEST(engine, splits_to_pieces_of_one_iteration_on_request) {
  typename TypeParam::pool pool({.workers = 2});
  single_pieces const all;
  for_lengths([&](std::size_t n) {
    counting_piece piece;
    pool.run([&] { filch::detail::run_pieces<TypeParam>(0, n, piece); });
    EXPECT_EQ(piece.next, n);
    EXPECT_EQ(piece.merged, n == 0 ? 0 : n - 1);
  });
}

struct turning_piece : counting_piece {
  static constexpr std::size_t k_turn = 16;
  static inline std::size_t longest = 0;
  static inline std::size_t crossing = 0;
  void run(std::size_t first, std::size_t last) {
    longest = std::max(longest, last - first);
    crossing += first / (64 * k_turn) == (last - 1) / (64 * k_turn) ? 0 : 1;
  }
  turning_piece split(std::size_t, std::size_t) const { return {}; }
  void merge(turning_piece&) const {}
};

TEST(engine_on_one_worker, runs_up_to_64_turns_together) {
  turning_piece piece;
  filch::detail::run_pieces<filch::serial>(0, 1'000'000, piece);
  EXPECT_EQ(turning_piece::longest, 64 * 16u);
  EXPECT_EQ(turning_piece::crossing, 0u) << "stretches begin at multiples of their length";
}

struct wide_piece : counting_piece {
  using position_type = filch::detail::unsigned_wide_index;
  std::size_t stretches = 0;
  void run(position_type, position_type) { ++stretches; }
  wide_piece split(position_type, position_type) const { return {}; }
  void merge(wide_piece&) const {}
};

TEST(engine_on_one_worker, runs_long_stretches_at_positions_wider_than_a_word) {
  constexpr std::size_t length = 64 * 1024;
  constexpr auto begin = filch::detail::unsigned_wide_index{1} << 64;
  auto const stretches_from = [](filch::detail::unsigned_wide_index first) {
    wide_piece piece;
    filch::detail::run_pieces<filch::serial>(first, first + length, piece);
    return piece.stretches;
  };
  stretches_from(0);
  auto const low = stretches_from(0);
  EXPECT_LE(stretches_from(begin), 2 * low);
  EXPECT_LT(low, length / 8);
}

/// Another worker waits for work, always.
struct always_wanted : counts_joins {
  static inline std::size_t looks = 0;
  static bool wanted() noexcept {
    ++looks;
    return true;
  }
};

/// A split costs Ticks.
template <std::uint64_t Ticks> struct dear_to_split : counting_piece {
  std::vector<int> memory{};
  dear_to_split split(std::size_t middle, std::size_t last) const { return {counting_piece::split(middle, last)}; }
  std::uint64_t split_ticks(std::size_t ran, std::size_t left) const {
    EXPECT_LE(ran, next);
    EXPECT_GT(left, 1u);
    return Ticks;
  }
};

TEST(engine_on_one_worker, splits_no_piece_whose_split_costs_more_than_the_loop) {
  constexpr std::size_t length = 1'000'000;
  dear_to_split<0> cheap;
  filch::detail::run_pieces<always_wanted>(0, length, cheap);
  EXPECT_EQ(cheap.next, length);
  EXPECT_GT(cheap.merged, 0u);
  dear_to_split<std::uint64_t{1} << 50> dear;
  filch::detail::run_pieces<always_wanted>(0, length, dear);
  EXPECT_EQ(dear.next, length);
  EXPECT_EQ(dear.merged, 0u);
}

TEST(engine_on_one_worker, looks_after_each_stretch_of_a_rest_that_is_not_worth_splitting) {
  constexpr std::size_t length = 64 * 64;
  dear_to_split<std::uint64_t{1} << 50> piece;
  always_wanted::looks = 0;
  filch::detail::run_pieces<always_wanted>(0, length, piece);
  EXPECT_GE(always_wanted::looks, length / 64);
  EXPECT_EQ(piece.next, length);
}

TEST(engine_on_one_worker, forgets_that_a_short_loop_was_slow_once) {
  if (is_sanitized || is_emulated || !is_optimised) GTEST_SKIP() << "each iteration is slow";
  bool is_slow = true;
  std::size_t ran = 0;
  auto const loop = [&] {
    filch::for_index<always_wanted>(0, 4, [&](int) {
      if (is_slow) work_for(std::chrono::milliseconds(1));
      ++ran;
    });
  };
  loop();
  is_slow = false;
  loop();
  EXPECT_GT(always_wanted::joins, 0u) << "as dear as the one before";
  EXPECT_TRUE(eventually([&] {
    always_wanted::joins = 0;
    loop();
    return always_wanted::joins == 0;
  }));
  EXPECT_EQ(ran % 4, 0u);
}

std::atomic<std::size_t> pieces_begun{0};
std::atomic<std::size_t> pieces_ended{0};

/// Two positions below wait until the two above have thrown; then they are merged, or not.
template <class S> struct failing_piece {
  gate* above_throws;
  std::atomic<int>* merges;
  void run(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i != last; ++i) {
      if (i >= 2) {
        above_throws->open();
        throw 1;
      }
      EXPECT_TRUE(eventually([&] {
        filch::poll<S>();
        return above_throws->is_open();
      }));
      work_for(std::chrono::microseconds(200));  // for the exception to leave
    }
  }
  failing_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(failing_piece&) const { ++*merges; }
};

// A merge may be long: a part that had no room is run there.
TYPED_TEST(engine, merges_nothing_after_an_exception_elsewhere) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  typename TypeParam::pool pool({.workers = 2});
  single_pieces const all;
  EXPECT_TRUE(eventually([&] {
    gate above_throws;
    std::atomic<int> merges{0};
    failing_piece<TypeParam> piece{&above_throws, &merges};
    EXPECT_THROW(pool.run([&] { filch::detail::run_pieces<TypeParam>(std::size_t{0}, std::size_t{4}, piece); }), int);
    return merges == 0;
  }));
}

TYPED_TEST(engine, shows_an_observer_where_pieces_begin_and_end) {
  constexpr filch::detail::piece_observer k_observer{[](std::size_t first, std::size_t last) noexcept {
                                                       EXPECT_LT(first, last);
                                                       ++pieces_begun;
                                                     },
                                                     [](std::size_t, std::size_t) noexcept { ++pieces_ended; }, true};
  filch::detail::observer_of_pieces.store(&k_observer, std::memory_order_release);
  pieces_begun = pieces_ended = 0;
  filch::for_index<TypeParam>(0, 100, [](int) {});
  // The nodes of a binary tree with 100 leaves.
  EXPECT_EQ(pieces_begun, 199u);
  EXPECT_EQ(pieces_ended, 199u);
  filch::detail::observer_of_pieces.store(nullptr, std::memory_order_release);
  filch::for_index<TypeParam>(0, 100, [](int) {});
  EXPECT_EQ(pieces_begun, 199u);
}

TYPED_TEST(engine, nests_loops_in_pieces) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n > 128) return;
    std::vector<long> sums(n);
    filch::for_index<TypeParam>(std::size_t{0}, n, [&](std::size_t i) {
      std::vector<long> const ones(i, 1);
      sums[i] = filch::reduce<TypeParam>(ones, 0L);
    });
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(sums[i], static_cast<long>(i));
  });
}

TYPED_TEST(engine, stays_on_its_thread_inside_stay) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    filch::stay([] {
      auto const here = std::this_thread::get_id();
      std::vector<int> v(10'000, 1);
      filch::for_each<TypeParam>(v, [&](int& x) { x += std::this_thread::get_id() == here ? 1 : 100; });
      EXPECT_EQ(filch::reduce<TypeParam>(v, 0), 20'000);
    });
  });
}

}  // namespace
}  // namespace filch_test
