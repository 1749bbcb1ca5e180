// The counters of a pool of filch::implicit.
#pragma once

#include <filch/fiber_stats.hpp>

namespace filch::inline FILCH_ABI {

/// The fields of fiber_stats, and that of `implicit` alone.
struct implicit_stats : fiber_stats {
  std::uint64_t walks = 0;  ///< walks to join frames, those that found nothing to offer included
};

}  // namespace filch::inline FILCH_ABI
