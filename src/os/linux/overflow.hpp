// Reports a stack overflow in a task in one line, and distinguishes it from other faults.
#pragma once

#include "os/linux/memory.hpp"

namespace filch::os {

/// A stack on which tasks run. The fault handler compares addresses with it. Each thread keeps the stacks that it is
/// on, nested for nested pools.
class guarded_stack {
 public:
  /// The guard is `guard`'s; `bytes` is for the message.
  guarded_stack(reservation const& guard, std::size_t bytes) noexcept : guard_(guard), bytes_(bytes) {}
  guarded_stack(guarded_stack const&) = delete;
  guarded_stack& operator=(guarded_stack const&) = delete;

  /// The calling thread enters the stack as this worker, and leaves it again, last in first out.
  void enter(unsigned worker) noexcept;
  void leave() noexcept;

  /// In the fault handler: reports the fault if it is an overflow of this stack or one further out, or of the tasks
  /// above one.
  static bool report(void const* address) noexcept;

 private:
  reservation const& guard_;
  std::size_t const bytes_;
  unsigned worker_ = 0;
  guarded_stack* outer_ = nullptr;
};

/// Once a process: reports overflows of guarded stacks, and hands every other fault to the handler that was
/// there before, else to the default action.
void install_overflow_handler() noexcept;
/// Gives the calling thread a signal stack, if it has none: without one an overflow can't be reported.
void need_signal_stack() noexcept;

}  // namespace filch::os
