// Finds source lines for the report: addr2line runs once for each object file, with all addresses in it. A place has
// two kinds of addresses: return addresses from its first fork on, and addresses in the function that runs its task.
#include "runtime/profile/source_lines.hpp"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

extern char** environ;

namespace filch::runtime::profile {
namespace {

using address = std::uintptr_t;

constexpr address k_task_bytes = 256;  // of a task's function, which is inlined into it or called from it
constexpr address k_step = 4;

struct module {
  std::string path;
  address bias = 0;
};

module module_of(address at) {
  struct search {
    address at;
    module found;
  } s{at, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* p) {
        auto& wanted = *static_cast<search*>(p);
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          auto const& part = info->dlpi_phdr[i];
          address const begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || wanted.at - begin >= part.p_memsz) continue;
          wanted.found = {*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", info->dlpi_addr};
          return 1;
        }
        return 0;
      },
      &s);
  // addr2line is another process.
  char name[4096];
  if (s.found.path == "/proc/self/exe") {
    auto const length = readlink("/proc/self/exe", name, sizeof(name));
    if (length > 0) s.found.path.assign(name, static_cast<std::size_t>(length));
  }
  return s.found;
}

/// A function at an address, and where in it: an inlined one, or the one around it.
struct frame {
  std::string function;
  std::string line;
};
/// Innermost first.
using frames = std::vector<frame>;

std::string output_of(std::vector<std::string> arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  std::vector<char*> pointers;
  for (auto& each : arguments) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  bool const runs = posix_spawnp(&child, pointers[0], &files, nullptr, pointers.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string all;
  char part[4096];
  for (ssize_t n = 0; runs && (n = read(ends[0], part, sizeof(part))) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (runs) waitpid(child, &status, 0);
  return all;
}

using known_frames = std::map<address, frames>;

/// Adds the frames at these addresses of one object file to `known`.
void look_up(module const& of, std::vector<address> const& at, known_frames& known) {
  std::vector<std::string> arguments{"addr2line", "-a", "-C", "-f", "-i", "-e", of.path};
  for (address const each : at) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%" PRIxPTR, each - of.bias);
    arguments.emplace_back(text);
  }
  std::string const all = output_of(std::move(arguments));
  frames* to = nullptr;
  std::string function;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t const end = std::min(all.find('\n', begin), all.size());
    std::string line = all.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("0x")) {
      to = &known[static_cast<address>(std::strtoull(line.c_str(), nullptr, 16)) + of.bias];
    } else if (to && function.empty()) {
      function = std::move(line);
    } else if (to) {
      to->push_back({std::move(function), line.substr(0, line.find(" (disc"))});
      function.clear();
    }
  }
}

bool is_known(frame const& f) noexcept { return !f.line.starts_with("??") && f.line.find(":?") == std::string::npos; }

/// Is it code of the program's own?
bool is_own(frame const& f) noexcept {
  for (char const* const part : {"include/filch/", "/src/schedulers/", "/src/runtime/", "/src/arch/", "/c++/"}) {
    if (f.line.find(part) != std::string::npos) return false;
  }
  return is_known(f);
}

std::string short_line(std::string const& line) {
  auto const slash = line.rfind('/');
  return slash == std::string::npos ? line : line.substr(slash + 1);
}

std::string offset_text(address at) {
  module const m = module_of(at);
  char text[32];
  std::snprintf(text, sizeof(text), "+0x%" PRIxPTR, at - m.bias);
  return short_line(m.path) + text;
}

std::string line_of_join(place const& p, known_frames const& known) {
  for (void* const caller : p.callers) {
    auto const found = known.find(reinterpret_cast<address>(caller) - 1);
    if (found == known.end()) continue;
    for (frame const& f : found->second) {
      if (is_own(f)) return short_line(f.line);
    }
  }
  return "-";
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
    for (frame const& f : found->second) {
      if (is_own(f)) return short_line(f.line);
    }
  }
  if (function == "??") return offset_text(begin);
  // The wrapper's name has the closure's in it.
  constexpr std::string_view k_wrapper = "::run_sto";
  auto const wrapper = function.find(k_wrapper);
  auto const closure = function.find('<', wrapper == std::string::npos ? 0 : wrapper);
  return closure == std::string::npos ? function : function.substr(closure + 1);
}

}  // namespace

std::vector<source_lines> source_lines_of(std::vector<place const*> const& places) {
  std::map<std::string, std::pair<module, std::vector<address>>> by_file;
  auto const add = [&](address at) {
    module const m = module_of(at);
    if (m.path.empty()) return;
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
  for (auto const& [path, of] : by_file) look_up(of.first, of.second, known);
  std::vector<source_lines> lines;
  for (place const* p : places) lines.push_back({line_of_join(*p, known), line_of_task(*p, known)});
  return lines;
}

}  // namespace filch::runtime::profile
