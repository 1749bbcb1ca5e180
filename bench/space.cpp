// filch-bench --space: samples the pages of stacks during runs (space.hpp). main.cpp calls it.
#include "space.hpp"

#include "program.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

namespace bench {
namespace {

constexpr std::size_t k_page = 4096;
constexpr unsigned k_runs = 10;
constexpr auto k_between_samples = std::chrono::microseconds(500);

std::size_t pages_of(running_pool const& pool) { return pool.written_stack_bytes().value() / k_page; }

/// Samples a pool's pages while it lives.
class sampler {
 public:
  explicit sampler(running_pool const& pool) : pool_(pool), thread_([this] { watch(); }) {}
  sampler(sampler const&) = delete;
  sampler& operator=(sampler const&) = delete;
  ~sampler() {
    over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  std::size_t most() const noexcept { return most_.load(std::memory_order_relaxed); }

 private:
  void watch() {
    while (!over_.load(std::memory_order_relaxed)) {
      most_.store(std::max(most(), pages_of(pool_)), std::memory_order_relaxed);
      std::this_thread::sleep_for(k_between_samples);
    }
  }
  running_pool const& pool_;
  std::atomic<std::size_t> most_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::int64_t>(k_page);
}

}  // namespace

space_row measure_space(workload const& w, std::string_view size, contender const& c, unsigned workers) {
  space_row r;
  r.workload = w.name;
  r.size = size;
  r.scheduler = c.name;
  r.workers = workers;
  r.runs = k_runs;
  program job(w, size, c.name);
  r.fork_depth = count_forks(w.name, job.instance()).depth;

  auto const gives_nothing = [](unsigned n) {
    return filch::pool_options{.workers = n, .stack_give_back = filch::give_back_policy::none};
  };
  {
    auto const one = c.make(gives_nothing(1));
    job.run(*one);
    r.serial_pages = pages_of(*one);
  }
  {
    auto const pool = c.make(gives_nothing(workers));
    for (unsigned i = 0; i < k_runs; ++i) job.run(*pool);
    r.ungiven_pages = pages_of(*pool);
  }
  auto const pool = c.make({.workers = workers});
  auto const before = pool->stats().value();
  r.kept_pages = before.kept_stack_pages;
  std::size_t at_an_end = 0;
  std::int64_t resident = 0;
  {
    sampler const samples(*pool);
    for (unsigned i = 0; i < k_runs; ++i) {
      job.run(*pool);
      at_an_end = std::max(at_an_end, pages_of(*pool));
      if (i == 1) resident = resident_bytes();
    }
    r.peak_pages = std::max(at_an_end, samples.most());
  }
  r.rss_growth_bytes = resident_bytes() - resident;
  auto const after = pool->stats().value();
  r.stacks_peak = after.stacks_peak;
  auto const each = [](std::uint64_t a, std::uint64_t b) { return static_cast<double>(b - a) / k_runs; };
  r.steals = each(before.steals, after.steals);
  r.suspensions = each(before.suspensions, after.suspensions);
  r.give_backs = each(before.give_backs, after.give_backs);
  r.page_faults = each(before.page_faults, after.page_faults);
  return r;
}

nlohmann::ordered_json to_json(space_row const& r) {
  nlohmann::ordered_json j;
  j["workload"] = r.workload;
  j["size"] = r.size;
  j["scheduler"] = r.scheduler;
  j["workers"] = r.workers;
  j["fork_depth"] = r.fork_depth;
  j["serial_pages"] = r.serial_pages;
  j["kept_pages"] = r.kept_pages;
  j["bound_pages"] = r.bound();
  j["peak_pages"] = r.peak_pages;
  j["peak_is"] = "sampled";
  j["holds"] = r.holds();
  j["ungiven_pages"] = r.ungiven_pages;
  j["stacks_peak"] = r.stacks_peak;
  j["rss_growth_bytes"] = r.rss_growth_bytes;
  j["runs"] = r.runs;
  j["steals"] = r.steals;
  j["suspensions"] = r.suspensions;
  j["give_backs"] = r.give_backs;
  j["page_faults"] = r.page_faults;
  return j;
}

void print_space_head() {
  fmt::print("{:<22} {:<9} {:>3} {:>6} {:>6} {:>3} {:>9} {:>6} {:>5} {:>8} {:>6} {:>9} {:>11} {:>10} {:>8} {:>9}\n",
             "workload", "scheduler", "P", "D", "S1", "H", "P(S1+D+H)", "peak", "holds", "without", "stacks",
             "steals", "suspensions", "give-backs", "faults", "rss grows");
}

void print_space_row(space_row const& r) {
  fmt::print("{:<22} {:<9} {:>3} {:>6} {:>6} {:>3} {:>9} {:>6} {:>5} {:>8} {:>6} ", r.workload + "=" + r.size,
             r.scheduler, r.workers, r.fork_depth, r.serial_pages, r.kept_pages, r.bound(), r.peak_pages,
             r.holds() ? "yes" : "NO", r.ungiven_pages, r.stacks_peak);
  fmt::print("{:>9.1f} {:>11.1f} {:>10.1f} {:>8.1f} {:>5} KiB\n", r.steals, r.suspensions, r.give_backs,
             r.page_faults, r.rss_growth_bytes / 1024);
  std::fflush(stdout);
}

}  // namespace bench
