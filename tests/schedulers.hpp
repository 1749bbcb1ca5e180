// The schedulers that the typed suite runs over, and the traits of those that differ from the rule.
#pragma once

#include "scale.hpp"

#include <gtest/gtest.h>
#include <filch/filch.hpp>

#include <cstdint>
#include <string>

namespace filch_test {

#if defined(FILCH_TEST_SCHEDULERS)  // the build names them
using all_schedulers = ::testing::Types<FILCH_TEST_SCHEDULERS>;
#else
using all_schedulers = ::testing::Types<FILCH_SCHEDULERS>;
#endif

/// The schedulers for tests of algorithms.
#if defined(FILCH_TEST_ALGORITHMS)
using algorithm_schedulers = ::testing::Types<FILCH_TEST_ALGORITHMS>;
#else
using algorithm_schedulers = all_schedulers;
#endif

/// The schedulers whose code may continue on another thread after a join.
#if FILCH_HAS_CACTUS
using moving_schedulers = ::testing::Types<filch::cactus, filch::implicit>;
static_assert(filch::detail::k_cactus_tag != filch::detail::k_implicit_tag);
#endif

/// Does a second worker ever run a part of what the first one forks?
template <class S> inline constexpr bool steals = true;
template <> inline constexpr bool steals<filch::serial> = false;

/// Does every unstolen side of a join run as a stolen one?
template <class S> inline constexpr bool steals_are_forced = false;
#if FILCH_HAS_CACTUS
template <> inline constexpr bool steals_are_forced<filch::cactus> = FILCH_TEST_FORCED;
template <> inline constexpr bool steals_are_forced<filch::implicit> = FILCH_TEST_FORCED;
#endif

/// Does sync() tell the scope's tasks from others that are newer?
template <class S> inline constexpr bool finds_its_own_tasks = false;
#if FILCH_HAS_CACTUS
template <> inline constexpr bool finds_its_own_tasks<filch::implicit> = true;
#endif

/// May the code after a join be on another thread than the code before it?
template <class S> inline constexpr bool migrates = false;
#if FILCH_HAS_CACTUS
template <> inline constexpr bool migrates<filch::cactus> = true;
template <> inline constexpr bool migrates<filch::implicit> = true;
#endif

/// Is the caller outside until it enters a pool?
template <class S> inline constexpr bool has_an_outside = true;
template <> inline constexpr bool has_an_outside<filch::serial> = false;

/// Do its pools bring stacks of their own, of pool_options::stack_size?
template <class S> inline constexpr bool has_stacks = true;
template <> inline constexpr bool has_stacks<filch::serial> = false;

/// Names in the output: join_results/direct.
struct scheduler_names {
  template <class S> static std::string GetName(int) { return std::string(S::name); }
};

/// Steals of the pool so far.
template <class S> std::uint64_t steals_of(typename S::pool const& pool) {
  if constexpr (steals<S>) {
    return pool.stats().steals;
  } else {
    return 0;
  }
}

}  // namespace filch_test
