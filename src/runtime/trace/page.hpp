// FILCH_TRACE=page.html: the summaries of all pools for a browser.
#pragma once

#include "runtime/trace/summary.hpp"

#include <string>
#include <vector>

namespace filch::runtime::trace {

std::string page_of_summaries(std::vector<summary> const& pools);

}  // namespace filch::runtime::trace
