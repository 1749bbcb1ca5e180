// The counters of a pool of filch::channel.
#pragma once

#include <filch/pool_stats.hpp>

namespace filch::inline FILCH_ABI {

/// The fields of pool_stats, and those of `channel` alone.
struct channel_stats : pool_stats {
  std::uint64_t requests = 0;    ///< steal requests sent, to one victim or to all
  std::uint64_t forwards = 0;    ///< times that a victim with nothing to give passed a request on
  std::uint64_t returns = 0;     ///< requests that came back to their thief
  std::uint64_t updates = 0;     ///< times that a call counter rose for a worker
  std::uint64_t tasks_sent = 0;  ///< tasks in the answers, of which `publications` is the number
};

}  // namespace filch::inline FILCH_ABI
