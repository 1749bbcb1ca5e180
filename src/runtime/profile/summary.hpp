// The figures of all threads, summed up for the report.
#pragma once

#include "runtime/profile/record.hpp"
#include "runtime/profile/source_lines.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace filch::runtime::profile {

/// A place, summed up over all threads.
struct place_line {
  place of;
  cycles share = 0;   // of the span
  cycles faster = 0;  // the program's span, were the place twice as fast
  bool has_path = true;
  source_lines at;
};

struct summary {
  record::figures all;
  std::vector<record::figures> threads;  // that had runs
  std::vector<place_line> places;        // the ones with most work, in this order
  std::map<std::string, region> regions;
  double outside_ms = 0;     // processor time outside of pools
  unsigned missing = 0;      // threads in a run
  std::size_t left_out = 0;  // places that are not among these
  std::uint64_t coarse = 0;  // tasks, see fork_tree
  bool has_others = false;   // there are more places than a thread keeps apart
};

/// Looks the places' source lines up.
summary sum_up();
/// So many seconds of the process were the measuring itself.
void not_of_the_program(double seconds) noexcept;

/// Lines below the totals: what a figure is about, and the figure.
std::vector<std::pair<std::string, std::string>> notes_of(summary const& s);

/// Work by span: at least 1.
double ratio(cycles work, cycles span) noexcept;
inline double ms(cycles c) noexcept { return calibrated.ns(c) / 1e6; }
/// Where a burden comes from.
char const* name_of_burden(unsigned number) noexcept;
/// The program's parallelism, were this place twice as fast.
inline double parallelism_if_faster(summary const& s, place_line const& p) noexcept {
  return ratio(s.all.work - p.of.own / 2, p.faster);
}
/// Milliseconds by which this many segments may be wrong.
double uncertain_ms(summary const& s, std::uint64_t segments) noexcept;

}  // namespace filch::runtime::profile
