// mutex: a lock for code that may change threads at a join.
#pragma once

#include <filch/detail/platform.hpp>
#if defined(FILCH_RACES)
#include <filch/detail/race_hooks.hpp>
#endif

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI {

/// A mutex that belongs to the code that locked it, not to the thread: after a join another thread may unlock it,
/// which std::mutex forbids. Works with std::lock_guard, std::unique_lock and std::scoped_lock. Not recursive.
///
/// lock() blocks the worker, which runs no other tasks meanwhile. (In a library built with FILCH_FORCE_STEAL it does,
/// and lock() may return on another thread.) Under a scheduler whose workers run tasks on top of a waiting join
/// (docs/waits.md), hold no mutex across a join: a task on top that locks it would wait for ever.
///
/// Nothing here throws. Four bytes. Cost: a compare-exchange to lock and an exchange to unlock, a few nanoseconds if
/// no thread waits. Design: U. Drepper, Futexes are tricky, 2011, its third mutex.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;

  /// Locks it. Waits while it is locked: spins for about a microsecond, then sleeps.
  void lock() noexcept {
    if (!try_lock()) {
      lock_slow();
#if defined(FILCH_RACES)
      detail::race_locked(this);
#endif
    }
  }
  /// Locks it and returns true, or returns false if it is locked (by the caller, too).
  bool try_lock() noexcept {
    std::uint32_t expected = k_free;
    // edge mutex-1: acquire: what was done under the lock before. relaxed: a failure orders nothing.
    bool const is_mine =
        state_.compare_exchange_strong(expected, k_held, std::memory_order_acquire, std::memory_order_relaxed);
#if defined(FILCH_RACES)
    if (is_mine) detail::race_locked(this);
#endif
    return is_mine;
  }
  /// Unlocks it, on any thread: for the code that locked it.
  void unlock() noexcept {
#if defined(FILCH_RACES)
    detail::race_unlocked(this);
#endif
    // edge mutex-1: release: what was done under the lock. *this may be gone.
    if (state_.exchange(k_free, std::memory_order_release) == k_awaited) [[unlikely]]
      wake_one(state_);
  }

 private:
  enum : std::uint32_t {
    k_free,
    k_held,
    k_awaited,  // held, and threads may sleep until it is free
  };

  // in src/runtime/mutex.cpp
  FILCH_API void lock_slow() noexcept;
  FILCH_API static void wake_one(std::atomic<std::uint32_t>& state) noexcept;

  std::atomic<std::uint32_t> state_{k_free};
};

}  // namespace filch::inline FILCH_ABI
