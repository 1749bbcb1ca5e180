// Finds source lines for the report: addr2line runs once for each object file, with all addresses in it. A place has
// two kinds of addresses: return addresses from its first fork on, and addresses in the function that runs its task.
#include "runtime/profile/source_lines.hpp"

#include "runtime/addr2line.hpp"
#include "runtime/profile/task_names.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string_view>

namespace filch::runtime::profile {
namespace {

using address = std::uintptr_t;

constexpr address k_task_bytes = 256;  // of a task's function, which is inlined into it or called from it
constexpr address k_step = 4;

/// Callers of main and of a thread's function. Their files' debugging information, where it is installed, is large.
bool is_of_system(object_file const& m) {
  std::string_view const name = std::string_view(m.path).substr(m.path.rfind('/') + 1);
  return name.starts_with("libc.") || name.starts_with("libc-") || name.starts_with("ld-linux") ||
         name.starts_with("linux-vdso");
}

std::string short_line(std::string const& line) {
  auto const slash = line.rfind('/');
  return slash == std::string::npos ? line : line.substr(slash + 1);
}

std::string offset_text(address at) {
  object_file const m = object_file_of(at);
  char text[32];
  std::snprintf(text, sizeof(text), "+0x%" PRIxPTR, at - m.bias);
  return short_line(m.path) + text;
}

/// Without debugging information: the function. "-" if the program has no names either.
std::string line_of_join(place const& p, known_frames const& known) {
  std::string function = "-";
  for (void* const caller : p.callers) {
    auto const found = known.find(reinterpret_cast<address>(caller) - 1);
    if (found == known.end()) continue;
    for (code_frame const& f : found->second) {
      if (is_own_line(f.line)) return short_line(f.line);
      if (function == "-" && f.function != "??" && !is_in_filch(f.function)) function = name_of_function(f.function);
    }
  }
  return function;
}

/// The first own line in the function that runs the task. Addresses behind its end belong to other functions.
std::string line_of_task(place const& p, known_frames const& known) {
  auto const begin = reinterpret_cast<address>(p.task);
  auto const first = known.find(begin);
  if (first == known.end() || first->second.empty()) return offset_text(begin);
  std::string const& function = first->second.back().function;
  for (address at = begin; at < begin + k_task_bytes; at += k_step) {
    auto const found = known.find(at);
    if (found == known.end() || found->second.empty() || found->second.back().function != function) break;
    for (code_frame const& f : found->second) {
      if (is_own_line(f.line)) return short_line(f.line);
    }
  }
  if (function == "??") return offset_text(begin);
  return name_of_task(function);
}

}  // namespace

std::vector<source_lines> source_lines_of(std::vector<place const*> const& places) {
  std::map<std::string, std::pair<object_file, std::vector<address>>> by_file;
  auto const add = [&](address at) {
    object_file const m = object_file_of(at);
    if (m.path.empty() || is_of_system(m)) return;
    auto& of = by_file[m.path];
    of.first = m;
    of.second.push_back(at);
  };
  for (place const* p : places) {
    for (address i = 0; i < k_task_bytes; i += k_step) add(reinterpret_cast<address>(p->task) + i);
    for (void* const caller : p->callers) {
      if (caller) add(reinterpret_cast<address>(caller) - 1);
    }
  }
  known_frames known;
  for (auto const& [path, of] : by_file) look_up_frames(of.first, of.second, known);
  std::vector<source_lines> lines;
  for (place const* p : places) lines.push_back({line_of_join(*p, known), line_of_task(*p, known)});
  return lines;
}

}  // namespace filch::runtime::profile
