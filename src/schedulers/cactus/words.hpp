// The words that the threads of filch::cactus share, beside runtime/fiber/open_range.hpp. A method is a transition,
// named after its actor: the owner, or a thief. No other file of this folder accesses an atomic. What each edge
// guarantees: protocol.md.
#pragma once

#include <filch/detail/cactus_words.hpp>

#include "runtime/forced_steals.hpp"

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

enum class split_state { quiet, still_requested, requested };

/// `split` and its transitions on slow paths: see cactus_split.
class split_word : public cactus_split {
 public:
  using cactus_split::cactus_split;

  /// Owner. relaxed: a hint.
  split_state state() const noexcept {
    fiber_task** const now = word_.load(std::memory_order_relaxed);
    if (now == fiber_requested()) return split_state::requested;
    return now == still_requested() ? split_state::still_requested : split_state::quiet;
  }
  /// Owner: is a request to be answered? With forced steals, at each fork.
  bool is_to_be_answered() const noexcept { return runtime::k_each_fork_offers || is_requested(); }

  /// Thief; or the owner for others. edge cactus-4: seq_cst, both, after the announcement.
  void request() noexcept {
    if (word_.load(std::memory_order_seq_cst) != fiber_requested())
      word_.store(fiber_requested(), std::memory_order_seq_cst);
  }
  /// Owner, before it offers tasks: forks stay public. True: a thief had requested them. A thief that finds all of
  /// the offer taken requests anew. edge cactus-4: seq_cst, before the look for sleepers.
  bool answer() noexcept { return word_.exchange(still_requested(), std::memory_order_seq_cst) == fiber_requested(); }
  /// Owner, for workers that search and are awake: they request by themselves where they find nothing. The next forks
  /// are public. relaxed: a worker on its way to sleep requests, and that is kept.
  void make_public() noexcept {
    fiber_task** now = word_.load(std::memory_order_relaxed);
    while (now < still_requested() &&
           !word_.compare_exchange_weak(now, still_requested(), std::memory_order_relaxed)) {
    }
  }
  /// Owner: takes the request away; places from this one on are private. edge cactus-4: as answer().
  void make_quiet(fiber_task** first_private) noexcept {
    static_cast<void>(word_.exchange(quiet_at(first_private), std::memory_order_seq_cst));
  }
  /// Before the worker is known to others. relaxed: they find it by a release.
  void begin(split_state s, fiber_task** first_private) noexcept {
    word_.store(s == split_state::quiet ? quiet_at(first_private) : still_requested(), std::memory_order_relaxed);
  }
  /// Owner, for checks: does each join below this place take its slow path? relaxed: its own store, or a request.
  bool is_quiet_at_or_above(fiber_task** first_private) const noexcept {
    fiber_task** const now = word_.load(std::memory_order_relaxed);
    return now == first_private || now >= still_requested();
  }

 private:
  /// With forced steals each fork takes its slow path.
  static fiber_task** quiet_at(fiber_task** place) noexcept {
    return runtime::k_each_fork_offers ? still_requested() : place;
  }
};

/// The number of places below `tail` that their thieves have read.
class places_read {
 public:
  /// Thief, which has read the place that it took. edge cactus-2: release, the place is the owner's to write again.
  void add_one() noexcept { count_.fetch_add(1, std::memory_order_release); }
  /// Owner. edge cactus-2: acquire.
  [[nodiscard]] bool are(std::uint32_t tail) const noexcept { return count_.load(std::memory_order_acquire) == tail; }
  /// Owner, when all are read. relaxed: the next place is published after it.
  void begin_anew() noexcept { count_.store(0, std::memory_order_relaxed); }
  /// For checks. acquire: the tail that is read after it counts these.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace filch::inline FILCH_ABI::detail
