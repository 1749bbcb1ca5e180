// The counters of a pool of filch::cactus, and those that a pool of filch::implicit has besides its own.
#pragma once

#include <filch/pool_stats.hpp>

namespace filch::inline FILCH_ABI {

/// The fields of pool_stats, and those of the pool's stacks.
struct fiber_stats : pool_stats {
  std::size_t stacks_in_use = 0;     ///< stacks with a fiber on them, or at hand for one: all but the free ones
  std::size_t stacks_peak = 0;       ///< the most of them at once
  std::size_t kept_stack_pages = 0;  ///< unused pages of stack that are kept for each worker
};

}  // namespace filch::inline FILCH_ABI
