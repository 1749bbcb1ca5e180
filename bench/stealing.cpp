// filch-bench --stealing: times single steals, and counts those of workloads (stealing.hpp). main.cpp calls it.
#include "stealing.hpp"

#include "program.hpp"
#include "statistics.hpp"

#include <filch/default_scheduler.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include "schedulers/implicit/probes.hpp"

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t cycles() { return __builtin_ia32_rdtsc(); }

/// Nanoseconds of a cycle of the time-stamp counter, measured once.
double cycle_ns() {
  static double const ns = [] {
    auto const begin = clock::now();
    std::uint64_t const from = cycles();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::uint64_t const to = cycles();
    return std::chrono::duration<double, std::nano>(clock::now() - begin).count() / static_cast<double>(to - from);
  }();
  return ns;
}

#if defined(FILCH_PROBES)
filch::detail::probes::words& probes() { return filch::detail::probes::all(); }

/// Counts cycles as long as it exists.
class counting_cycles {
 public:
  counting_cycles() { probes().counts_cycles.set(true); }
  counting_cycles(counting_cycles const&) = delete;
  counting_cycles& operator=(counting_cycles const&) = delete;
  ~counting_cycles() {
    offer_at_most(0);
    probes().counts_cycles.set(false);
  }
  void offer_at_most(std::uint32_t n) {
    probes().offers_at_most.set(n);
    probes().victims_wait.set(n == 1);
  }
  static std::uint64_t in_walks() { return probes().walk_cycles.get(); }
  static std::uint64_t of_victims() { return probes().victim_cycles.get(); }
};
#else
/// The library was built without FILCH_PROBES: all cycles are 0.
class counting_cycles {
 public:
  void offer_at_most(std::uint32_t) {}
  static std::uint64_t in_walks() { return 0; }
  static std::uint64_t of_victims() { return 0; }
};
#endif

/// The sum of the runs of one way.
struct sum {
  std::vector<double> seconds;
  pool_counts all;
  std::uint64_t walk_cycles = 0;
  std::uint64_t victim_cycles = 0;

  void run(program& p, running_pool& pool) {
    auto const before = pool.stats().value();
    walk_cycles -= counting_cycles::in_walks();
    victim_cycles -= counting_cycles::of_victims();
    seconds.push_back(p.run(pool));
    auto const after = pool.stats().value();
    all.steals += after.steals - before.steals;
    all.failed_steals += after.failed_steals - before.failed_steals;
    all.walks += after.walks - before.walks;
    walk_cycles += counting_cycles::in_walks();
    victim_cycles += counting_cycles::of_victims();
  }
  double each(std::uint64_t n) const { return static_cast<double>(n) / static_cast<double>(seconds.size()); }
  double victim_cycles_per_steal() const { return ratio(victim_cycles, all.steals); }
  static double ratio(std::uint64_t a, std::uint64_t b) {
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
  }
};

}  // namespace

stealing_row measure_stealing(workload const& w, std::string_view size, contender const& c, unsigned workers,
                              unsigned runs) {
  program job(w, size, c.name);
  stealing_row r;
  r.workload = w.name;
  r.size = size;
  r.workers = workers;
  r.forks = static_cast<double>(count_forks(w.name, job.instance()).forks);
  auto const pool = c.make({.workers = workers});
  job.run(*pool);
  counting_cycles trial;
  sum with;
  sum without;
  for (unsigned i = 0; i < runs; ++i) {
    trial.offer_at_most(0);
    with.run(job, *pool);
    trial.offer_at_most(1);
    without.run(job, *pool);
  }
  r.seconds = median(with.seconds);
  r.steals = with.each(with.all.steals);
  r.failed_steals = with.each(with.all.failed_steals);
  r.walks = with.each(with.all.walks);
  r.walk_ns = sum::ratio(with.walk_cycles, with.all.walks) * cycle_ns();
  r.victim_cycles = with.victim_cycles_per_steal();
  r.victim_cycles_by_one = without.victim_cycles_per_steal();
  return r;
}

nlohmann::ordered_json to_json(stealing_row const& r) {
  nlohmann::ordered_json j;
  j["workload"] = r.workload;
  j["size"] = r.size;
  j["workers"] = r.workers;
  j["seconds"] = r.seconds;
  j["forks"] = r.forks;
  j["steals"] = r.steals;
  j["failed_steals"] = r.failed_steals;
  j["steal_ratio"] = r.steal_ratio();
  j["steals_per_second"] = r.steal_rate();
  j["walks"] = r.walks;
  j["walk_ns"] = r.walk_ns;
  j["victim_cycles_per_steal"] = r.victim_cycles;
  j["victim_cycles_per_steal_one_by_one"] = r.victim_cycles_by_one;
  j["victim_cycles_saved"] = r.saved();
  return j;
}

void print_stealing_head() {
  fmt::print("{:<22} {:>3} {:>10} {:>10} {:>10} {:>11} {:>10} {:>9} {:>9} {:>13} {:>11} {:>6}\n", "workload", "P",
             "seconds", "steals", "failed", "steals/fork", "steals/s", "walks", "walk ns", "victim cycles",
             "one by one", "saved");
}

void print_stealing_row(stealing_row const& r) {
  fmt::print(
      "{:<22} {:>3} {:>10.6f} {:>10.1f} {:>10.1f} {:>11.2e} {:>10.0f} {:>9.1f} {:>9.0f} {:>13.0f} {:>11.0f} "
      "{:>5.0f}%\n",
      r.workload + "=" + r.size, r.workers, r.seconds, r.steals, r.failed_steals, r.steal_ratio(), r.steal_rate(),
      r.walks, r.walk_ns, r.victim_cycles, r.victim_cycles_by_one, 100 * r.saved());
  std::fflush(stdout);
}

steal_latency measure_steal_latency(contender const& c) {
  constexpr unsigned k_joins = 40;
  constexpr int k_runs = 501;
  constexpr int k_runs_asleep = 51;
  constexpr std::uint64_t k_quiet_cycles = 10'000;  // some microseconds: less than thieves look for

  struct life {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::array<life, k_joins> lives;
  std::atomic<std::size_t> begun{0};
  std::atomic<std::size_t> ended{0};
  std::uint64_t polled = 0;
  std::size_t first = 0;  // the first that is stolen
  auto const second = [&] {
    std::uint64_t const now = cycles();
    std::size_t const i = begun.fetch_add(1);
    lives[i].begin = now;
    ended.fetch_add(1);
    lives[i].end = cycles();
  };

  auto const pool = c.make({.workers = 2});
  // Returns the number of these steals. It is smaller if thieves had nearly all tasks before: a worker that does not
  // fork for long is interrupted, or a request stood on the way down.
  auto const nest = [&](std::size_t steals, auto&& wait) {
    begun = 0;
    ended = 0;
    pool->nest(
        k_joins,
        [&] {
          // A request on the way down was answered: its offers have to be done, and some more time has to pass.
          for (std::uint64_t since = cycles(); cycles() - since < k_quiet_cycles;) {
            wait();
            std::size_t const now = begun.load();
            if (now != first || ended.load() != now) since = cycles();
            first = now;
          }
          polled = cycles();
        },
        [&] {
          while (ended.load() < std::min<std::size_t>(first + steals, k_joins)) {
          }
        },
        second);
    return std::min(steals, k_joins - first);
  };
  auto const ns = [](std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from)) * cycle_ns();
  };

  std::vector<double> asked;
  std::vector<double> next;
  for (int i = 0; i < k_runs; ++i) {
    std::size_t const steals = nest(2, [&] {
      while (!pool->wanted()) {
      }
    });
    if (steals > 0) asked.push_back(ns(polled, lives[first].begin));
    if (steals > 1) next.push_back(ns(lives[first].end, lives[first + 1].begin));
  }
  std::vector<double> asleep;
  for (int i = 0; i < k_runs_asleep; ++i) {
    auto const has_slept = [&, before = pool->stats()->sleeps] { return pool->stats()->sleeps != before; };
    std::size_t const steals = nest(1, [&] {
      while (!has_slept()) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the counter comes before the call of the kernel
    });
    if (steals > 0) asleep.push_back(ns(polled, lives[first].begin));
  }
  if (asked.empty() || asleep.empty()) throw bad_request("no steal could be timed: the machine is too busy");
  return {median(asked), next.empty() ? std::nullopt : std::optional(median(next)), median(asleep)};
}

nlohmann::ordered_json to_json(steal_latency const& l) {
  nlohmann::ordered_json j;
  j["asked_ns"] = l.asked_ns;
  if (l.next_ns) j["next_ns"] = *l.next_ns;
  j["asleep_ns"] = l.asleep_ns;
  return j;
}

void print(steal_latency const& l, std::string_view scheduler) {
  fmt::print(
      "{}: a steal, 40 joins deep, from the poll to the first instruction: {:.0f} ns; {}by a sleeping thief: {:.1f} "
      "us\n",
      scheduler, l.asked_ns, l.next_ns ? fmt::format("the next of the same offer: {:.0f} ns; ", *l.next_ns) : "",
      l.asleep_ns / 1000);
  std::fflush(stdout);
}

}  // namespace bench
