// Work and span by place, each below the place around it: the picture of the report's page.
#pragma once

#include "runtime/profile/fork_tree.hpp"

namespace filch::runtime::profile {

/// The code inside of forks at one place, at one position among the places around it. A recursion is one box.
struct flame_box {
  static constexpr std::uint32_t k_none = ~std::uint32_t{0};

  std::uint32_t parent = k_none;  // a box with a lower index
  std::uint32_t place = k_none;   // in the fork tree; none: the runs themselves
  double work_ns = 0;             // without the boxes below
  double span_ns = 0;
};

/// Expands the folded tree. The first box is the program.
std::vector<flame_box> flame_of(fork_tree const& t);

}  // namespace filch::runtime::profile
