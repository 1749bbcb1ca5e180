// Runs addr2line as a child process: once for each object file, with all addresses in it. The reports of
// FILCH_PROFILE and FILCH_TRACE and the check for races call it.
#include "runtime/addr2line.hpp"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

extern char** environ;

namespace filch::runtime {

namespace {

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
  // Handlers of the program may interrupt.
  auto const again = [](auto call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
  };
  std::string all;
  char part[4096];
  for (ssize_t n = 0; runs && (n = again([&] { return read(ends[0], part, sizeof(part)); })) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (runs) again([&] { return waitpid(child, &status, 0); });
  return all;
}

/// The file as addr2line can open it: what the process was started from may have another name by now, or none.
std::string name_for_others(std::string const& path) {
  char own[4096];
  auto const length = readlink("/proc/self/exe", own, sizeof(own));
  if (length <= 0 || path != std::string_view(own, static_cast<std::size_t>(length))) return path;
  return "/proc/" + std::to_string(getpid()) + "/exe";
}

/// By one process.
void add_frames(object_file const& of, std::span<std::uintptr_t const> at, known_frames& known) {
  std::vector<std::string> arguments{"addr2line", "-a", "-C", "-f", "-i", "-e", name_for_others(of.path)};
  for (std::uintptr_t const each : at) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%" PRIxPTR, each - of.bias);
    arguments.emplace_back(text);
  }
  std::string const all = output_of(std::move(arguments));
  std::vector<code_frame>* to = nullptr;
  std::string function;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t const end = std::min(all.find('\n', begin), all.size());
    std::string line = all.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with("0x")) {
      to = &known[static_cast<std::uintptr_t>(std::strtoull(line.c_str(), nullptr, 16)) + of.bias];
    } else if (to && function.empty()) {
      function = std::move(line);
    } else if (to) {
      to->push_back({std::move(function), line.substr(0, line.find(" (disc"))});
      function.clear();
    }
  }
}

}  // namespace

object_file object_file_of(std::uintptr_t at) {
  struct search {
    std::uintptr_t at;
    object_file found;
  } s{at, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* p) {
        auto& wanted = *static_cast<search*>(p);
        for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
          auto const& part = info->dlpi_phdr[i];
          std::uintptr_t const begin = info->dlpi_addr + part.p_vaddr;
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

void look_up_frames(object_file const& of, std::vector<std::uintptr_t> const& at, known_frames& known) {
  // The arguments of a process take 2 MiB at most, its environment included.
  constexpr std::size_t k_most = 20'000;
  for (std::size_t begin = 0; begin < at.size(); begin += k_most) {
    std::size_t const end = std::min(begin + k_most, at.size());
    add_frames(of, {at.data() + begin, at.data() + end}, known);
  }
}

}  // namespace filch::runtime
