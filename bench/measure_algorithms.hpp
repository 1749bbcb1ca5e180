// The tables of --algorithms: each algorithm at its sizes, and loops with a heavy tail.
#pragma once

#include "contender.hpp"
#include "readings.hpp"

#include <nlohmann/json.hpp>

namespace bench {

struct sized_algorithm {
  algorithm const* what;
  std::size_t n;
};

struct algorithms_request {
  std::vector<contender const*> contenders;  // peers, too
  std::vector<unsigned> workers;
  unsigned turns = 1;
  bool as_json = false;
};

/// All contenders on all numbers of workers.
std::vector<competitor> competitors_of(algorithms_request const& wanted, std::vector<unsigned> const& workers);

/// Prints a table, or returns what JSON shows.
nlohmann::ordered_json measure_sizes(std::vector<sized_algorithm> const& rows, algorithms_request const& wanted);
nlohmann::ordered_json measure_tails(std::vector<sized_algorithm> const& rows, algorithms_request const& wanted);

}  // namespace bench
