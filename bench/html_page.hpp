// The short table as a page with bar charts.
#pragma once

#include "short_table.hpp"

namespace bench {

/// One file of HTML that loads nothing and runs no script.
std::string html_page(short_table const& t);

}  // namespace bench
