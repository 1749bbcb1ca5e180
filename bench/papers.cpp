// Shows papers, and writes their drawings and their sections of docs/papers.md. main.cpp calls it.
#include "papers.hpp"

#include "papers/all.hpp"
#include "request.hpp"

#include <filesystem>

namespace bench {
namespace {

/// Before anything is measured.
void check_files(options const& o) {
  if (!o.svg.empty() && !std::filesystem::is_directory(o.svg)) throw bad_request(o.svg + " is no folder");
  auto const folder = std::filesystem::path(o.markdown).parent_path();
  if (!o.markdown.empty() && !folder.empty() && !std::filesystem::is_directory(folder))
    throw bad_request("cannot write " + o.markdown);
}

}  // namespace

void show_papers(options const& o) {
  check_files(o);
  papers::effort const e{o.quick, wanted_turns(o, 5)};
  for (auto const& [name, show] : papers::k_papers) {
    if (o.paper != name && o.paper != "all") continue;
    papers::report const r = show(e);
    if (!o.svg.empty()) r.write_drawings(o.svg);
    if (!o.markdown.empty()) r.write_section(o.markdown);
  }
}

}  // namespace bench
