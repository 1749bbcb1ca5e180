// Functions and source lines of code addresses, by addr2line where it is installed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace filch::runtime {

/// A file with code of this process, and the difference between its addresses here and in the file.
struct object_file {
  std::string path;
  std::uintptr_t bias = 0;
};
/// The one around an address. Its path is empty if there is none.
object_file object_file_of(std::uintptr_t at);

/// A function at an address, and where in it: an inlined one, or the one around it.
struct code_frame {
  std::string function;
  std::string line;
};
/// By address, the innermost frame first.
using known_frames = std::map<std::uintptr_t, std::vector<code_frame>>;

/// Adds the frames at these addresses of one object file to `known`. Starts a child process.
void look_up_frames(object_file const& of, std::vector<std::uintptr_t> const& at, known_frames& known);

}  // namespace filch::runtime
