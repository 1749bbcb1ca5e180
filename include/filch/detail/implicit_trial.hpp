// What measurements may change about `implicit`; not for programs.
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct implicit_trial {
  /// pool_stats::walk_cycles and victim_cycles grow. Costs two reads of the clock at each.
  std::atomic<bool> counts_cycles{false};
  /// A request is answered by so many offers; 0: as many as is usual.
  std::atomic<std::uint32_t> offers_at_most{0};
  /// Who offers something waits until a thief has taken it, as without a return barrier: what is offered and not
  /// taken could not be taken back where its child returns.
  std::atomic<bool> victims_wait{false};
  /// Landing pads are run when their frames are offered, not read by thieves. Those that could be read are read, too.
  std::atomic<bool> runs_pads{false};
  /// Of them, those where the two came to different ends.
  std::atomic<std::uint64_t> misread_pads{0};
};

/// Of the whole process. Set while no pool runs.
FILCH_API implicit_trial& implicit_trials() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
