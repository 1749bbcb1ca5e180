// The number of calls in a pool, and whether its destructor waits for them. Protocol: idle.md, edge entry-4.
#pragma once

#include "os/linux/futex.hpp"

#include <atomic>
#include <cstdint>

namespace filch::runtime {

class caller_count {
 public:
  /// Caller, before anything else. relaxed: the pool is there until it leaves.
  void enter() noexcept { word_.fetch_add(1, std::memory_order_relaxed); }
  /// Caller, after everything else. edge entry-4: release. The pool may be gone afterwards: only the address is used.
  void leave() noexcept {
    if (word_.fetch_sub(1, std::memory_order_release) == (k_is_waited_for | 1)) os::futex_wake(word_);
  }
  /// Caller that is inside: it is counted.
  bool has_any() const noexcept { return (word_.load(std::memory_order_relaxed) & ~k_is_waited_for) != 0; }
  /// Destructor: waits until no caller is inside. False, at once: a caller is, and the destructor may not wait.
  /// edge entry-4: acquire, all that callers did before they left.
  bool wait_for_none(bool may_wait) noexcept {
    for (;;) {
      std::uint32_t const now = word_.fetch_or(k_is_waited_for, std::memory_order_acquire) | k_is_waited_for;
      if (now == k_is_waited_for) return true;
      if (!may_wait) return false;
      os::futex_wait(word_, now);
    }
  }

 private:
  static constexpr std::uint32_t k_is_waited_for = std::uint32_t{1} << 31;

  std::atomic<std::uint32_t> word_{0};  // the number of callers, and k_is_waited_for
};

}  // namespace filch::runtime
