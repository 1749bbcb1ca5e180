// Pages for browsers, which need no network: the reports of FILCH_PROFILE and FILCH_TRACE.
#pragma once

#include <string>
#include <string_view>

namespace filch::runtime {

/// A page that runs the script on the data.
std::string page_of(std::string_view script, std::string_view data);
/// The program's file name, for titles.
std::string name_of_program();

/// A report's file, by the value of its setting. The program may go to another folder before it is written. %p is the
/// number of the process, and %h the host's name, so that the processes of a job do not write over each other's.
std::string name_of_report(std::string const& value);
/// The file to write that report to, once: report.2.html if another copy of Filch in this process writes report.html.
std::string name_of_own_report(std::string const& name);
/// Is the report printed on stderr instead?
inline bool is_console(std::string_view name) noexcept { return name == "-" || name == "1"; }

}  // namespace filch::runtime
