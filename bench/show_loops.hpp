// --loops and --algorithms, as the command line asks for them.
#pragma once

#include "options.hpp"

namespace bench {

/// Loops with few long iterations, in rounds, and tiny ones.
void show_loops(options const& o);
/// The library's algorithms beside plain loops and peers.
void show_algorithms(options const& o);

}  // namespace bench
