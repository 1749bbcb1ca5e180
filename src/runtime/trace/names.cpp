// Names for the code addresses of a trace. perfetto.cpp and summary.cpp ask. The report of FILCH_PROFILE has the same
// places; source_lines.cpp finds their lines.
#include "runtime/trace/names.hpp"

#include "runtime/profile/source_lines.hpp"

#include <algorithm>

namespace filch::runtime::trace {

namespace {

/// Closures may have long names.
std::string short_name(std::string name) {
  constexpr std::size_t k_longest = 80;
  if (name.size() > k_longest) name.replace(k_longest - 3, std::string::npos, "...");
  return name;
}

}  // namespace

code_names::code_names(std::vector<story> const& of) {
  std::vector<address> codes;
  for (story const& each : of) {
    for (event const& e : each.events()) {
      kind const what = packed::what(e.word);
      if (what != kind::takes && what != kind::enters) continue;
      address const code = packed::address(e.word);
      if (code != 0 && names_.try_emplace(code).second) codes.push_back(code);
    }
  }
  std::vector<profile::place> places(codes.size());
  std::vector<profile::place const*> pointers;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    places[i].task = reinterpret_cast<void const*>(codes[i]);
    pointers.push_back(&places[i]);
  }
  auto const lines = profile::source_lines_of(pointers);
  for (std::size_t i = 0; i < codes.size(); ++i) names_[codes[i]] = short_name(lines[i].task);
}

std::string const& code_names::of(address code) const {
  auto const found = names_.find(code);
  return found == names_.end() || found->second.empty() ? unknown_ : found->second;
}

std::string name_of_place(pool_name const& of, unsigned place) {
  char const* const what = place == 0                        ? "caller "
                           : place <= of.threads             ? "worker "
                           : place < of.threads + of.callers ? "caller "
                                                             : "stand-in ";
  return what + std::to_string(place);
}

}  // namespace filch::runtime::trace
