// Measures a row of the long table (measure.hpp): turns, ratios within a turn, counters. main.cpp calls it.
#include "measure.hpp"

#include "readings.hpp"

#include <barrier>
#include <chrono>
#include <cmath>
#include <filch/direct.hpp>
#include <fstream>
#include <thread>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

template <class F> double seconds_of(F&& f) {
  auto const begin = clock::now();
  f();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

constexpr int k_baseline_pairs = 3;
constexpr double k_copies_seconds = 0.1;  // least time of a copy side by side
constexpr double k_most_copies_runs = 10'000;
constexpr double k_long = 5;  // seconds: warming up does not matter beside such a run, and one run is enough

}  // namespace

unsigned usual_workers() { return filch::direct::pool().workers(); }

std::uint64_t peak_rss() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::uint64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

meter::meter(workload const& w, std::string_view size, unsigned most_workers)
    : workload_(w), size_(size), serial_pool_(contender_under<filch::serial>().make({.workers = 1})) {
  for (unsigned i = 0; i < most_workers; ++i) jobs_.push_back(w.make(size));
  job& j = *jobs_[0];
  std::vector<double> plain;
  std::vector<double> elision;
  for (int i = 0; i < k_baseline_pairs && !is_long(); ++i) {
    plain.push_back(time_plain(j));
    elision.push_back(time_elision(j));
    baseline_.elision_seconds = elision.back();
  }
  baseline_.plain_seconds = median(plain);
  baseline_.elision_seconds = median(elision);
  baseline_.plain_is_faster = baseline_.plain_seconds < baseline_.elision_seconds;
}

void meter::count_tasks() {
  job& j = *jobs_[0];
  j.reset();
  baseline_.tasks = count_forks(workload_.name, j).forks;
  check(j, "counting");
}

bool meter::is_long() const noexcept { return baseline_.elision_seconds > k_long; }

void meter::check(job const& j, std::string_view who) const {
  if (j.verify()) return;
  throw wrong_answer(std::string(workload_.name) + "=" + size_ + " on " + std::string(who) + ": wrong answer");
}

double meter::time_plain(job& j) {
  j.reset();
  double const t = seconds_of([&] { workload_.plain(j); });
  check(j, "the sequential program");
  return t;
}

double meter::time_elision(job& j) {
  j.reset();
  double const t = seconds_of([&] { serial_pool_->run(workload_.name, j); });
  check(j, "serial");
  return t;
}

double meter::run(running_pool& pool, std::string_view who) {
  job& j = *jobs_[0];
  j.reset();
  wait_for_quiet();
  double const t = seconds_of([&] { pool.run(workload_.name, j); });
  check(j, who);
  return t;
}

double meter::time_serial(job& j) {
  wait_for_quiet();
  return baseline_.plain_is_faster ? time_plain(j) : time_elision(j);
}

void meter::run_baseline(job& j) {
  if (baseline_.plain_is_faster) {
    workload_.plain(j);
  } else {
    serial_pool_->run(workload_.name, j);
  }
}

double meter::run_side_by_side(unsigned copies) {
  double const once = std::min(baseline_.plain_seconds, baseline_.elision_seconds);
  double const runs = std::clamp(std::ceil(k_copies_seconds / once), 1.0, k_most_copies_runs);
  wait_for_quiet();
  std::barrier together(static_cast<std::ptrdiff_t>(copies));
  std::vector<std::thread> threads;
  std::vector<double> seconds(copies);
  for (unsigned i = 0; i < copies; ++i) {
    threads.emplace_back([&, i] {
      job& j = *jobs_[i];
      j.reset();
      together.arrive_and_wait();
      seconds[i] = seconds_of([&] { run_baseline(j); });
      for (double run = 1; run < runs; ++run) {
        j.reset();
        seconds[i] += seconds_of([&] { run_baseline(j); });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (unsigned i = 0; i < copies; ++i) check(*jobs_[i], "the serial program side by side");
  return *std::max_element(seconds.begin(), seconds.end()) / runs;
}

row meter::measure(contender const& c, unsigned workers, unsigned pairs) {
  row r;
  r.workload = workload_.name;
  r.size = size_;
  r.scheduler = c.name;
  r.workers = workers;
  auto const pool = c.make({.workers = workers});
  auto const pool_of_one = workers == 1 ? nullptr : c.make({.workers = 1});
  job& j = *jobs_[0];

  // One unmeasured run: threads start, pages are touched.
  run(*pool, c.name);

  forget_peak();
  auto const before = pool->stats();
  std::vector<double> serial;
  std::vector<double> mine;
  std::vector<double> ratios;
  std::vector<double> speedups;
  std::vector<double> ceilings;
  std::vector<double> scalings;
  std::uint64_t peak = 0;
  for (unsigned i = 0; i < pairs; ++i) {
    double const s = time_serial(j);
    double const t = run(*pool, c.name);
    peak = peak_rss();
    double ceiling = 1;
    if (pool_of_one) {
      ceiling = workers * s / run_side_by_side(workers);
      scalings.push_back(run(*pool_of_one, c.name) / t / ceiling);
    }
    serial.push_back(s);
    mine.push_back(t);
    ratios.push_back(t / s);
    speedups.push_back(s / t);
    ceilings.push_back(ceiling);
  }
  auto const after = pool->stats();

  r.seconds = range(mine);
  r.serial_seconds = median(serial);
  if (workers == 1) r.overhead = median_interval(ratios);
  r.speedup = median(speedups);
  r.ceiling = median(ceilings);
  if (!scalings.empty()) r.scaling = median(scalings);
  r.turns = pairs;
  r.max_rss_bytes = peak;
  r.tasks = baseline_.tasks;
  if (baseline_.tasks) r.task_granularity_ns = r.serial_seconds * 1e9 / static_cast<double>(baseline_.tasks);
  if (before && after) add_counters(r, *before, *after, pairs);
  return r;
}

void add_counters(row& r, filch::pool_stats const& before, filch::pool_stats const& after, unsigned runs) {
  auto const per_run = [runs](std::uint64_t a, std::uint64_t b) { return (b - a + runs / 2) / runs; };
  double const steals = static_cast<double>(after.steals - before.steals) / runs;
  r.steals = per_run(before.steals, after.steals);
  r.failed_steals = per_run(before.failed_steals, after.failed_steals);
  r.backoffs = per_run(before.backoffs, after.backoffs);
  r.steals_per_second = steals / r.seconds.median;
  if (steals > 0) r.steal_granularity_ns = r.serial_seconds * 1e9 / steals;
  r.stack_bytes = after.stack_bytes;
}

}  // namespace bench
