// Schedulers against another one, turn by turn.
#pragma once

#include "measure.hpp"
#include "program.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

struct against_row {
  std::string workload;
  std::string size;
  std::string scheduler;
  unsigned workers = 1;
  double seconds = 0;    // median
  double to_serial = 0;  // median of the time over the serial program's in the same turn
  interval to_base;      // the same over the base's, with its interval
  double least = 0;      // least time over the base's least
};

/// The base's row, then one for each of the others. `m` measures the workload at the size.
std::vector<against_row> measure_against(meter& m, sized_workload const& w, contender const& base,
                                         std::vector<contender const*> const& others, unsigned workers,
                                         unsigned turns);
nlohmann::ordered_json to_json(against_row const& r);
void print_against_head(std::string_view base);
void print_against_row(against_row const& r);
/// The geometric means over the workloads of time over the base's, a line for each scheduler and number of workers.
void print_against_means(std::vector<against_row> const& rows, std::string_view base);

}  // namespace bench
