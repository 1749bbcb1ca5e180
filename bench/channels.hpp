// Figures 3, 4 and 5 of A. Prell, T. Rauber, Channel-based Work Stealing, 2014, as tables: `channel` and `direct` in
// turn, by how many tasks an answer to a steal request holds, and with and without polls in long tasks.
#pragma once

#include "measure.hpp"
#include "program.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

/// One way to run a workload; counts are those of one run.
struct channels_row {
  std::string workload;
  std::string size;
  unsigned workers = 1;
  std::string way;
  double seconds = 0;    // median, like all ratios
  double speedup = 0;    // serial over this
  double of_ideal = 0;   // the speed-up, as a part of that of serial copies side by side
  double to_direct = 0;  // this over direct's
  double steals = 0;
  double requests = 0;
  double forwards = 0;
  double returns = 0;
  double updates = 0;
  double tasks_per_answer = 0;  // zero: no answers
};

/// NAME=SIZE of each workload of figure 3, 4 or 5, at published sizes; quick: in runs of about a second.
std::vector<std::string> channels_workloads(std::string_view figure, bool quick);

/// The contenders measured against each other.
struct channels_contenders {
  contender const& direct;
  filch::victim_order victims;
  bool early_requests;
};

/// `m` measures the workload at the size.
std::vector<channels_row> measure_channels(meter& m, sized_workload const& w, channels_contenders const& c,
                                           unsigned workers, unsigned turns);
nlohmann::ordered_json to_json(channels_row const& r);
void print_channels_head();
void print_channels_row(channels_row const& r);
/// The geometric means over the workloads of time over direct's, a line for each way and number of workers.
void print_channels_means(std::vector<channels_row> const& rows);

}  // namespace bench
