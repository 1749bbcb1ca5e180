// Whether a short loop is faster split or alone, by trial. The loop engine (pieces.hpp) asks before the first split
// of a loop, and reports how long the loop took. docs/decisions/0015-loop-trials.md has the measurements.
//
// A loop of a few microseconds may take longer on many workers than on one: each piece brings its data from another
// processor's cache, and all workers wait for the same cache lines. Costs of iterations do not tell: they are higher
// in the pieces of such a loop, so it would be split for ever. The time of the whole loop does. Loops with one body
// and about the same length are split most of the time. Now and then one runs alone instead, until it has taken as
// long as they take on average if they are split. If it ends earlier, more of them run alone, and now and then some
// are split.
#pragma once

#include <filch/detail/platform.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The trials of loops with one body and about the same length. Workers may call it at the same time. Then it may
/// lose a report, and decides later: all of it is a hint.
class loop_trial {
 public:
  /// For how many ticks a loop of n iterations should run alone before it may be split. 0: not at all. Never 0 in a
  /// trial, which would not end.
  std::uint64_t ticks_alone(std::size_t n) const noexcept {
    state const now = state_.load(std::memory_order_relaxed);  // relaxed: a hint, here and below
    if (now.does == way::split) return 0;
    std::uint64_t const split = ticks_split(n);
    std::uint64_t limit = split;
    if (now.does == way::first_trial || now.was_just_split()) {
      limit = 2 * split;
    } else if (now.does == way::alone) {
      limit = split + split / 2;
    }
    return std::clamp<std::uint64_t>(limit, 1, k_short);
  }
  /// A loop was split n iterations before its end, and took so long from there. is_stolen: another worker took its
  /// part. Loops of which no worker takes a part count where there are many in a row: the first ones may have woken a
  /// worker.
  void was_split(std::size_t n, std::uint64_t ticks, bool is_stolen) noexcept {
    if (ticks > k_short) return;
    state now = state_.load(std::memory_order_relaxed);
    if (now.does != way::split) return;
    if (is_stolen) {
      now.count = 0;
    } else if (now.count < k_most_vain) {
      ++now.count;
      return state_.store(now, std::memory_order_relaxed);
    }
    // The mean: such loops take half as long as alone, or twice as long, in turn. Other programs make some far
    // longer.
    std::uint64_t const each = std::max<std::uint64_t>(k_parts * ticks / n, 1);
    std::uint64_t const before = each_.load(std::memory_order_relaxed);
    if (before == 0) {
      each_.store(each, std::memory_order_relaxed);
    } else {
      std::uint64_t const counted = std::min(each, k_far * before);
      each_.store(before - before / k_weight + (counted + k_weight - 1) / k_weight, std::memory_order_relaxed);
    }
    if (--now.left == 0) now.does = way::first_trial;
    state_.store(now, std::memory_order_relaxed);
  }
  /// A loop ran alone, took so long, and ended before it could be split.
  void was_alone(std::uint64_t ticks) noexcept {
    state now = state_.load(std::memory_order_relaxed);
    if (now.does == way::first_trial) {
      now.does = way::trial;
    } else if (now.does == way::trial) {
      now.does = way::alone;
      now.count = 0;
      now.left = k_fewest << now.won;
      bool const is_short = now.won < k_most_won_of_shortest && now.left * ticks < k_long_row;
      if (now.won < k_most_won || is_short) ++now.won;
      now.lost = 0;
    } else if (now.does == way::alone) {
      if (now.count != 0) --now.count;
      if (--now.left == 0) now = split_some(now);
    }
    state_.store(now, std::memory_order_relaxed);
  }
  /// A loop ran alone for longer than it takes if it is split.
  void was_too_long() noexcept {
    state now = state_.load(std::memory_order_relaxed);
    if (now.does == way::split) return;
    if (now.does == way::first_trial) {
      now.does = way::trial;
    } else if (now.does == way::alone) {
      // The first one may be an interrupt's fault. The next one brings the elements back.
      if (now.count == 0) {
        now.count = k_loops_between;
      } else if (now.was_just_split()) {
        --now.count;
      } else {
        now.won = static_cast<std::uint8_t>(now.won / 2);
        now = split_some(now);
      }
    } else {
      now.does = way::split;
      now.count = 0;
      now.left = k_fewest << now.lost;
      if (now.lost < k_most_lost) ++now.lost;
      now.won = 0;
    }
    state_.store(now, std::memory_order_relaxed);
  }

 private:
  // Before the first trial the data may be in other caches, so it gets twice the time: the second one decides.
  enum class way : std::uint8_t { split, first_trial, trial, alone };
  static constexpr std::uint64_t k_short = std::uint64_t{1} << 19;  // ticks; longer loops are always split
  static constexpr std::uint64_t k_parts = 256;                     // parts of a tick, the unit of each_
  static constexpr std::uint64_t k_weight = 4;                      // each_ is a mean over about so many loops
  static constexpr std::uint64_t k_far = 4;                         // a loop counts as so many means at most
  static constexpr std::uint8_t k_most_vain = 48;
  static constexpr std::uint8_t k_loops_between = 8;
  static constexpr unsigned k_fewest = 16;
  // At most 1,024 loops run alone between two that are split. More, if these take less than some ten milliseconds:
  // the sixteen split ones may take many times as long, and the worker that was woken for them slows others.
  static constexpr unsigned k_most_won = 6;
  static constexpr unsigned k_most_won_of_shortest = 14;
  static constexpr std::uint64_t k_long_row = 40'000'000;  // ticks
  static constexpr unsigned k_most_lost = 7;               // at most 2,048 loops are split between two trials
  // Aligned to its size: else Clang 14 loads and stores it by calls of libatomic.
  struct alignas(8) state {
    way does;
    std::uint8_t won;    // trials won in a row by loops that ran alone
    std::uint8_t lost;   // trials lost in a row
    std::uint8_t count;  // was_split() and was_too_long() say of what
    std::uint32_t left;  // loops until the next trial, or the next split

    /// The last loop ran alone for too long, and was split in the end.
    bool was_just_split() const noexcept { return does == way::alone && count == k_loops_between; }
  };
  static_assert(alignof(state) == sizeof(state) && std::atomic<state>::is_always_lock_free);

  /// The next trial is soon.
  state split_some(state now) noexcept {
    now.does = way::split;
    now.count = 0;
    now.left = k_fewest;  // the first ones move their data to other caches
    each_.store(0, std::memory_order_relaxed);
    return now;
  }
  std::uint64_t ticks_split(std::size_t n) const noexcept {
    return each_.load(std::memory_order_relaxed) * std::min(n, k_longest) / k_parts;
  }
  static constexpr std::size_t k_longest = std::size_t{1} << 32;

  std::atomic<std::uint64_t> each_{0};  // time of an iteration of split loops. 0: unknown
  std::atomic<state> state_{state{way::split, 0, 0, 0, k_fewest}};
};

/// The trials of all loops with one body, by their lengths.
class loop_trials {
 public:
  /// Those of loops of n iterations, at least one.
  loop_trial& of(std::size_t n) noexcept {
    return of_length_[std::min(static_cast<std::size_t>(std::bit_width(n)), k_lengths) - 1];
  }

 private:
  // Loops of half a million iterations or more are hardly ever short: they have one entry.
  static constexpr std::size_t k_lengths = 20;
  std::array<loop_trial, k_lengths> of_length_{};
};

}  // namespace filch::inline FILCH_ABI::detail
