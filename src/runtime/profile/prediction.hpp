// How long a fork tree takes on workers that this machine does not have: a simulation of work stealing, event by
// event. The same tree, costs, rule and seed give the same answer on every machine.
//
// A worker's position is a place in the folded tree and the time since it was there. Tasks that are not stolen are
// not expanded, so a tree of 10^9 forks takes as long as its steals do.
#pragma once

#include "runtime/profile/fork_tree.hpp"

#include <cstdint>
#include <limits>

namespace filch::runtime::profile {

/// Which task a thief takes, and what a worker does whose join has to wait.
enum class steal_rule : unsigned char {
  leapfrog,      // the oldest; a waiting worker steals from the thief that it waits for
  steal_one,     // the oldest; a waiting worker steals from all
  steal_half,    // the older half; a waiting worker steals from all
  continuation,  // the oldest; no worker waits: the last side that ends continues the task around the join
};

/// Times in ns. Those that say so grow with the logarithm of the workers: crowded() of them.
struct steal_costs {
  double fork = 0;         // a fork and its join, without a thief
  double probe = 1;        // a thief's look at a worker; > 0
  double steal = 0;        // the thief's, until the task begins; grows
  double victim = 0;       // the victim's, for each steal
  double joined = 0;       // from the end of a stolen task until its join may know; grows
  double wakeup = 0;       // until a sleeping thief looks; grows
  double searches = 1e18;  // so long a thief looks before it sleeps
  double growth = 0;       // of a cost at each doubling of the workers from two on

  /// The cost among so many workers.
  double crowded(double cost, unsigned workers) const noexcept;
};

struct prediction {
  double ns = 0;  // of all runs of the tree
  double steals = 0;
  // bounds of every schedule on so many workers:
  double work_ns = 0;  // with forks; on one worker equal to `ns`
  double span_ns = 0;  // with forks
  unsigned workers = 1;
  // processor time, in the sum of all workers:
  double own_ns = 0;        // tasks, but those of the next line
  double on_top_ns = 0;     // tasks that a worker ran while its join waited
  double searching_ns = 0;  // thieves without a task
  double waiting_ns = 0;    // joins without a task

  double effort = 0;     // of the simulation
  double simulated = 1;  // part of the work; the rest was estimated

  double least_ns() const noexcept { return work_ns / workers > span_ns ? work_ns / workers : span_ns; }
  double greedy_ns() const noexcept { return work_ns / workers + span_ns; }
};

/// Runs all runs of the tree, one after the other. `workers`: at least 1. With more than `most_effort` it estimates
/// the runs with the least work, and the rest of a long one. An effort of 10^9 takes two to four seconds.
prediction predict(fork_tree const& tree, steal_costs const& costs, steal_rule rule, unsigned workers,
                   std::uint64_t seed = 1, double most_effort = std::numeric_limits<double>::infinity());

}  // namespace filch::runtime::profile
