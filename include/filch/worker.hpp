// Asking where one is.
#pragma once

#include <filch/default_scheduler.hpp>

#include <optional>

namespace filch::inline FILCH_ABI {

/// The index of the worker that runs the caller, 0 to pool.workers() - 1, in the innermost of S's pools;
/// nothing outside all of them. Under `direct` and `serial` it is the same on both sides of a join. No
/// throw; a few nanoseconds.
template <scheduler S = default_scheduler> std::optional<unsigned> current_worker() noexcept {
  if (!S::inside()) return std::nullopt;
  return S::worker_index();
}

}  // namespace filch::inline FILCH_ABI
