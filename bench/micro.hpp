// Figures that are no workloads: flat and greedy joins, entering, idling.
#pragma once

#include "contender.hpp"

#include <vector>

namespace bench {

/// For contenders that are Filch's own and have workers.
void run_micro(std::vector<contender> const& contenders, bool as_json);

}  // namespace bench
