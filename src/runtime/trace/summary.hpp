// The states of the workers of a pool, in a few figures.
#pragma once

#include "runtime/trace/names.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace filch::runtime::trace {

/// Cycles of the counter, and how many there are in a second.
struct time_scale {
  std::uint64_t begin;  // of the trace
  std::uint64_t end;
  double cycles_per_second;

  double seconds(std::uint64_t cycles) const noexcept { return static_cast<double>(cycles) / cycles_per_second; }
  std::uint64_t nanoseconds_at(std::uint64_t time) const noexcept {
    return time <= begin ? 0 : static_cast<std::uint64_t>(seconds(time - begin) * 1e9);
  }
};

struct summary {
  summary(story const& of, unsigned pool, code_names const& names, time_scale const& scale);

  struct place {
    std::string name;
    double seconds;                           // present
    double busy, searching, waiting, asleep;  // parts of these
    std::uint64_t steals;
  };

  unsigned number;  // of the pool
  std::string scheduler;
  unsigned workers;
  std::size_t events;
  std::uint64_t dropped;
  std::vector<place> places;  // those that were used
  double in_use;              // workers with a task, on average while any had one
  // the longest stretch in which half of the workers or more had no task; 0 s: there was none
  double idle_begin = 0;
  double idle_seconds = 0;
  std::string ran_meanwhile;
};

/// FILCH_TRACE=-
std::string text_of(summary const& s);

}  // namespace filch::runtime::trace
