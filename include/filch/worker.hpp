// Asking where one is.
#pragma once

#include <filch/default_scheduler.hpp>

#include <optional>

namespace filch::inline FILCH_ABI {

/// The index of the worker that runs the caller, 0 to pool.places() - 1, in the innermost of Sched's pools;
/// std::nullopt outside all of them, and in a call past 16 at once of a pool, which runs in order (never under
/// `serial`). Under `direct`, `channel` and `serial`, and inside
/// filch::stay, it is the same on both sides of a join. No throw; a few nanoseconds.
template <scheduler Sched = default_scheduler> std::optional<unsigned> current_worker() noexcept {
  unsigned const index = Sched::worker_index();
  return index == detail::k_no_worker ? std::nullopt : std::optional(index);
}

}  // namespace filch::inline FILCH_ABI
