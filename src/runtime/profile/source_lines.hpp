// Source lines of code addresses, by addr2line where it is installed.
#pragma once

#include "runtime/profile/place.hpp"

#include <string>
#include <vector>

namespace filch::runtime::profile {

/// The lines of a fork. Without debugging information: functions, or offsets in the file.
struct source_lines {
  std::string join;  // the line that forks and joins
  std::string task;  // the first line of the task
};

/// For each place, in order. Starts a child process for each object file.
std::vector<source_lines> source_lines_of(std::vector<place const*> const& places);

}  // namespace filch::runtime::profile
