// poll: where a long task serves thieves.
#pragma once

#include <filch/default_scheduler.hpp>

namespace filch::inline FILCH_ABI {

/// For tasks that run long without a fork. Workers that have requested tasks get those that were forked before and
/// wait for their join. Under a scheduler that interrupts such tasks, a poll in time saves the signal.
/// filch::for_index polls by itself. Runs no task, throws nothing, and keeps the thread. Costs what `wanted()` does
/// (see filch::scheduler).
template <scheduler Sched = default_scheduler> void poll() noexcept {
  if constexpr (requires { Sched::poll(); }) Sched::poll();
}

}  // namespace filch::inline FILCH_ABI
