// The fork tree of a program that FILCH_PROFILE measured, folded: tasks that were alike are one node. folding.hpp
// makes it, prediction.hpp runs it on workers that this machine does not have.
//
// Only joins are left. A scope is nested joins: f of each is the rest of the scope's body, g the task. A loop is the
// joins of the pieces that it was split into. `pool.run` inside of a task is part of that task.
//
// Invariants: a reference has a scale > 0 and refers to a lower index than its own node has; times are >= 0.
// Expanded, the tree has the measured work but for rounding, and each task's measured span within 1%.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace filch::runtime::profile {

struct fork_tree {
  using index = std::uint32_t;

  /// A task like that node, in which each time is `scale` times as long.
  struct part {
    index node = 0;
    double scale = 1;
  };
  /// In a node: so many times in a row, code without forks, then a join of f and g.
  struct join {
    double before_ns = 0;
    part f;
    part g;
    std::uint64_t times = 1;
  };
  /// A task: nodes[i].joins of `joins` from first_join on, then code without forks.
  struct node {
    index first_join = 0;
    index joins = 0;
    double after_ns = 0;
    // sums of all that is inside, with scale 1:
    double work_ns = 0;
    double span_ns = 0;
    std::uint64_t forks = 0;
  };
  /// Outermost calls of pool.run by one thread, one after the other.
  struct run {
    part task;
    std::uint64_t times = 1;
    unsigned thread = 0;  // runs of several threads may have overlapped
  };

  /// A task that never forks: `after_ns` is 1, so its scale is its time in ns.
  static constexpr index k_leaf = 0;

  std::vector<node> nodes = std::vector(1, node{0, 0, 1, 1, 1, 0});
  std::vector<join> joins;
  std::vector<run> runs;                   // by thread, in the order of time
  std::vector<std::uint32_t> join_places;  // of each join, in `places`; empty if nothing is known of them
  std::vector<void const*> places;         // place::task of each
  std::uint64_t coarse = 0;  // tasks in a node unlike them: the table was full, or it lacks a quarter of their forks

  double work_ns(part const& p) const noexcept { return nodes[p.node].work_ns * p.scale; }
  double span_ns(part const& p) const noexcept { return nodes[p.node].span_ns * p.scale; }
  std::uint64_t forks(part const& p) const noexcept { return nodes[p.node].forks; }
};

/// The tree of all threads whose measured runs have ended. Call it outside of runs.
fork_tree recorded_fork_tree();

}  // namespace filch::runtime::profile
