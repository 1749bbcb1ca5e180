// The papers. Each function measures, predicts and prints.
#pragma once

#include "report.hpp"
#include "subject.hpp"

#include <string_view>
#include <utility>

namespace bench::papers {

report show_wool(effort const& e);      // K.-F. Faxen, ICPP 2010
report show_fibril(effort const& e);    // C. Yang, J. Mellor-Crummey, SPAA 2016
report show_channels(effort const& e);  // A. Prell, T. Rauber, 2014
report show_trycatch(effort const& e);  // V. Kumar and others, OOPSLA 2012
report show_barriers(effort const& e);  // V. Kumar, S. M. Blackburn, 2014

inline constexpr std::pair<std::string_view, report (*)(effort const&)> k_papers[] = {{"wool", &show_wool},
                                                                                      {"fibril", &show_fibril},
                                                                                      {"channels", &show_channels},
                                                                                      {"trycatch", &show_trycatch},
                                                                                      {"barriers", &show_barriers}};

}  // namespace bench::papers
