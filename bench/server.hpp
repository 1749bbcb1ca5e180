// A server: threads call a pool at arrivals that do not depend on earlier answers.
#pragma once

#include "contender.hpp"
#include "statistics.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// A row of the measurement: the number of calling threads, their calls, and the load beside them.
struct server_scene {
  double call_microseconds = 0;  // work of a call
  unsigned callers = 1;
  unsigned long_callers = 0;  // threads beside them, each with one long call after the other
  unsigned workers = 1;       // workers of the pool
  double load = 0;     // the callers' work, as a part of what the workers can do; zero: each calls again at once
  double seconds = 0;  // duration of one run

  bool is_open() const noexcept { return load > 0; }
};

/// Medians of the runs; ratios are taken within a run.
struct server_row {
  server_scene scene;
  std::string scheduler;
  bool is_held_to_limits = false;  // one of Filch's schedulers that have workers
  interval p50;                    // seconds from the arrival to the answer
  double p99 = 0;
  double calls_per_second = 0;
  double late = 0;  // part of the arrivals whose calls had not begun at the end of the run
  std::optional<interval> p50_to_base, p99_to_base, calls_to_base;
};

/// The scenes in the order of the table; quick: shorter runs.
std::vector<server_scene> server_scenes(unsigned workers, bool quick);

/// A row for each. `base` is one of them, or null: no ratios.
std::vector<server_row> measure_server(server_scene const& scene, std::vector<contender const*> const& all,
                                       contender const* base, unsigned turns);
nlohmann::ordered_json to_json(server_row const& r);
void print_server_head(std::vector<server_scene> const& scenes, contender const* base);
void print_server_row(server_row const& r);

}  // namespace bench
