// The places of a pool: the indices, and which of them a worker is at now. Edges: idle.md.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace filch::runtime {

/// A root: the call that tasks belong to, by the index of its caller's place. A caller's thread works for its own
/// call alone. Tasks of no call have k_any_root.
inline constexpr std::uint16_t k_any_root = 0xffff;

/// Indices of a pool of n workers: 0, the first caller's place; 1 to n - 1, the pool's threads; then the places of
/// further callers; then those of stand-ins, threads that work while others are in filch::blocking.
class places {
 public:
  static constexpr unsigned k_none = ~0u;
  static constexpr unsigned k_callers = 16;
  static constexpr unsigned k_stand_ins_most = 16;

  explicit places(unsigned workers) noexcept
      : threads_(workers - 1), stand_ins_(std::min(workers, k_stand_ins_most)) {}

  /// All indices are below this.
  unsigned all() const noexcept { return threads_ + k_callers + stand_ins_; }
  unsigned threads() const noexcept { return threads_; }
  unsigned stand_ins() const noexcept { return stand_ins_; }
  unsigned stand_in(unsigned number) const noexcept { return index_of(k_callers + number); }
  bool is_callers(unsigned place) const noexcept {
    return place == 0 || (place > threads_ && place < threads_ + k_callers);
  }
  bool is_stand_ins(unsigned place) const noexcept { return place >= stand_in(0); }
  /// The root of the tasks that the worker at that place may take.
  std::uint16_t root_limit(unsigned place) const noexcept {
    return is_callers(place) ? static_cast<std::uint16_t>(place) : k_any_root;
  }

  /// Caller: takes a free place; k_none if there is none.
  unsigned enter() noexcept {
    std::uint64_t taken = bits_in_use();
    for (;;) {
      std::uint64_t const free = ~taken & callers_bits();
      if (free == 0) return k_none;
      std::uint64_t const bit = free & -free;
      // edge entry-2: acquire, from the caller that left the place. seq_cst: before its first offer, for idle-1.
      if (in_use_.compare_exchange_weak(taken, taken | bit, std::memory_order_seq_cst, std::memory_order_relaxed))
        return index_of(static_cast<unsigned>(std::countr_zero(bit)));
    }
  }
  /// Stand-in: its own place.
  void enter_as_stand_in(unsigned place) noexcept { in_use_.fetch_or(bit_of(place), std::memory_order_seq_cst); }
  /// edge entry-2: release, the contents of the place.
  void leave(unsigned place) noexcept { in_use_.fetch_and(~bit_of(place), std::memory_order_seq_cst); }

  /// Caller at its place: a call begins.
  void begin_call(unsigned place) noexcept { next_call(place); }
  /// Caller at its place: its call is over.
  void end_call(unsigned place) noexcept { next_call(place); }
  /// The number of the call at a caller's place. Even: there is none.
  std::uint32_t call_at(unsigned place) const noexcept {
    // relaxed: a number to compare. The call's tasks, or the lock of task_sources, order everything else.
    return calls_[callers_number(place)].load(std::memory_order_relaxed);
  }
  static bool is_call(std::uint32_t number) noexcept { return number % 2 != 0; }
  /// A number below k_callers for each caller's place.
  unsigned callers_number(unsigned place) const noexcept { return bit_number(place); }

  /// Does the place have its memory? Called by the thread that has entered it.
  bool is_made(unsigned place) const noexcept { return is_threads(place) || (bits_made() & bit_of(place)) != 0; }
  /// Called by the thread that has entered it.
  bool is_in_use(unsigned place) const noexcept { return is_threads(place) || (bits_in_use() & bit_of(place)) != 0; }
  /// edge entry-5: release, the place's memory, to those that look at it.
  void make(unsigned place) noexcept { made_.fetch_or(bit_of(place), std::memory_order_seq_cst); }

  /// The number of workers at places in use.
  unsigned in_use() const noexcept { return threads_ + static_cast<unsigned>(std::popcount(bits_in_use())); }
  /// The same without stand-ins: each works while another worker waits in the system.
  unsigned awake_most() const noexcept {
    return threads_ + static_cast<unsigned>(std::popcount(bits_in_use() & callers_bits()));
  }
  /// f(index) for each place in use, from a random one on, until f returns true. Returns whether it did.
  template <class F> bool any_in_use(std::uint64_t random, F&& f) const {
    // edge entry-5: acquire. edge idle-1: seq_cst, in order after the announcement.
    std::uint64_t const mask = in_use_.load(std::memory_order_seq_cst) & made_.load(std::memory_order_seq_cst);
    unsigned const count = threads_ + static_cast<unsigned>(std::popcount(mask));
    if (count == 0) return false;
    auto const first = static_cast<unsigned>(random % count);
    std::uint64_t later = mask;
    for (unsigned i = threads_; i < first; ++i) later &= later - 1;
    for (unsigned i = first; i < threads_; ++i) {
      if (f(i + 1)) return true;
    }
    for (std::uint64_t m = later; m; m &= m - 1) {
      if (f(index_of(static_cast<unsigned>(std::countr_zero(m))))) return true;
    }
    for (unsigned i = 0; i < std::min(first, threads_); ++i) {
      if (f(i + 1)) return true;
    }
    for (std::uint64_t m = mask & ~later; m; m &= m - 1) {
      if (f(index_of(static_cast<unsigned>(std::countr_zero(m))))) return true;
    }
    return false;
  }
  template <class F> void each_in_use(F&& f) const { each_in_use_from(0, f); }
  template <class F> void each_in_use_from(std::uint64_t random, F&& f) const {
    static_cast<void>(any_in_use(random, [&f](unsigned i) {
      f(i);
      return false;
    }));
  }

 private:
  friend struct team_checks;
  bool is_threads(unsigned place) const noexcept { return place != 0 && place <= threads_; }
  void next_call(unsigned place) noexcept {
    calls_[callers_number(place)].store(call_at(place) + 1, std::memory_order_relaxed);  // relaxed: see call_at
  }
  /// relaxed: a hint, but for the bit that the calling thread has set.
  std::uint64_t bits_in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  /// edge entry-5: acquire, the places' memory.
  std::uint64_t bits_made() const noexcept { return made_.load(std::memory_order_acquire); }
  std::uint64_t all_bits() const noexcept { return (std::uint64_t{1} << (k_callers + stand_ins_)) - 1; }
  static std::uint64_t callers_bits() noexcept { return (std::uint64_t{1} << k_callers) - 1; }

  // Bit 0: place 0; the others follow the threads.
  unsigned index_of(unsigned bit) const noexcept { return bit == 0 ? 0 : threads_ + bit; }
  std::uint64_t bit_of(unsigned place) const noexcept { return std::uint64_t{1} << bit_number(place); }
  unsigned bit_number(unsigned place) const noexcept { return place == 0 ? 0 : place - threads_; }

  unsigned const threads_;
  unsigned const stand_ins_;
  alignas(64) std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> made_{0};
  std::array<std::atomic<std::uint32_t>, k_callers> calls_{};
};

}  // namespace filch::runtime
