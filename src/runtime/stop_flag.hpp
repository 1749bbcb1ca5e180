// The flag that ends a worker's loop: at a pool's end, for a stand-in, after a caller's own call. Protocol: idle.md,
// edge entry-1.
#pragma once

#include <atomic>

namespace filch::runtime {

class stop_flag {
 public:
  /// The thread that ends the loop; it wakes the worker afterwards. The flag may be gone then.
  /// edge entry-1: release, what was done before. edge idle-1: seq_cst, before the look whether the worker sleeps.
  void set() noexcept { is_set_.store(true, std::memory_order_seq_cst); }
  /// Worker, in its loop. edge entry-1: acquire.
  bool is_set() const noexcept { return is_set_.load(std::memory_order_acquire); }
  /// Worker, about to sleep. edge idle-1: in order after its announcement.
  bool is_set_before_sleep() const noexcept { return is_set_.load(std::memory_order_seq_cst); }
  /// Before the loop begins. relaxed: under the lock under which others set it.
  void clear() noexcept { is_set_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

}  // namespace filch::runtime
