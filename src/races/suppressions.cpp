// Suppressions: a line of the file FILCH_RACES_SUPPRESSIONS is a pattern with * and ?. It hides a race of which a
// function, a file, or the variable matches. A line that begins with # is a comment.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "races/finding.hpp"

namespace filch::races {
namespace {

/// Does the pattern match a part of the text?
bool matches(char const* pattern, char const* text) noexcept {
  if (*pattern == 0) return true;
  if (*pattern == '*') {
    do {
      if (matches(pattern + 1, text)) return true;
    } while (*text++ != 0);
    return false;
  }
  return *text != 0 && (*pattern == '?' || *pattern == *text) && matches(pattern + 1, text + 1);
}

std::vector<std::string> read_patterns() {
  std::vector<std::string> all;
  char const* const name = std::getenv("FILCH_RACES_SUPPRESSIONS");
  if (name == nullptr) return all;
  std::ifstream file(name);
  if (!file) std::fprintf(stderr, "filch: FILCH_RACES_SUPPRESSIONS=%s: the file can't be read\n", name);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') all.push_back("*" + line);
  }
  return all;
}

}  // namespace

bool is_suppressed(finding const& f) {
  static auto const& patterns =
      *new std::vector<std::string>(read_patterns());  // never destroyed: races are found until the end
  if (patterns.empty()) return false;
  std::vector<std::string> texts{variable_at(f.at)};
  for (auto const* calls : {&f.earlier.calls, &f.later.calls}) {
    for (auto const& frame : frames_of(*calls)) {
      texts.push_back(frame.function);
      texts.push_back(frame.file);
    }
  }
  for (auto const& pattern : patterns) {
    for (auto const& text : texts) {
      if (matches(pattern.c_str(), text.c_str())) return true;
    }
  }
  return false;
}

}  // namespace filch::races
