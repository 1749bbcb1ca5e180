// Records the fork tree of one thread while it runs, and folds each task when it ends. record.cpp calls it from the
// hooks.
#pragma once

#include "runtime/profile/node_table.hpp"

namespace filch::runtime::profile {

class folding {
 public:
  /// An open fork. Forks are numbered from the outermost one.
  using fork = std::uint32_t;
  static constexpr std::size_t k_most_runs = 1024;
  /// Runs that were alike, summed up.
  struct run {
    fork_tree::index node;
    cycles work;
    std::uint64_t times;
  };

  /// Code of the innermost task ran for so long.
  void ran(cycles c) noexcept { now_.own += c; }

  /// Its f, or the rest of the scope's body, is the innermost task now.
  fork forked(unsigned place);
  /// f ends, and g begins.
  void f_ended(fork its);
  /// g ends.
  void joined(fork its);

  /// A scope's task runs, apart from the body's rest.
  void task_begins();
  void task_ended(fork its);
  /// The scope's forks end, from the newest to this one.
  void scope_ended(fork oldest);

  /// All that is open is a run, which ends.
  void run_ended();

  /// Adds the runs and their nodes. Times become nanoseconds; places[i] is the index of place i in `to`.
  void add_to(fork_tree& to, unsigned thread, double cycles_per_ns, std::span<unsigned const> places) const;
  /// See fork_tree.
  std::uint64_t coarse() const noexcept { return nodes_.tree().coarse; }

 private:
  /// A task that runs, or waits for one inside it. Its joins lie in joins_, from first_join to those of the next
  /// task.
  struct task {
    cycles own = 0;   // since its last join
    cycles work = 0;  // up to its last join
    cycles span = 0;
    std::uint64_t forks = 0;
    std::size_t first_join = 0;
  };
  struct open_fork {
    task outer;
    unsigned place;
    ended_task f{};
    ended_task g{};
    bool g_has_ended = false;
  };
  static constexpr std::size_t k_early_tasks = 8192;

  void begin_task() noexcept;
  ended_task end_task(task_kind kind = task_kind::whole);
  void join(ended_task const& f, ended_task const& g, unsigned place);
  void close_above(std::size_t open);
  void add(joins_in_a_row const& j);
  void halve_joins();
  void halve_early_tasks();
  void halve_runs();

  task now_;
  std::vector<task> set_aside_;  // rests of bodies whose scopes' tasks run
  std::vector<open_fork> open_;
  std::size_t most_open_ = k_early_tasks;  // with more, early tasks are halved
  std::vector<joins_in_a_row> joins_;
  std::vector<run> runs_;
  node_table nodes_;
};

}  // namespace filch::runtime::profile
