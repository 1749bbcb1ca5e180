// The clocks of FILCH_PROFILE: cycles for segments, the thread's processor time to take preemption out, and the cost
// of the hooks themselves. A segment is the code of the program that runs between two hooks.
#pragma once

#include "runtime/account.hpp"

#include <array>

namespace filch::runtime::profile {

/// How a segment begins. The way from a hook to the program's code and on to the next hook differs.
enum class segment : unsigned { of_run, of_f, of_g, after_join, of_task, after_sync };
inline constexpr unsigned k_segments = 6;

/// Cycles of an empty segment of each kind, under one scheduler.
using own_costs = std::array<cycles, k_segments>;

/// Burdens, in cycles: this machine's own cost of a steal, Wool's, and Cilkscale's.
inline constexpr unsigned k_burdens = 3;

/// Written before the first measured run; then fixed.
struct calibration {
  double cycles_per_ns = 1;
  std::array<cycles, k_burdens> burdens{2'500, 2'000, 15'000};
  bool steal_is_measured = false;      // else the first burden is an assumption
  double uncertain = 6;                // cycles of each segment
  cycles looks_after = 50'000;         // after so long a segment the thread may have been preempted: about 20 us
  cycles looks_at_least = 20'000'000;  // between two looks at the thread's processor time: about 10 ms

  double ns(cycles c) const noexcept { return static_cast<double>(c) / cycles_per_ns; }
  double seconds(cycles c) const noexcept { return ns(c) / 1e9; }
};
extern constinit calibration calibrated;

/// The processor time of the calling thread, in cycles.
cycles own_time() noexcept;
/// Processor time of the process, in seconds.
double process_time() noexcept;
/// Compares the counter with the system's clock, for 20 ms.
void measure_rate() noexcept;

}  // namespace filch::runtime::profile
