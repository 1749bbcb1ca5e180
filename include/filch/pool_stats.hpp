// The counters of a pool's workers.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI {

/// Sums over all workers since the pool was made. Workers continue while they are read: exact when the pool is idle,
/// a little behind otherwise. FILCH_STATS=1 prints most of them for each worker when the process ends.
///
/// What a scheduler does not have stays 0: leapfrogs are of `direct` and `channel`; suspensions, give-backs and
/// numbers of stacks are of `cactus` and `implicit`; walks and cycles are of `implicit`; requests and what follows
/// them are of `channel`, whose publications are answers to requests. A back-off is, under `direct`, a task that a
/// thief claimed and gave back after the re-check of `bot`; under `channel`, an answer that its owner took back
/// before the thief looked; under `cactus` and `implicit`, one that it lost to the owner or another thief. Detached
/// tasks of `channel` are no steals.
struct pool_stats {
  std::uint64_t forks = 0;          ///< of `direct`, `channel`, where the library is built with FILCH_COUNT_FORKS
  std::uint64_t steals = 0;         ///< tasks taken from another worker and run, leapfrogs included
  std::uint64_t failed_steals = 0;  ///< looks around all victims that brought nothing
  std::uint64_t backoffs = 0;       ///< of thieves: see above
  std::uint64_t leapfrogs = 0;      ///< steals made while waiting in a join; under `direct` from the thief waited for
  std::uint64_t publications = 0;   ///< times that an owner made tasks public because a thief asked
  std::uint64_t sleeps = 0;         ///< times that a worker went to sleep
  std::uint64_t wakeups = 0;        ///< times that a worker woke a sleeping one
  std::uint64_t suspensions = 0;    ///< joins that gave up their stack because a thief was not done
  std::uint64_t give_backs = 0;     ///< times that pages of a stack were returned to the system
  std::uint64_t walks = 0;          ///< to join frames, those that found nothing to offer included
  std::uint64_t requests = 0;       ///< of `channel`: steal requests sent, to one victim or to all
  std::uint64_t forwards = 0;       ///< of `channel`: times that a victim with nothing to give passed a request on
  std::uint64_t returns = 0;        ///< of `channel`: requests that came back to their thief
  std::uint64_t updates = 0;        ///< of `channel`: times that a worker was counted since it gets detached tasks
  std::uint64_t tasks_sent = 0;     ///< of `channel`: tasks in the answers, of which `publications` is the number
  std::uint64_t page_faults = 0;    ///< minor ones, of the whole process, since the pool was made
  std::size_t stacks_in_use = 0;    ///< with a fiber on them, or at hand for one: all but the free ones
  std::size_t stacks_peak = 0;      ///< the most of them at once
  std::size_t kept_stack_pages = 0;  ///< of stack, for each worker, that are kept though nothing is in them
  std::size_t stack_bytes = 0;       ///< bytes of stack that are reserved for each worker
};

}  // namespace filch::inline FILCH_ABI
