// Measures the short table (measure_short.hpp) and prints each row when it is done. main.cpp calls it.
#include "measure_short.hpp"

#include "html_page.hpp"
#include "peers/openmp_name.hpp"
#include "report.hpp"
#include "request.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filch/config.hpp>
#include <filch/default_scheduler.hpp>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

namespace bench {
namespace {

struct peer {
  std::string_view name;
  std::string_view title;
};
constexpr peer k_peers[] = {{"onetbb", "oneTBB"}, {k_openmp, "OpenMP"}};

/// The columns of --scheduler all. A peer that this program was built without has an empty column.
std::vector<short_column> usual_columns(std::vector<unsigned> const& workers) {
  std::vector<short_column> columns;
  for (unsigned const p : workers)
    columns.push_back({"Filch", std::string(filch::default_scheduler::name), p, false});
  for (auto const& [name, title] : k_peers) {
    std::string_view const found = find_contender(name) ? name : "";
    columns.push_back({std::string(title), std::string(found), most(workers), true});
  }
  return columns;
}

std::vector<short_column> named_columns(std::vector<contender const*> const& named,
                                        std::vector<unsigned> const& workers) {
  std::vector<short_column> columns;
  for (contender const* const c : named) {
    if (c->is_peer) continue;
    for (unsigned const p : workers) columns.push_back({std::string(c->name), std::string(c->name), p, false});
  }
  for (contender const* const c : named) {
    if (c->is_peer) columns.push_back({std::string(c->name), std::string(c->name), most(workers), true});
  }
  return columns;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size())) + ", ";
  }
  return "";
}

/// Names the times that are estimates, and their source; empty: none.
std::string peer_remark(std::vector<sized_workload> const& workloads, std::vector<short_column> const& columns) {
  bool const has_peer = std::any_of(columns.begin(), columns.end(),
                                    [](short_column const& c) { return c.is_peer && !c.scheduler.empty(); });
  std::vector<std::string> smaller;
  for (sized_workload const& w : workloads) {
    if (!w.peer_size.empty()) smaller.push_back(fmt::format("{}={}", w.what->name, w.peer_size));
  }
  if (!has_peer || smaller.empty()) return "";
  return fmt::format("~: estimated from {}.", fmt::join(smaller, ", "));
}

/// One line.
std::string machine_text() {
#if defined(__clang__)
  constexpr std::string_view k_compiler = "Clang " __clang_version__;
#else
  constexpr std::string_view k_compiler = "GCC " __VERSION__;
#endif
  return fmt::format("Filch {} on {}{} processors, {}", FILCH_VERSION_STRING, processor_name(),
                     std::thread::hardware_concurrency(), k_compiler);
}

/// A column in one row: a pool and its runs.
class lane {
 public:
  lane(short_column const& c, std::size_t index)
      : index_(index),
        workers_(c.workers),
        who_(*find_contender(c.scheduler)),
        pool_(who_.make({.workers = c.workers})) {}

  std::size_t index() const noexcept { return index_; }
  bool is_peer() const noexcept { return who_.is_peer; }
  /// Seconds of all runs.
  double spent() const { return std::accumulate(seconds_.begin(), seconds_.end(), 0.0); }

  /// One unmeasured run: threads start, pages are touched.
  void warm_up(meter& m) {
    m.run(*pool_, who_.name);
    before_ = pool_->stats();
  }
  void run(meter& m, double serial_seconds) {
    forget_peak();
    seconds_.push_back(m.run(*pool_, who_.name));
    ratios_.push_back(seconds_.back() / serial_seconds);
    peak_ = std::max(peak_, peak_rss());
  }
  row result(meter const& m, double serial_seconds) const {
    row r;
    r.scheduler = who_.name;
    r.workers = workers_;
    r.seconds = range(seconds_);
    r.serial_seconds = serial_seconds;
    if (workers_ == 1) r.overhead = median_interval(ratios_);
    r.speedup = 1 / median(ratios_);
    r.max_rss_bytes = peak_;
    r.turns = seconds_.size();
    if (workers_ == 1) r.ceiling = 1;
    r.tasks = m.serial().tasks;
    if (*r.tasks) r.task_granularity_ns = serial_seconds * 1e9 / static_cast<double>(*r.tasks);
    if (auto const after = pool_->stats(); before_ && after)
      add_counters(r, *before_, *after, static_cast<unsigned>(seconds_.size()));
    return r;
  }

 private:
  std::size_t index_;  // index of the column
  unsigned workers_;
  contender const& who_;
  std::unique_ptr<running_pool> pool_;
  std::optional<filch::pool_stats> before_;
  std::vector<double> seconds_;
  std::vector<double> ratios_;  // over the serial program, in the same turn
  std::uint64_t peak_ = 0;
};

/// Measures rows: the serial program, each column and the copies side by side, in turn.
class short_meter {
 public:
  short_meter(std::vector<short_column> const& columns, unsigned turns, double most_peer_seconds)
      : columns_(columns), turns_(turns), most_peer_seconds_(most_peer_seconds) {
    for (short_column const& c : columns_) most_workers_ = std::max(most_workers_, c.workers);
  }
  short_row measure(sized_workload const& w);
  /// All measured rows.
  std::vector<row> const& rows() const noexcept { return rows_; }

 private:
  bool is_measured(sized_workload const& w, short_column const& c) const {
    return !c.scheduler.empty() && (!w.what->has_callers || c.workers == most_workers_);
  }
  void measure_at(sized_workload const& w, std::string const& size, std::vector<lane>& lanes, short_row& shown);
  void run_turn(meter& m, std::vector<lane>& lanes, unsigned turn, double serial_seconds);

  std::vector<short_column> columns_;
  unsigned turns_;
  double most_peer_seconds_;
  unsigned most_workers_ = 1;
  std::vector<row> rows_;
};

short_row short_meter::measure(sized_workload const& w) {
  short_row shown{fmt::format("{}={}", w.what->name, w.size), 0, std::vector<short_cell>(columns_.size()), 0};
  std::vector<lane> lanes;
  std::vector<lane> lanes_of_smaller;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!is_measured(w, columns_[i])) continue;
    bool const is_smaller = columns_[i].is_peer && !w.peer_size.empty();
    (is_smaller ? lanes_of_smaller : lanes).emplace_back(columns_[i], i);
  }
  measure_at(w, w.size, lanes, shown);
  if (!lanes_of_smaller.empty()) measure_at(w, w.peer_size, lanes_of_smaller, shown);
  return shown;
}

/// The speed-up is nearly the same at a smaller size, since the work of a task is. It gives the time at the full
/// size.
void short_meter::measure_at(sized_workload const& w, std::string const& size, std::vector<lane>& lanes,
                             short_row& shown) {
  bool const is_estimate = size != w.size;
  bool const has_copies = most_workers_ > 1 && !is_estimate;
  meter m(*w.what, size, has_copies ? most_workers_ : 1);
  m.count_tasks();
  for (lane& l : lanes) l.warm_up(m);
  std::vector<double> serial;
  std::vector<double> limits;
  for (unsigned turn = 0; turn < turns_; ++turn) {
    serial.push_back(m.run_serial());
    run_turn(m, lanes, turn, serial.back());
    if (has_copies) limits.push_back(most_workers_ * serial.back() / m.run_side_by_side(most_workers_));
  }
  if (has_copies) shown.limit = median(limits);
  if (!is_estimate) shown.serial_seconds = median(serial);
  for (lane const& l : lanes) {
    row& r = rows_.emplace_back(l.result(m, median(serial)));
    r.workload = w.what->name;
    r.size = size;
    if (has_copies && r.workers == most_workers_) r.ceiling = shown.limit;
    double const seconds = is_estimate ? shown.serial_seconds / r.speedup : r.seconds.median;
    shown.cells[l.index()] = {seconds, r.speedup, is_estimate, r.turns < turns_};
  }
}

/// Each turn begins with another column.
void short_meter::run_turn(meter& m, std::vector<lane>& lanes, unsigned turn, double serial_seconds) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lane& l = lanes[(turn + i) % lanes.size()];
    if (!l.is_peer() || l.spent() < most_peer_seconds_) l.run(m, serial_seconds);
  }
}

}  // namespace

std::optional<std::vector<short_column>> short_columns(options const& o, std::vector<unsigned> const& workers) {
  std::vector<short_column> columns;
  if (o.schedulers == std::vector<std::string>{"all"}) {
    columns = usual_columns(workers);
  } else {
    auto const named = wanted_schedulers(o);
    bool const has_room =
        std::all_of(named.begin(), named.end(), [](contender const* c) { return c && c->has_workers; });
    if (!has_room) return std::nullopt;
    columns = named_columns(named, workers);
  }
  return columns.size() <= k_most_short_columns ? std::optional(columns) : std::nullopt;
}

void run_short_table(options const& o, std::vector<short_column> const& columns) {
  constexpr unsigned k_turns = 5;
  auto const workloads = wanted_workloads(o);
  // A peer that takes seconds shows the order of magnitude.
  double const most_peer_seconds = o.quick && o.repeat.empty() ? 2 : std::numeric_limits<double>::infinity();
  short_meter m(columns, o.repeat.empty() ? k_turns : wanted_turns(o), most_peer_seconds);
  check_pools(wanted_schedulers(o), most(wanted_workers(o)));
  auto html = opened(o.html);
  auto json = opened(o.json);

  short_table t{machine_text(), columns, {}, peer_remark(workloads, columns)};
  bool const with_colours = colours_are_wanted();
  fmt::print("{}\n\n{}", t.machine, short_head(columns));
  for (sized_workload const& w : workloads) {
    t.rows.push_back(m.measure(w));
    fmt::print("{}", short_line(columns, t.rows.back(), with_colours));
    std::fflush(stdout);
  }
  fmt::print("\n{}\n{}", short_legend(t, with_colours), short_conclusion(t));
  write(html, o.html, html_page(t));
  write(json, o.json, json_text(m.rows()));
}

}  // namespace bench
