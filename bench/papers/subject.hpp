// A workload at a size, measured on this machine's processors, and predicted on more.
#pragma once

#include "../program.hpp"
#include "recording.hpp"
#include "runtime/profile/prediction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::papers {

using filch::runtime::profile::prediction;
using filch::runtime::profile::steal_costs;
using filch::runtime::profile::steal_rule;

/// How long and how thoroughly to measure.
struct effort {
  bool is_tiny = false;  // for a test: sizes that take milliseconds
  unsigned turns = 5;
};

struct sized {
  std::string workload;
  std::string theirs;  // the paper's size, for people
  std::string ours;    // as on the command line
  std::string tiny;

  std::string const& size(effort const& e) const { return e.is_tiny ? tiny : ours; }
};

/// A contender's figures. Times are medians of the turns.
struct measured {
  double serial = 0;   // s, the faster serial program
  double elision = 0;  // s, the same program without its forks
  double one = 0;      // s on one worker
  double most = 0;     // s on as many workers as there are processors
  double ceiling = 1;  // speed-up of serial copies side by side on as many processors
  unsigned workers = 2;
  double forks = 0;
  pool_counts counts;  // a run's, on `workers`

  double overhead() const { return one / serial; }
  double speedup_on_one() const { return serial / one; }
  double speedup() const { return serial / most; }
};

class subject {
 public:
  subject(sized const& s, effort const& e);

  measured measure(contender const& c);
  /// Time of a run on these pools, the first over the second: the median of ratios within a turn.
  double ratio(running_pool& a, running_pool& b);
  std::string label() const { return what_.workload + " " + what_.theirs; }
  std::string name() const { return what_.workload; }
  std::string size() const { return size_; }
  std::uint64_t forks();
  double serial_seconds() { return meter_.run_serial(); }
  /// Recorded once. Its work is 1 s.
  fork_tree const& tree();

 private:
  sized what_;
  std::string size_;
  effort effort_;
  meter meter_;
  std::optional<fork_tree> tree_;
};

/// The tree, in which all tasks together take so long.
fork_tree lasting(fork_tree const& tree, double seconds);
/// A perfect binary tree, `times` in a row.
fork_tree perfect(unsigned height, double leaf_ns, std::uint64_t times);

/// A contender's costs, measured here: of a steal on two workers, and of waking a thief. Forks cost nothing: they are
/// in the time on one worker. `growth` is that of table III of Faxen's paper.
steal_costs costs_of(contender const& c, effort const& e);
/// ns of a steal and the join with it, on two workers, as in table III.
double steal_and_join_ns(contender const& c, effort const& e);
/// ns of a fork and its join without a thief.
double fork_ns(contender const& c, effort const& e);
constexpr double k_growth = 0.28;

/// The contender on more workers: as it is here on one, with a tree of the workload.
class forecast {
 public:
  forecast(fork_tree const& tree, measured const& m, steal_costs const& costs, steal_rule rule)
      : tree_(lasting(tree, m.one)), serial_(m.serial), costs_(costs), rule_(rule) {}
  prediction on(unsigned workers) const { return predict(tree_, costs_, rule_, workers); }
  double speedup(unsigned workers) const { return serial_ * 1e9 / on(workers).ns; }
  std::vector<std::pair<double, double>> speedups(std::vector<unsigned> const& workers) const {
    std::vector<std::pair<double, double>> points;
    for (unsigned const p : workers) points.emplace_back(p, speedup(p));
    return points;
  }

 private:
  fork_tree tree_;
  double serial_;
  steal_costs costs_;
  steal_rule rule_;
};

/// At least two: a prediction is compared with so many.
unsigned processors();
contender const& named(std::string_view name);
/// A peer's column: empty where it was not built.
contender const* peer(std::string_view name);
steal_rule rule_of(std::string_view scheduler);
/// Time-stamp cycles of a nanosecond.
double cycles_per_ns();

}  // namespace bench::papers
