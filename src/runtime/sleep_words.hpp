// The words of sleep: for each place, the reason for which its worker sleeps; for a pool, the numbers of sleeping and
// of searching workers. A method is a transition, named after its actor: the worker, or a waker. idle.cpp has the
// steps. Protocol: idle.md.
#pragma once

#include <atomic>
#include <cstdint>

namespace filch::runtime {

/// The state of the worker at a place: awake, or what it waits for.
class sleep_word {
 public:
  static constexpr std::uint32_t k_awake = 0;
  static constexpr std::uint32_t k_for_anything = 1;
  static constexpr std::uint32_t k_for_root = 2;  // for tasks of the call at this place
  static constexpr std::uint32_t k_for_one = 3;   // + the index of the thief waited for

  /// Worker, counted as a sleeper. edge idle-1: seq_cst, before its last look for work.
  void announce(std::uint32_t what) noexcept { word_.store(what, std::memory_order_seq_cst); }
  /// Worker. edge idle-2: acquire, what its waker did before.
  std::uint32_t own() const noexcept { return word_.load(std::memory_order_acquire); }
  /// Waker. edge idle-1: seq_cst, after its offer: a worker that is not seen here finds the offer in its last look.
  std::uint32_t seen() const noexcept { return word_.load(std::memory_order_seq_cst); }
  /// Waker, or the worker itself. True: it makes the word awake. edge idle-2: release, to the woken worker's acquire.
  /// acquire, also of a worker that finds itself woken: it wakes another one for the offer.
  [[nodiscard]] bool make_awake(std::uint32_t what) noexcept {
    return word_.compare_exchange_strong(what, k_awake, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  /// For the system calls that sleep and wake.
  std::atomic<std::uint32_t>& futex() noexcept { return word_; }

 private:
  std::atomic<std::uint32_t> word_{k_awake};
};

/// At least the number of announced words: those for a root, or the others.
class sleeper_count {
 public:
  /// Worker, before it announces itself: the count must never be too low. edge idle-1: seq_cst.
  void add_one() noexcept { count_.fetch_add(1, std::memory_order_seq_cst); }
  /// The worker that made such a word awake. relaxed: a count that is too high for a moment makes wakers look in
  /// vain.
  void take_one_off() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }
  /// Waker. edge idle-1: seq_cst, after its offer.
  std::uint32_t get() const noexcept { return count_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

/// The number of searching workers, awake or asleep.
class searcher_count {
 public:
  /// Worker, or on its behalf. relaxed: a worker that wakes this one, or answers its request, has acquired that.
  void add_one() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Worker. edge idle-3: release, the task that it has taken.
  void take_one_off() noexcept { count_.fetch_sub(1, std::memory_order_release); }
  /// Owner. edge idle-3: acquire, the steals of workers that are no longer counted.
  std::uint32_t get() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace filch::runtime
