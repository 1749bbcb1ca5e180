// Which source lines are the program's own, and names of tasks without one, from the function that runs them.
#pragma once

#include <string>
#include <string_view>

namespace filch::runtime::profile {

/// A short name of the task that is run by the function of this demangled name: its closure's, or for a part of a
/// loop "half of a loop" and the program's closure in it.
std::string name_of_task(std::string_view function);
/// Without parameters and the type of the result.
std::string name_of_function(std::string_view function);
/// Is it the name of one of Filch's functions?
bool is_in_filch(std::string_view function);
/// Is it a line of the program's own, "folder/file.cpp:12"? Not of Filch, nor of the standard library.
bool is_own_line(std::string_view line);

}  // namespace filch::runtime::profile
