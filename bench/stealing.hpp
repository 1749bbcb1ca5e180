// Steals of `implicit`: their number, their latency, and their cost for victims with and without the return barrier
// (Kumar et al., VEE 2014, figures 2 and 4).
#pragma once

#include "contender.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace bench {

/// One row; figures are those of one run.
struct stealing_row {
  std::string workload;
  std::string size;
  unsigned workers = 1;
  double seconds = 0;  // median
  double forks = 0;
  double steals = 0;
  double failed_steals = 0;
  double walks = 0;
  double walk_ns = 0;               // time of one walk
  double victim_cycles = 0;         // for a steal, with the barrier: several frames are offered at a request
  double victim_cycles_by_one = 0;  // for a steal, without: each steal asks its victim anew

  double steal_ratio() const noexcept { return forks > 0 ? steals / forks : 0; }
  double steal_rate() const noexcept { return seconds > 0 ? steals / seconds : 0; }
  /// How much lower the first is than the second; 1 is all of it.
  double saved() const noexcept { return victim_cycles_by_one > 0 ? 1 - victim_cycles / victim_cycles_by_one : 0; }
};

stealing_row measure_stealing(workload const& w, std::string_view size, contender const& c, unsigned workers,
                              unsigned runs);
nlohmann::ordered_json to_json(stealing_row const& r);
void print_stealing_head();
void print_stealing_row(stealing_row const& r);

/// Latency from the poll that sees a request, 40 joins deep, to the first instruction of the stolen part.
struct steal_latency {
  double asked_ns = 0;            // median: the thief had requested, and searches all the time
  std::optional<double> next_ns;  // median: from the end of one stolen part to the next one of the same offer
  double asleep_ns = 0;           // median: the thief sleeps, its victim forks
};
steal_latency measure_steal_latency(contender const& c);
nlohmann::ordered_json to_json(steal_latency const& l);
void print(steal_latency const& l, std::string_view scheduler);

}  // namespace bench
