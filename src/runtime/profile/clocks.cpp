// Clocks of FILCH_PROFILE: the rate of the cycle counter, processor times, and what the hooks cost. record.cpp calls
// it at the first run.
#include "runtime/profile/clocks.hpp"

#include <time.h>

#include <chrono>
#include <limits>

namespace filch::runtime::profile {

constinit calibration calibrated;

namespace {

double nanoseconds_of(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct instant {
  cycles counter;
  double ns;
};

/// Both clocks at one instant: the shortest of some tries.
instant both_clocks() noexcept {
  instant best{};
  cycles window = std::numeric_limits<cycles>::max();
  for (int i = 0; i < 9; ++i) {
    cycles const before = time_stamp();
    double const ns = nanoseconds_of(CLOCK_MONOTONIC);
    cycles const after = time_stamp();
    if (after - before >= window) continue;
    window = after - before;
    best = {before + window / 2, ns};
  }
  return best;
}

}  // namespace

cycles own_time() noexcept {
  return static_cast<cycles>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) * calibrated.cycles_per_ns);
}

double process_time() noexcept { return nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) / 1e9; }

void measure_rate() noexcept {
  constexpr double k_long_enough = 20e6;
  instant const begin = both_clocks();
  instant end = begin;
  while (end.ns - begin.ns < k_long_enough) end = both_clocks();
  double const rate = static_cast<double>(end.counter - begin.counter) / (end.ns - begin.ns);
  calibrated.cycles_per_ns = rate;
  calibrated.looks_after = static_cast<cycles>(20e3 * rate);
  calibrated.looks_at_least = static_cast<cycles>(10e6 * rate);
}

}  // namespace filch::runtime::profile
