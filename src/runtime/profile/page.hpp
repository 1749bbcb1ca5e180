// The report as a page for a browser. It needs no network.
#pragma once

#include "runtime/profile/summary.hpp"

#include <cstdio>

namespace filch::runtime::profile {

void print_page(std::FILE* to, summary const& s);

}  // namespace filch::runtime::profile
