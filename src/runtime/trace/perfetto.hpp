// A trace as a file that Perfetto (ui.perfetto.dev) shows.
#pragma once

#include "runtime/trace/summary.hpp"

#include <cstdio>

namespace filch::runtime::trace {

/// A track for each place, flows from victims to thieves and from suspended to resumed fibers, and counters. False:
/// the file could not be written.
bool write_perfetto(std::FILE* to, std::vector<story> const& pools, code_names const& names, time_scale const& scale);

}  // namespace filch::runtime::trace
