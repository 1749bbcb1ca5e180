// FILCH_TRACE=-: what the workers of a pool did, in a few lines.
#pragma once

#include "runtime/trace/names.hpp"

#include <string>

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

std::string summary_of(story const& of, unsigned number, code_names const& names, time_scale const& scale);

}  // namespace filch::runtime::trace
