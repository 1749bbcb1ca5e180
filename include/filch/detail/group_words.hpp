// The word of a future of a filch::task_group: has its task begun, and is it over? A method is a transition, named
// after its actor. Protocol: src/runtime/task_groups.md, "Futures".
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Another number in a child of fork().
FILCH_API unsigned process_generation() noexcept;

class future_word {
 public:
  future_word() noexcept : made_in_(detail::process_generation()) {}
  unsigned made_in() const noexcept { return made_in_; }

  /// A worker that takes the task, or get(): the one that finds it waiting runs it. acquire, release: nothing but the
  /// claim itself; the closure was written before the task was added.
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t expected = k_waiting;
    return word_.compare_exchange_strong(expected, k_begun, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  /// Where get() ran the task: the worker that took it off the list, and get(), leave it. True for the second. edge
  /// group-4: acquire and release.
  [[nodiscard]] bool is_second_to_leave() noexcept { return left_.exchange(true, std::memory_order_acq_rel); }
  /// The task is over. True: a thread sleeps on the word. edge group-5: release, its result.
  [[nodiscard]] bool finish() noexcept { return word_.exchange(k_over, std::memory_order_acq_rel) == k_awaited; }
  /// edge group-5: acquire, the result.
  bool is_over() const noexcept { return word_.load(std::memory_order_acquire) == k_over; }
  /// get(), of a task that has begun. False: it is over.
  [[nodiscard]] bool begin_sleep() noexcept {
    std::uint32_t expected = k_begun;
    return word_.compare_exchange_strong(expected, k_awaited, std::memory_order_acq_rel, std::memory_order_acquire) ||
           expected == k_awaited;
  }
  /// For the system calls that sleep and wake.
  std::atomic<std::uint32_t>& futex() noexcept { return word_; }
  static constexpr std::uint32_t k_awaited = 2;

  /// The task and the future share its result. True: the caller was the last. edge group-5: acquire and release.
  [[nodiscard]] bool drop_owner() noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  static constexpr std::uint32_t k_waiting = 0;
  static constexpr std::uint32_t k_begun = 1;
  static constexpr std::uint32_t k_over = 3;

  std::atomic<std::uint32_t> word_{k_waiting};
  std::atomic<std::uint32_t> owners_{2};
  std::atomic<bool> left_{false};
  unsigned const made_in_;
};

// In src/runtime/group/core.cpp.

/// Waits until the task is over, as in filch::blocking.
FILCH_API void wait_for(future_word&) noexcept;
/// get() of a future without a task: throws std::future_error.
[[noreturn]] FILCH_API void no_future_state();
/// Wakes all that sleep on the word.
FILCH_API void wake_sleepers(future_word&) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
