// A mutex for code that may change threads at a join.
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI {

/// A mutex that belongs to the code that locked it, not to the thread: after a join another thread may unlock it,
/// which std::mutex forbids. Works with std::lock_guard, std::unique_lock and std::scoped_lock. Not recursive.
///
/// lock() blocks the worker: it runs no other tasks meanwhile (in a library built with FILCH_FORCE_STEAL it does, and
/// may return on another thread). Under `direct` and `channel` a worker that waits in a
/// join runs other tasks on top of it, which would wait for ever for a lock that is held below them: there, hold none
/// across a join. Nothing here throws. Four bytes; a compare-exchange to lock, an exchange to unlock, a few
/// nanoseconds where nobody waits. Design: U. Drepper, Futexes are tricky, 2011, its third mutex.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(mutex const&) = delete;
  mutex& operator=(mutex const&) = delete;

  /// Waits until nobody holds it: spins for about a microsecond, then sleeps.
  void lock() noexcept {
    if (!try_lock()) lock_slow();
  }
  /// False where somebody holds it, who may be the caller.
  bool try_lock() noexcept {
    std::uint32_t expected = k_free;
    // edge mutex-1: acquire, what was done under the lock before. relaxed: a failure orders nothing.
    return state_.compare_exchange_strong(expected, k_held, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// By whoever goes on with the code that locked it, on any thread.
  void unlock() noexcept {
    // edge mutex-1: release, what was done under the lock. *this may be gone.
    if (state_.exchange(k_free, std::memory_order_release) == k_awaited) [[unlikely]]
      wake_one(state_);
  }

 private:
  // Nobody holds it; somebody does; somebody does, and others may sleep until it is free.
  enum : std::uint32_t { k_free, k_held, k_awaited };

  // in src/runtime/mutex.cpp
  FILCH_API void lock_slow() noexcept;
  FILCH_API static void wake_one(std::atomic<std::uint32_t>& state) noexcept;

  std::atomic<std::uint32_t> state_{k_free};
};

}  // namespace filch::inline FILCH_ABI
