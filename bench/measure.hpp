// Measuring one row: interleaved pairs against the serial baseline.
#pragma once

#include "contender.hpp"
#include "statistics.hpp"

#include <optional>
#include <string>

namespace bench {

/// One row of the table; the fields of the JSON output.
struct row {
  std::string workload;
  std::string size;
  std::string scheduler;
  unsigned workers = 1;
  interval seconds;                  // low and high are the least and the greatest
  double serial_seconds = 0;         // median of the interleaved serial runs
  std::optional<interval> overhead;  // one worker: median pair ratio over serial, and its interval
  double speedup = 0;                // median pair ratio serial over this
  std::optional<double> ceiling;     // speed-up of as many serial copies side by side, in this run
  std::optional<double> scaling;     // more workers: median of time on one worker over this, over the ceiling
  bool verified = true;
  std::uint64_t turns = 0;  // runs of which these are medians
  std::optional<std::uint64_t> tasks, steals, failed_steals, backoffs;
  std::optional<double> steals_per_second, task_granularity_ns, steal_granularity_ns;
  std::uint64_t max_rss_bytes = 0;
  std::optional<std::uint64_t> stack_bytes;
};

/// A workload's serial programs: the baseline is the faster one.
struct baseline {
  double elision_seconds = 0;
  double plain_seconds = 0;
  bool plain_is_faster = false;
  std::uint64_t tasks = 0;  // number of forks; 0 until they are counted
};

/// Thrown when an answer is wrong.
struct wrong_answer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class meter {
 public:
  /// Prepares as many instances as the rows will need and finds the baseline.
  meter(workload const& w, std::string_view size, unsigned most_workers);

  baseline const& serial() const noexcept { return baseline_; }
  void count_tasks();
  /// Does a run take so long that no unmeasured run comes before it?
  bool is_long() const noexcept;
  row measure(contender const& c, unsigned workers, unsigned pairs);

  /// Seconds of a run on the pool.
  double run(running_pool& pool, std::string_view who);
  /// Seconds of a run of the baseline.
  double run_serial() { return time_serial(*jobs_[0]); }
  /// Seconds of a run of the baseline while as many copies run side by side: the mean of the slowest copy. Each copy
  /// runs again and again for 100 ms at least, so that a thread that begins late does not count.
  double run_side_by_side(unsigned copies);

 private:
  double time_serial(job& j);
  void run_baseline(job& j);
  double time_plain(job& j);
  double time_elision(job& j);
  void check(job const& j, std::string_view who) const;

  workload const& workload_;
  std::string size_;
  std::vector<std::unique_ptr<job>> jobs_;
  std::unique_ptr<running_pool> serial_pool_;
  baseline baseline_;
};

/// Adds the pool's counters of so many runs, and figures that follow from them; r has the times.
void add_counters(row& r, filch::pool_stats const& before, filch::pool_stats const& after, unsigned runs);

/// The default number of workers: FILCH_NUM_THREADS, else the processors that are left to this process.
unsigned usual_workers();

/// The greatest resident size since the last call of forget_peak(), in bytes.
std::uint64_t peak_rss();
void forget_peak();

}  // namespace bench
