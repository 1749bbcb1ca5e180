// The words that several threads of a checked program touch: which thread is checked, and short locks.
#pragma once

#include "os/linux/futex.hpp"

#include <atomic>
#include <cstdint>

namespace filch::races {

/// The thread whose accesses are checked now, by the address of a thread-local of its own; null if none is.
class checked_thread {
 public:
  /// A thread enters a pool, outside of all others. False: another thread is checked.
  bool take(void const* thread) noexcept {
    void const* none = nullptr;
    // edge races-1: acquire, all that the thread before has written to the tables. relaxed: a failure orders nothing.
    return thread_.compare_exchange_strong(none, thread, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// The checked thread leaves its last pool.
  void leave() noexcept {
    thread_.store(nullptr, std::memory_order_release);  // edge races-1: release, the tables
  }

 private:
  std::atomic<void const*> thread_{nullptr};
};

/// A lock for a few instructions, which may be taken before any constructor has run.
class short_lock {
 public:
  void lock() noexcept {
    // edge races-2: acquire, what was done under the lock before.
    while (held_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() noexcept {
    held_.clear(std::memory_order_release);  // edge races-2: release
  }

 private:
  std::atomic_flag held_;
};

/// The slow path of filch::mutex: locks it. `awaited` is what it holds while threads may sleep; 0, that it is free.
inline void wait_for(std::atomic<std::uint32_t>& word, std::uint32_t awaited) noexcept {
  // edge mutex-1: acquire, what was done under the lock before.
  while (word.exchange(awaited, std::memory_order_acquire) != 0) os::futex_wait(word, awaited);
}

/// Counts of threads that were not checked.
class thread_count {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: read at the end of the process
  unsigned value() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<unsigned> count_{0};
};

}  // namespace filch::races
