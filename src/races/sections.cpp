// Renumbers sections when their numbers run out: each set gets one new number. hooks.cpp calls it at a fork.
// Protocol: protocol.md.
#include "races/sections.hpp"

#include "os/linux/fatal.hpp"

namespace filch::races {

section_id section_sets::number(section_id id) noexcept {
  if (id == 0) return 0;
  while ((nodes_[id].up & k_is_numbered) == 0 && nodes_[id].up != id) id = nodes_[id].up;
  node& root = nodes_[id];
  if ((root.up & k_is_numbered) == 0) {
    root.up = static_cast<section_id>(numbered_.size()) | k_is_numbered;
    numbered_.push_back(root.place);
  }
  return root.up & ~k_is_numbered;
}

void section_sets::end_numbering() noexcept {
  nodes_.resize(1);
  for (std::size_t i = 1; i < numbered_.size(); ++i) nodes_.push_back({static_cast<section_id>(i), numbered_[i]});
}

void section_sets::no_room() noexcept { os::end_with_line("filch: races: too many joins are open at once\n"); }

}  // namespace filch::races
