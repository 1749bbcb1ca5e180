// poll: a word from long tasks.
#pragma once

#include <filch/default_scheduler.hpp>

namespace filch::inline FILCH_ABI {

/// For tasks that run long without a fork: workers that ask for tasks are answered here, with what was forked before
/// and waits for its join (under `channel`, else passed on). Under `implicit` such tasks are interrupted soon; a poll
/// saves the signal. filch::for_index looks by itself. Nothing runs in it, nothing is thrown, and the thread stays.
/// Costs what `wanted()` does (see filch::scheduler).
template <scheduler Sched = default_scheduler> void poll() noexcept {
  if constexpr (requires { Sched::poll(); }) Sched::poll();
}

}  // namespace filch::inline FILCH_ABI
