// The shared words of filch::cactus that installed headers touch. The others: src/schedulers/cactus/words.hpp. Edges:
// src/schedulers/cactus/protocol.md.
#pragma once

#include <filch/detail/fiber.hpp>

#include <atomic>

namespace filch::inline FILCH_ABI::detail {

/// The tag of this scheduler's workers.
inline constexpr fiber_kind k_cactus_tag = fiber_tag(0);

/// The word `split` of a worker: one compare with a fork's place asks whether the place is public, and whether a
/// thief wants more tasks.
///
///   quiet            the first private place; no thief wants more
///   still requested  above every place: a request was answered, and forks stay public
///   requested        above that: a thief wants tasks
class cactus_split {
 public:
  FILCH_INLINE explicit cactus_split(fiber_worker& w) noexcept : word_(w.split) {}

  /// Owner: must a fork or a join at this place take its slow path? relaxed: whether the place is public is known
  /// from the owner's own stores; a request may as well be seen at the next fork.
  FILCH_INLINE bool is_above(fiber_task** place) const noexcept {
    return place < word_.load(std::memory_order_relaxed);
  }
  /// Owner. relaxed: a hint; what it leads to synchronises.
  bool is_requested() const noexcept { return word_.load(std::memory_order_relaxed) == fiber_requested(); }
  /// Owner: is the next fork public, wherever its place is? relaxed, as is_requested().
  bool is_public() const noexcept { return word_.load(std::memory_order_relaxed) >= still_requested(); }

 protected:
  static fiber_task** still_requested() noexcept { return fiber_requested() - 1; }

  std::atomic<fiber_task**>& word_;
};

/// The number of a scope's tasks that have begun: the next one to run has this number.
class cactus_begun {
 public:
  /// Taker of a ticket. edge cactus-5: acquire, the task; release, the tasks known here, to later takers of tickets.
  unsigned begin_next() noexcept { return begun_.fetch_add(1, std::memory_order_acq_rel); }
  /// Owner, while every ticket that was ever public is taken back, so that no thief has one. relaxed: seen with the
  /// ticket that is public next.
  unsigned begin_next_alone() noexcept {
    unsigned const number = begun_.load(std::memory_order_relaxed);
    begun_.store(number + 1, std::memory_order_relaxed);
    return number;
  }
  /// Owner, when all tasks have ended. relaxed: the next ticket is pushed after it.
  void begin_anew() noexcept { begun_.store(0, std::memory_order_relaxed); }
  /// Owner. relaxed: a hint.
  unsigned count() const noexcept { return begun_.load(std::memory_order_relaxed); }

 private:
  std::atomic<unsigned> begun_{0};
};

}  // namespace filch::inline FILCH_ABI::detail
