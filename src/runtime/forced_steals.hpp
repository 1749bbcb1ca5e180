// FILCH_FORCE_STEAL, a build for tests: one constant for each decision that it changes in schedulers with fibers.
// They read their decision, not the build. fiber/forced_steals.hpp hands over unstolen tasks.
#pragma once

namespace filch::runtime {

#if defined(FILCH_FORCE_STEAL)
inline constexpr bool k_steals_are_forced = true;
#else
inline constexpr bool k_steals_are_forced = false;
#endif

/// Each fork takes its slow path, and offers all tasks that it may.
inline constexpr bool k_each_fork_offers = k_steals_are_forced;
/// The cost of steals has no limit: each join is one, of tiny tasks too.
inline constexpr bool k_steals_at_any_pace = k_steals_are_forced;
/// An owner takes none of its own offers: it hands them over.
inline constexpr bool k_owners_take_offers = !k_steals_are_forced;

}  // namespace filch::runtime
