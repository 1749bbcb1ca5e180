// FILCH_PROFILE, for the rest of the library: is it asked for, and what is said. record.hpp measures.
#pragma once

#include "runtime/profile/prediction.hpp"
#include "runtime/profile/record.hpp"
#include "runtime/settings.hpp"

#include <functional>

namespace filch::runtime::profile {

/// Reads FILCH_PROFILE. If so, there will be a report when the process ends. Throws setup_error.
bool is_asked_for();
/// From now on, says once on stderr if a measured thread comes through no hook for so long; 0: never.
void watch_progress(unsigned seconds);
/// One line on stderr, once for each scheduler.
void say_not_measured(char const* scheduler);
/// The settings of a pool that can be measured. Calls take more of a stack through hooks, so it is larger. In a child
/// of fork(), which has its parent's settings, no pool is measured.
settings for_measuring(settings s);
/// Runs the calibration; its time is in no figure.
void calibrated_by(std::function<void()> const& calibrate);
/// In cycles, of the own cost of a segment.
void set_uncertainty(double cycles_of_segment) noexcept;
/// For the report's prediction. Cost 0: it could not be measured.
void set_steals(steal_rule rule, cycles cost) noexcept;
struct speedup {
  double times = 1;
  double simulated = 1;  // part of the work, see prediction
  double effort = 0;
};
/// That of the scheduler on so many workers, by simulation.
speedup predicted_speedup(fork_tree const& tree, unsigned workers, double most_effort);

}  // namespace filch::runtime::profile
