// Fills page.html, which has the style and the functions that scripts share. The pages of FILCH_PROFILE and
// FILCH_TRACE call it.
#include "runtime/page.hpp"

#include <unistd.h>

#include <cstddef>

namespace filch::runtime {
namespace {

constexpr std::string_view k_page =
#include "runtime/page.inc"
    ;

std::string name_of_host() {
  char name[256] = "";  // a longer one is cut, and need not end
  return gethostname(name, sizeof(name) - 1) == 0 && *name ? name : "host";
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

}  // namespace filch::runtime
