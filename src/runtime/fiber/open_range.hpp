// The tasks of a fiber that thieves may take: one word of 64 bits that the owner and the thieves change by
// compare-and-swap. Each scheduler that moves fibers has one, in a worker or in the header of a stack. Protocol:
// fibers.md, "Words" and fiber-2.
//
//   place    a number of the owner's; the scheduler defines what lies there; the oldest task has the lowest number
//   taken    below `tail`: thieves have these tasks
//   open     [tail, end): each thief may take the oldest, the owner may take back the newest
//   private  from `end` on: the owner's alone
//
// Zeroed memory is a range, too: nothing was ever open, and the root is 0.
#pragma once

#include <filch/detail/platform.hpp>

#include "runtime/places.hpp"

#include <atomic>
#include <cstdint>

namespace filch::runtime {

/// The word, read at one moment.
struct open_places {
  std::uint32_t tail = 0;
  std::uint32_t end = 0;
  std::uint16_t root = k_any_root;  // the call that the tasks belong to: see places.hpp

  bool is_empty() const noexcept { return tail >= end; }
  std::uint32_t size() const noexcept { return end - tail; }
};

/// The taker of the newest task.
enum class [[nodiscard]] taken_back {
  is_stolen,    // a thief has it, and thieves have all older tasks
  was_private,  // the owner: it was never open, and the word is unchanged
  is_owners,    // the owner: it was open
};

class open_range {
 public:
  static constexpr unsigned k_bits = 24;
  /// Places are at most this.
  static constexpr std::uint32_t k_most = (1u << k_bits) - 1;

  constexpr open_range() noexcept = default;

  /// Owner: `end` and `root` are exact. Others: a hint.
  open_places peek() const noexcept { return of(word_.load(std::memory_order_relaxed)); }
  /// Thief, before steal(). Owner: for `tail`. edge fiber-2: acquire, the tasks.
  open_places look() const noexcept { return of(word_.load(std::memory_order_acquire)); }
  /// Worker that is about to sleep. edge idle-1: seq_cst, in order after its announcement.
  open_places look_before_sleep() const noexcept { return of(word_.load(std::memory_order_seq_cst)); }

  /// Thief: takes the oldest task that it saw, at seen.tail. False: the word has changed.
  /// edge fiber-2: acquire, the task. edge fiber-3: one word decides.
  [[nodiscard]] bool steal(open_places const& seen) noexcept {
    std::uint64_t word = word_of(seen);
    return word_.compare_exchange_strong(word, word_of({seen.tail + 1, seen.end, seen.root}),
                                         std::memory_order_seq_cst, std::memory_order_relaxed);
  }

  /// Owner: opens its private tasks below `end`, which are written. Thieves move the tail meanwhile.
  /// edge fiber-2: release, the tasks. edge idle-1: seq_cst, before the look for sleepers.
  void offer_to(std::uint32_t end) noexcept {
    for (open_places now = peek(); !replace(now, {now.tail, end, now.root}, std::memory_order_relaxed);) {
    }
  }
  /// Owner: takes back the newest of its tasks, which lies before `top`. `left` is the word afterwards. If all tasks
  /// are open, `top` is `end`.
  /// edge fiber-3: acquire, the steals so far; one word decides.
  taken_back take_back(std::uint32_t top, open_places& left) noexcept {
    for (open_places now = look();;) {
      left = now;
      if (top <= now.tail) return taken_back::is_stolen;
      if (top > now.end) return taken_back::was_private;
      left.end = top - 1;
      if (replace(now, left, std::memory_order_acquire)) return taken_back::is_owners;
    }
  }

  /// Owner, while nothing is open, so no thief changes the word: the places below `place` are used up, those from it
  /// on are private. edge fiber-2: release, as an offer.
  void restart_at(std::uint32_t place) noexcept {
    word_.store(word_of({place, place, peek().root}), std::memory_order_release);
  }
  /// Owner, while nothing is open, so its newest tasks are stolen: so many of them are done, and their places are
  /// private again.
  void forget_stolen(std::uint32_t count) noexcept { restart_at(peek().end - count); }
  /// Owner, while nothing is open: it continues with a fiber of this root.
  /// edge idle-4: seq_cst, before the look whether the root's caller sleeps.
  void set_root(std::uint16_t root) noexcept {
    open_places now = peek();
    if (now.root == root) return;
    now.root = root;
    word_.store(word_of(now), std::memory_order_seq_cst);
  }

 private:
  /// Owner: false leaves the present word in `seen`, which may be the same.
  bool replace(open_places& seen, open_places const& by, std::memory_order order_of_failure) noexcept {
    std::uint64_t word = word_of(seen);
    bool const is_done = word_.compare_exchange_weak(word, word_of(by), std::memory_order_seq_cst, order_of_failure);
    if (!is_done) seen = of(word);
    return is_done;
  }
  static constexpr open_places of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word) & k_most, static_cast<std::uint32_t>(word >> k_bits) & k_most,
            static_cast<std::uint16_t>(word >> 2 * k_bits)};
  }
  static constexpr std::uint64_t word_of(open_places const& p) noexcept {
    return std::uint64_t{p.root} << 2 * k_bits | std::uint64_t{p.end} << k_bits | p.tail;
  }

  std::atomic<std::uint64_t> word_{word_of({})};
};

}  // namespace filch::runtime
