// What a rank of a cluster counted.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI {

/// What a rank counted since its cluster was made: exact between runs, a little behind otherwise.
struct cluster_stats {
  std::uint64_t messages = 0;        ///< sent, of every kind but heartbeats
  std::uint64_t requests = 0;        ///< steal requests of this rank
  std::uint64_t forwards = 0;        ///< requests of others that went on to the next rank, or back
  std::uint64_t returns = 0;         ///< requests of this rank that came back in vain
  std::uint64_t answers = 0;         ///< requests of others that were answered with tasks
  std::uint64_t tasks_given = 0;     ///< in those answers
  std::uint64_t bytes_of_tasks = 0;  ///< of those messages
  std::uint64_t waves = 0;           ///< of the termination protocol
};

}  // namespace filch::inline FILCH_ABI
