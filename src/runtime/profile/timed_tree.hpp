// A fork tree in which each fork takes some time: where is a worker that began a task so long ago? prediction.cpp
// asks.
#pragma once

#include "runtime/profile/fork_tree.hpp"

#include <cstdint>
#include <vector>

namespace filch::runtime::profile {

class timed_tree {
 public:
  using index = fork_tree::index;
  using part = fork_tree::part;

  /// The begin of a join in a task: the `round`-th time of that one of fork_tree::joins. Past the last join: its end.
  struct cursor {
    part task;
    index join = 0;
    std::uint64_t round = 0;
  };
  enum class phase : unsigned char { before, in_f, in_g, after };
  /// A place in a task. Times count from the task's begin, as if no thief delayed it.
  struct spot {
    phase where = phase::after;
    cursor at;  // the join
    double f_begins = 0;
    double g_begins = 0;
    double ends = 0;
  };

  /// `fork_ns`: of each fork with its join. The tree must outlive this.
  timed_tree(fork_tree const& tree, double fork_ns);

  double work(part const& p) const noexcept { return time_of(p, work_[p.node], forks_[p.node]); }
  /// The path that is longest where each task in it has scale 1.
  double span(part const& p) const noexcept { return time_of(p, span_[p.node], span_forks_[p.node]); }

  cursor begin_of(part const& p) const noexcept { return {p, tree_.nodes[p.node].first_join, 0}; }
  cursor after(cursor const& c) const noexcept;
  bool has_join(cursor const& c) const noexcept { return c.join != end_of(c.task); }
  /// From the begin of the task.
  double offset(cursor const& c) const noexcept;
  /// The place at this time from the begin of the task; not before the cursor.
  spot locate(cursor const& not_before, double offset) const noexcept;
  spot at(cursor const& c) const noexcept;

  part f_of(cursor const& c) const noexcept { return scaled(tree_.joins[c.join].f, c.task.scale); }
  part g_of(cursor const& c) const noexcept { return scaled(tree_.joins[c.join].g, c.task.scale); }

 private:
  static part scaled(part const& p, double scale) noexcept { return {p.node, p.scale * scale}; }
  index end_of(part const& p) const noexcept {
    auto const& n = tree_.nodes[p.node];
    return n.first_join + n.joins;
  }
  double time_of(part const& p, double work, double forks) const noexcept {
    return p.scale * work + forks * fork_ns_;
  }
  double begin_of_join(part const& p, index join) const noexcept {
    return time_of(p, work_before_[join], forks_before_[join]);
  }
  double of_round(part const& p, index join) const noexcept {
    return time_of(p, work_of_round_[join], forks_of_round_[join]);
  }

  fork_tree const& tree_;
  double fork_ns_;
  // by node, for scale 1
  std::vector<double> work_, forks_, span_, span_forks_;
  // by join, for scale 1: before its first round in its node, and in a round
  std::vector<double> work_before_, forks_before_, work_of_round_, forks_of_round_;
};

}  // namespace filch::runtime::profile
