// Settings of a pool of filch::implicit.
#pragma once

#include <filch/pool_options.hpp>

namespace filch::inline FILCH_ABI {

/// The fields of pool_options, and that of `implicit` alone.
struct implicit_options {
  /// See pool_options.
  unsigned workers = 0;
  /// See pool_options.
  std::size_t stack_size = 0;
  /// See pool_options.
  bool pin = false;
  /// See pool_options.
  give_back_policy stack_give_back = give_back_policy::from_environment;
  /// Interrupt workers that do not fork by SIGURG. Without it, what such a worker holds waits for its next fork or
  /// `filch::poll`, and nothing is done to the signal: for programs that take it from signalfd or sigwait, or whose
  /// waits in the system may not end early. FILCH_INTERRUPTS=0 does the same for all pools (docs/signals.md).
  bool interrupts = true;
};

}  // namespace filch::inline FILCH_ABI
