// The report of FILCH_PROFILE, when the process ends.
#pragma once

namespace filch::runtime::profile {

/// "1" and "-": a table on stderr. Else a file: a name that ends in .csv is a table for programs, .html a page for a
/// browser.
void report_goes_to(char const* target);
/// Sums the records of all threads up, and writes the report. For std::atexit.
void report();

}  // namespace filch::runtime::profile
