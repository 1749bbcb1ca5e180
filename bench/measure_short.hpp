// The short table: measures it row by row and prints it.
#pragma once

#include "options.hpp"
#include "short_table.hpp"

#include <optional>
#include <vector>

namespace bench {

/// Filch's schedulers on each number of workers, then peers on the most. `all` is the default scheduler, oneTBB and
/// OpenMP. Empty if the request does not fit into the short table: it gets the long one.
std::optional<std::vector<short_column>> short_columns(options const& o, std::vector<unsigned> const& workers);

/// Also writes the files that the options name.
void run_short_table(options const& o, std::vector<short_column> const& columns);

}  // namespace bench
