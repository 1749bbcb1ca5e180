// The serial elision with clocks at its forks: it records a workload's fork tree, folded where tasks are alike.
#pragma once

#include "runtime/profile/fork_tree.hpp"

#include <filch/serial.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace bench {

using fork_tree = filch::runtime::profile::fork_tree;

/// Tasks whose times differ by less than an eighth, and whose forks are alike, are one node. Forks so deep that their
/// tasks take under k_fine_ns in the mean are not recorded: no thief gains from them.
class tree_recorder {
 public:
  using part = fork_tree::part;

  /// Ends the segment and returns its ns. Until begins(), no time counts.
  double segment_ends();
  void begins();
  void task_begins();
  part task_ends();
  void joined(double before_ns, part const& f, part const& g);

  bool is_fine() const;
  void goes_down() { ++depth_; }
  void goes_up(double task_ns);
  std::size_t open_tasks() const { return open_.size(); }
  double ns_of(part const& p) const { return tree_.work_ns(p); }

  /// The tree of one task, whose end is now.
  fork_tree take();

 private:
  using clock = std::chrono::steady_clock;
  static constexpr double k_fine_ns = 400;
  static constexpr unsigned k_samples = 32;

  part node_of(std::vector<fork_tree::join> const& joins, double after_ns);

  struct mean {
    double sum = 0;
    std::uint64_t count = 0;
  };
  fork_tree tree_;
  std::map<std::vector<std::uint64_t>, fork_tree::index> known_;
  std::vector<std::vector<fork_tree::join>> open_;
  std::array<mean, 256> tasks_;  // by depth
  std::size_t depth_ = 0;
  clock::time_point began_;
};

/// The scheduler. Records into `into`.
struct recording {
  static constexpr std::string_view name = "recording";
  static inline thread_local tree_recorder* into = nullptr;

  /// A task while it runs.
  class recorded_task {
   public:
    recorded_task(tree_recorder& r, tree_recorder::part& result) : recorder_(r), result_(result) {
      r.goes_down();
      r.task_begins();
    }
    recorded_task(recorded_task const&) = delete;
    recorded_task& operator=(recorded_task const&) = delete;
    ~recorded_task() {
      result_ = recorder_.task_ends();
      recorder_.goes_up(recorder_.ns_of(result_));
    }

   private:
    tree_recorder& recorder_;
    tree_recorder::part& result_;
  };

  template <class F, class G> static auto join(F&& f, G&& g) {
    tree_recorder& r = *into;
    if (r.is_fine()) return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
    double const before = r.segment_ends();
    tree_recorder::part of_f;
    tree_recorder::part of_g;
    auto results = filch::serial::join(
        [&]() -> decltype(auto) {
          recorded_task const here(r, of_f);
          return std::invoke(std::forward<F>(f));
        },
        [&]() -> decltype(auto) {
          recorded_task const here(r, of_g);
          return std::invoke(std::forward<G>(g));
        });
    r.joined(before, of_f, of_g);
    r.begins();
    return results;
  }

  /// A spawn is a join whose f is the rest of the scope's body.
  class frame : public filch::serial::frame {
   public:
    template <class F> void spawn(F&& f) {
      tree_recorder& r = *into;
      if (tasks_.empty()) base_ = r.open_tasks();
      if (r.is_fine() || r.open_tasks() != base_ + tasks_.size())
        return filch::serial::frame::spawn(std::forward<F>(f));
      task& t = tasks_.emplace_back(task{r.segment_ends(), {}});
      {
        recorded_task const here(r, t.g);
        filch::serial::frame::spawn(std::forward<F>(f));
      }
      r.task_begins();
    }
    void sync() {
      tree_recorder& r = *into;
      for (; !tasks_.empty(); tasks_.pop_back()) {
        auto const rest = r.task_ends();
        r.joined(tasks_.back().before_ns, rest, tasks_.back().g);
        r.begins();  // the next rest ends here, too
      }
      filch::serial::frame::sync();
    }

   private:
    struct task {
      double before_ns;
      tree_recorder::part g;
    };
    std::vector<task> tasks_;
    std::size_t base_ = 0;
  };
  using pool = filch::serial::pool;
  static bool wanted() noexcept { return false; }
  static bool inside() noexcept { return true; }
  static unsigned worker_index() noexcept { return 0; }
  static void attach(filch::detail::task_source&) noexcept {}
  static pool& default_pool() { return filch::serial::default_pool(); }
};

/// The tree of one run, whose answer is checked. Throws bad_request if the workload is in none of the papers.
fork_tree recorded_tree(std::string_view workload, std::string_view size);

}  // namespace bench
