// The counters that the pools of all schedulers have.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI {

/// Sums over all workers since the pool was made. Workers continue while they are read: exact when the pool is idle,
/// a little behind otherwise. FILCH_STATS=1 prints most of them for each worker when the process ends.
///
/// A counter that a scheduler does not have stays 0. The pools of `channel`, `cactus` and `implicit` have these
/// fields, and their own: channel_stats, fiber_stats, implicit_stats.
///
/// A back-off is, under `direct`, a task that a thief claimed and gave back after the re-check of `bot`; under
/// `channel`, an answer that its owner took back before the thief looked; under `cactus` and `implicit`, a task that
/// the thief lost to the owner or another thief. Detached tasks of `channel` are no steals.
struct pool_stats {
  std::uint64_t forks = 0;          ///< under `direct` and `channel`, if the library is built with FILCH_COUNT_FORKS
  std::uint64_t steals = 0;         ///< tasks taken from another worker and run, leapfrogs included
  std::uint64_t failed_steals = 0;  ///< looks around all victims that brought nothing
  std::uint64_t backoffs = 0;       ///< back-offs of thieves: see above
  std::uint64_t leapfrogs = 0;      ///< under `direct` and `channel`: steals made while waiting in a join
  std::uint64_t publications = 0;   ///< times that an owner made tasks public on request; under `channel`, answers
  std::uint64_t sleeps = 0;         ///< times that a worker went to sleep
  std::uint64_t wakeups = 0;        ///< times that a worker woke a sleeping one
  std::uint64_t suspensions = 0;    ///< under `cactus` and `implicit`: joins that gave up their stack
  std::uint64_t give_backs = 0;     ///< times that pages of a stack were returned to the system
  std::uint64_t page_faults = 0;    ///< minor page faults of the whole process since the pool was made
  std::size_t stack_bytes = 0;      ///< bytes of stack that are reserved for each worker
};

}  // namespace filch::inline FILCH_ABI
