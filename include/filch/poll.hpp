// poll: a word from long tasks.
#pragma once

#include <filch/default_scheduler.hpp>

namespace filch::inline FILCH_ABI {

/// For tasks that run long without a fork: under `channel`, workers that ask for tasks are answered here, with what
/// was forked before and waits for its join, else passed on. Under other schedulers nothing is to be done.
/// filch::for_index looks by itself. Nothing runs in it, nothing is thrown, and the thread stays. A load and a
/// compare where nobody asks.
template <scheduler S = default_scheduler> void poll() noexcept {
  if constexpr (requires { S::poll(); }) S::poll();
}

}  // namespace filch::inline FILCH_ABI
