// Names for the code addresses of a trace.
#pragma once

#include "runtime/trace/story.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace filch::runtime::trace {

class code_names {
 public:
  /// Looks the code of all events up: source lines, where there is debugging information and addr2line.
  explicit code_names(std::vector<story> const& of);
  /// "task", if nothing is known of it.
  std::string const& of(address code) const;

 private:
  std::unordered_map<address, std::string> names_;
  std::string const unknown_ = "task";
};

/// "worker 1", "caller 0", "stand-in 19".
std::string name_of_place(pool_name const& of, unsigned place);

}  // namespace filch::runtime::trace
