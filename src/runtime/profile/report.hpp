// The report of FILCH_PROFILE, when the process ends.
#pragma once

namespace filch::runtime::profile {

/// "1" and "-": a table on stderr. A name that ends in .csv: a table for programs. Else the table goes to that file.
void report_goes_to(char const* target);
/// So many seconds of the process were the measuring itself.
void not_of_the_program(double seconds) noexcept;
/// Sums the records of all threads up, and writes the report. For std::atexit.
void report();

}  // namespace filch::runtime::profile
