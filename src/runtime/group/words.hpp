// The words of a task group that threads share: the lock and the counts of a list of tasks, the waiters, the request
// to cancel. A method is a transition, named after its actor. Protocol: ../task_groups.md.
#pragma once

#include "runtime/spin.hpp"

#include <atomic>
#include <cstdint>

namespace filch::runtime {

/// Held for some instructions. A holder that the system preempts makes others yield.
class short_lock {
 public:
  void lock() noexcept {
    // edge group-1: acquire, what the holder before did.
    for (spin_wait spin; is_held_.exchange(true, std::memory_order_acquire); spin.once()) {
    }
  }
  /// edge group-1: release. The lock's owner may be gone right after.
  void unlock() noexcept { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

/// A count that holders of a lock change and anyone reads.
class shared_count {
 public:
  /// Holder. edge group-2, group-3: seq_cst.
  void set(std::uint64_t n) noexcept { count_.store(n, std::memory_order_seq_cst); }
  void add_one() noexcept { set(own() + 1); }
  /// Holder. relaxed: the lock orders it.
  std::uint64_t own() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Anyone. edge group-2, group-3: seq_cst.
  std::uint64_t get() const noexcept { return count_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

/// Adders that still wake a worker for their task, which may be over.
class wakers_word {
 public:
  /// Adder, holder of its list's lock. relaxed: the lock orders it.
  void enter() noexcept { wakers_.fetch_add(1, std::memory_order_relaxed); }
  /// Adder, its last touch of the group and the pool. edge group-7: release.
  void leave() noexcept { wakers_.fetch_sub(1, std::memory_order_release); }
  /// The group's end, after it had the lock. edge group-7: acquire.
  bool any() const noexcept { return wakers_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<std::uint32_t> wakers_{0};
};

/// Threads that sleep in wait(), and the word on which they do.
class waiters_word {
 public:
  /// Waiter: before its last look. Returns what the word is. edge group-3: seq_cst.
  std::uint32_t announce() noexcept {
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    return changes_.load(std::memory_order_seq_cst);
  }
  void retract() noexcept {
    waiters_.fetch_sub(1, std::memory_order_relaxed);
  }  // relaxed: at worst a wake-up in vain
  /// After a task was added or is over. edge group-3: seq_cst.
  bool anybody() const noexcept { return waiters_.load(std::memory_order_seq_cst) != 0; }
  /// edge group-3: release, the counts, to a waiter that reads the new value and sleeps on it.
  void change() noexcept { changes_.fetch_add(1, std::memory_order_release); }
  /// For the system calls that sleep and wake.
  std::atomic<std::uint32_t>& futex() noexcept { return changes_; }

 private:
  std::atomic<std::uint32_t> waiters_{0};
  std::atomic<std::uint32_t> changes_{0};
};

/// Calls of run() that run their task at once, in all threads.
class at_once_count {
 public:
  /// run(), before its task. edge group-2: seq_cst.
  void begin() noexcept { calls_.fetch_add(1, std::memory_order_seq_cst); }
  /// After it, before it looks for waiters. edge group-2, group-3: seq_cst.
  void end() noexcept { calls_.fetch_sub(1, std::memory_order_seq_cst); }
  /// Anyone. edge group-2, group-3: seq_cst.
  int get() const noexcept { return calls_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<int> calls_{0};
};

/// Which lists of a pool's open groups are not empty: a bit for each.
class open_lists {
 public:
  static constexpr unsigned k_lists = 16;
  /// Holders of that list's lock. True: no other list has any. edge group-2, group-3: seq_cst.
  bool set(unsigned number) noexcept { return bits_.fetch_or(1u << number, std::memory_order_seq_cst) == 0; }
  bool clear(unsigned number) noexcept {
    return bits_.fetch_and(~(1u << number), std::memory_order_seq_cst) == 1u << number;
  }
  /// Anyone. edge group-2, group-3: seq_cst.
  bool any() const noexcept { return get() != 0; }
  std::uint32_t get() const noexcept { return bits_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint32_t> bits_{0};
};

/// A hint that threads set and read without an order.
template <class Value> class hint_word {
 public:
  void set(Value to) noexcept { value_.store(to, std::memory_order_relaxed); }
  Value get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Value> value_{};
};

}  // namespace filch::runtime
