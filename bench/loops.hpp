// Loops: with few long iterations, in rounds, and tiny ones.
#pragma once

#include "contender.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

struct loops_request {
  std::vector<contender const*> contenders;
  unsigned workers = 1;
  unsigned turns = 1;
  bool quick = false;  // fewer sizes and calls
  bool as_json = false;
};

/// Long iterations together and spread: workload rows. Prints a table, or returns what JSON shows.
nlohmann::ordered_json measure_rows(loops_request const& wanted);
/// A loop, and a tree of joins over the same iterations: workload rounds.
nlohmann::ordered_json measure_rounds(loops_request const& wanted);
/// Calls of algorithms that take nanoseconds to microseconds.
nlohmann::ordered_json measure_tiny(std::vector<algorithm const*> const& algorithms, loops_request const& wanted);

}  // namespace bench
