// Telling a stack overflow in a task from any other fault, in one line.
#pragma once

#include "os/linux/memory.hpp"

namespace filch::os {

/// The stack on which the calling thread runs tasks: what the fault handler compares an address with.
/// Kept per thread, nested for nested pools.
class guarded_stack {
 public:
  /// The guard is `guard`'s; `bytes` and `worker` are for the message.
  guarded_stack(reservation const& guard, std::size_t bytes, unsigned worker) noexcept;
  guarded_stack(guarded_stack const&) = delete;
  guarded_stack& operator=(guarded_stack const&) = delete;
  ~guarded_stack();

  reservation const& guard;
  std::size_t const bytes;
  unsigned const worker;
  guarded_stack const* const outer;
};

/// Once a process: reports overflows of guarded stacks, and hands every other fault to the handler that was
/// there before, else to the default action.
void install_overflow_handler() noexcept;
/// Gives the calling thread a signal stack, if it has none: without one an overflow can't be reported.
void need_signal_stack() noexcept;

}  // namespace filch::os
