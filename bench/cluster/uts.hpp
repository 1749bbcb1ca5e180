// uts on a cluster: a task for each node that has children, no cut-off.
#pragma once

#include "../workloads/uts.hpp"

#include <filch/rank.hpp>

namespace bench::cluster_tasks {

/// The number of nodes of a tree is the sum of the results of these tasks. `tree` is an index of uts::k_trees.
inline long visit(filch::rank& here, std::int32_t tree, std::int32_t children, uts::node n) {
  uts::tree const& t = uts::k_trees[static_cast<std::size_t>(tree)];
  long leaves = 0;
  for (int i = 0; i < children; ++i) {
    uts::node const child = uts::child_of(n, static_cast<std::uint32_t>(i));
    int const count = uts::children(t, child);
    if (count == 0) {
      ++leaves;
    } else {
      here.spawn<&visit>(tree, count, child);
    }
  }
  return 1 + leaves;
}

/// Number of children of the root, which the first task counts.
inline std::int32_t children_of_root(std::int32_t tree) {
  uts::tree const& t = uts::k_trees[static_cast<std::size_t>(tree)];
  return uts::children(t, uts::root_of(t));
}

}  // namespace bench::cluster_tasks
