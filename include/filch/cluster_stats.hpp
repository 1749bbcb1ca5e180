// The counters of a rank. The endpoint counts; cluster::stats() returns a copy.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI {

/// Counts of a rank since its cluster was made: exact between runs, a little behind otherwise.
struct cluster_stats {
  std::uint64_t messages = 0;        ///< messages sent, except heartbeats and farewells
  std::uint64_t requests = 0;        ///< steal requests of this rank
  std::uint64_t forwards = 0;        ///< requests of other ranks that it forwarded
  std::uint64_t returns = 0;         ///< requests of this rank that all others refused
  std::uint64_t answers = 0;         ///< requests of other ranks that it answered with tasks
  std::uint64_t tasks_given = 0;     ///< tasks in those answers
  std::uint64_t bytes_of_tasks = 0;  ///< bytes of those answers
  std::uint64_t waves = 0;           ///< waves of the termination protocol, on rank 0
};

}  // namespace filch::inline FILCH_ABI
