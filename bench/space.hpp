// Space: pages of stack, and whether the bound of Yang and Mellor-Crummey, SPAA 2016, theorem 4.2 holds.
#pragma once

#include "contender.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

/// One row; pages of stack are 4 KiB.
struct space_row {
  std::string workload;
  std::string size;
  std::string scheduler;
  unsigned workers = 1;
  std::uint64_t fork_depth = 0;       // D: forks nested in each other, of a serial run
  std::uint64_t serial_pages = 0;     // S1: pages that a run on one worker touches without giving any back
  std::uint64_t kept_pages = 0;       // H
  std::uint64_t peak_pages = 0;       // the most pages at once, by samples during the runs and at each end
  std::uint64_t ungiven_pages = 0;    // all pages that as many runs touched without giving any back
  std::uint64_t stacks_peak = 0;      // stacks at once
  std::int64_t rss_growth_bytes = 0;  // growth of the process from the second run to the last
  std::uint64_t runs = 0;
  double steals = 0, suspensions = 0, give_backs = 0, page_faults = 0;  // a run

  std::uint64_t bound() const noexcept { return workers * (serial_pages + fork_depth + kept_pages); }
  bool holds() const noexcept { return peak_pages <= bound(); }
};

space_row measure_space(workload const& w, std::string_view size, contender const& c, unsigned workers);

nlohmann::ordered_json to_json(space_row const& r);
void print_space_head();
void print_space_row(space_row const& r);

}  // namespace bench
