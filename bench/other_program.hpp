// Another program with another contender, for a runtime that can't live in one process with ours.
#pragma once

#include "measure.hpp"
#include "program.hpp"

#include <string_view>
#include <vector>

namespace bench {

/// Its contender; empty: there is no such program for this one.
std::string_view other_contender();
/// Is it built?
bool other_program_is_there();
std::vector<row> from_other_program(sized_workload const& w, unsigned workers, unsigned pairs);

}  // namespace bench
