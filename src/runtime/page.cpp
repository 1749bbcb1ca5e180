// Fills page.html, which has the style and the functions that scripts share. The pages of FILCH_PROFILE and
// FILCH_TRACE call it.
#include "runtime/page.hpp"

#include "runtime/fnv1a.hpp"

#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace filch::runtime {
namespace {

constexpr std::string_view k_page =
#include "runtime/page.inc"
    ;

std::string name_of_host() {
  char name[256] = "";  // a longer one is cut, and need not end
  return gethostname(name, sizeof(name) - 1) == 0 && *name ? name : "host";
}

/// A number of this process and the name, the same in each copy of Filch.
std::uint64_t number_of(std::string_view name) {
  pid_t const process = getpid();
  std::uint64_t hash = fnv1a({reinterpret_cast<char const*>(&process), sizeof(process)});
  // 16 random bytes that the system gives each program when it starts.
  if (auto const* const random = reinterpret_cast<char const*>(getauxval(AT_RANDOM)))
    hash = fnv1a({random, 16}, hash);
  return fnv1a(name, hash);
}

/// Claims the name of a report until the process ends. False if this process has claimed it: another copy of Filch,
/// or this one for another report. A claim is the abstract name of a socket, for which no file is needed. None is
/// made with the last file descriptor, which the report itself needs.
bool claim(std::string_view name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  constexpr std::string_view k_prefix = "filch-report-";
  char* const begin = address.sun_path + 1;
  char* const digits = std::ranges::copy(k_prefix, begin).out;
  char const* const end = std::to_chars(digits, std::end(address.sun_path), number_of(name), 16).ptr;
  int const socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return true;
  int const spare = dup(socket);
  close(spare < 0 ? socket : spare);
  if (spare < 0) return true;
  auto const length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(end - begin));
  if (bind(socket, reinterpret_cast<sockaddr const*>(&address), length) == 0) return true;
  bool const is_taken = errno == EADDRINUSE;
  close(socket);
  return !is_taken;
}

}  // namespace

std::string page_of(std::string_view script, std::string_view data) {
  constexpr std::string_view k_data = "FILCH_DATA";
  constexpr std::string_view k_script = "FILCH_SCRIPT";
  static_assert(k_page.find(k_data) < k_page.find(k_script));
  auto const at_data = k_page.find(k_data);
  auto const at_script = k_page.find(k_script);
  std::string page(k_page.substr(0, at_data));
  page += data;
  page += k_page.substr(at_data + k_data.size(), at_script - at_data - k_data.size());
  page += script;
  page += k_page.substr(at_script + k_script.size());
  return page;
}

std::string name_of_program() {
  char path[4096];
  auto const length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return "the program";
  std::string const all(path, static_cast<std::size_t>(length));
  return all.substr(all.rfind('/') + 1);
}

std::string name_of_report(std::string const& value) {
  std::string name;
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string_view const two = std::string_view(value).substr(i, 2);
    if (two == "%p") {
      name += std::to_string(getpid());
    } else if (two == "%h") {
      name += name_of_host();
    } else {
      name += value[i];
      continue;
    }
    ++i;
  }
  char folder[4096];
  if (is_console(name) || name.starts_with('/') || !getcwd(folder, sizeof(folder))) return name;
  return std::string(folder) + '/' + name;
}

std::string name_of_own_report(std::string const& name) {
  struct stat status;
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return name;
  std::size_t const slash = name.rfind('/');
  std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) dot = name.size();
  std::string own = name;
  for (int copy = 2; !claim(own); ++copy) own = name.substr(0, dot) + '.' + std::to_string(copy) + name.substr(dot);
  if (own != name) {
    std::fprintf(stderr,
                 "filch: another report of this process, perhaps by another copy of Filch, is %s; this one is %s\n",
                 name.c_str(), own.c_str());
  }
  return own;
}

}  // namespace filch::runtime
