// filch-bench paper NAME: the tables and figures of the five papers, theirs beside ours.
#pragma once

#include "options.hpp"

namespace bench {

void show_papers(options const& o);

}  // namespace bench
