// filch-bench --loops: the tables of rows and rounds (loops.hpp); tiny_loops.cpp has the third one. main.cpp calls
// it.
#include "loops.hpp"

#include "limits.hpp"
#include "program.hpp"

#include <fmt/format.h>
#include <cstdio>

namespace bench {
namespace {

using json = nlohmann::ordered_json;

// The bounds that schedulers of Filch are held to.
constexpr double k_most_together_to_spread = 1.1;
constexpr double k_least_of_joins = 0.95;
constexpr double k_most_direct_to_implicit = 1.05;

/// One contender's seconds of two programs, a pair in each turn.
struct racer {
  std::string_view name;
  bool is_peer;
  std::unique_ptr<running_pool> pool;
  std::vector<double> first;
  std::vector<double> second;
};

/// Two sizes of a workload on all contenders in turn, `serial` before the others.
std::vector<racer> race(std::string_view workload, std::string const& first, std::string const& second,
                        loops_request const& wanted) {
  auto const& w = *find_workload(workload);
  program a(w, first, "a scheduler");
  program b(w, second, "a scheduler");
  std::vector<racer> all;
  contender const serial = contender_under<filch::serial>();
  all.push_back({serial.name, true, serial.make({}), {}, {}});
  for (contender const* const c : wanted.contenders)
    all.push_back({c->name, c->is_peer, c->make({.workers = wanted.workers}), {}, {}});
  for (racer& r : all) a.run(*r.pool);  // threads start, pages are touched
  for (unsigned turn = 0; turn < wanted.turns; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      racer& r = all[(turn + i) % all.size()];
      r.first.push_back(a.run(*r.pool));
      r.second.push_back(b.run(*r.pool));
    }
  }
  return all;
}

}  // namespace

json measure_rows(loops_request const& wanted) {
  auto all = json::array();
  if (!wanted.as_json) {
    fmt::print(
        "a loop of 100,000 iterations with 400 ms of long ones; limit: together at most {} times spread.\n"
        "A limit is broken if the whole 95% interval breaks it, unclear if the median does\n"
        "{:>8}  {:<10} {:>11} {:>8} {:>11} {:>8} {:>16}  {}\n",
        k_most_together_to_spread, "long us", "scheduler", "together ms", "speed-up", "spread ms", "speed-up",
        "together/spread", "limit");
  }
  for (unsigned us : {10u, 100u, 1000u}) {
    if (wanted.quick && us != 100) continue;
    auto const racers = race("rows", fmt::format("{}:together", us), fmt::format("{}:spread", us), wanted);
    for (std::size_t i = 1; i < racers.size(); ++i) {
      racer const& r = racers[i];
      interval const ratio = ratio_interval(r.first, r.second);
      double const speedup_together = ratio_interval(racers[0].first, r.first).median;
      double const speedup_spread = ratio_interval(racers[0].second, r.second).median;
      kept_limits limits;
      if (!r.is_peer) limits.at_most(ratio, k_most_together_to_spread, "together/spread");
      all.push_back({{"long_microseconds", us},
                     {"scheduler", r.name},
                     {"workers", wanted.workers},
                     {"together_seconds", median(r.first)},
                     {"together_speedup", speedup_together},
                     {"spread_seconds", median(r.second)},
                     {"spread_speedup", speedup_spread},
                     {"together_to_spread", ratio.median}});
      limits.add_to(all.back());
      if (wanted.as_json) continue;
      fmt::print("{:>8}  {:<10} {:>11.2f} {:>8.2f} {:>11.2f} {:>8.2f} {:>16.3f}  {}\n", us, r.name,
                 median(r.first) * 1e3, speedup_together, median(r.second) * 1e3, speedup_spread, ratio.median,
                 r.is_peer ? "" : limits.text());
      std::fflush(stdout);
    }
  }
  return all;
}

// Long: a table.
json measure_rounds(loops_request const& wanted) {
  auto all = json::array();
  if (!wanted.as_json) {
    fmt::print(
        "\nrounds of 10 us of serial work and a loop, or joins, over uneven iterations; limits: loop at least {} of "
        "joins;\n"
        "direct's loop at most {} times implicit's\n"
        "{:>10} {:>5}  {:<10} {:>8} {:>8} {:>9} {:>8} {:>9} {:>12}  {}\n",
        k_least_of_joins, k_most_direct_to_implicit, "iterations", "us", "scheduler", "loop ms", "speed-up",
        "joins ms", "speed-up", "of joins", "to implicit", "limits");
  }
  std::vector<unsigned> const each_microseconds = wanted.quick ? std::vector{1u} : std::vector{1u, 5u, 20u, 50u};
  std::vector<unsigned> const each_iterations =
      wanted.quick ? std::vector{16u, 256u} : std::vector{4u, 16u, 64u, 256u};
  for (unsigned us : each_microseconds) {
    for (unsigned n : each_iterations) {
      auto const racers = race("rounds", fmt::format("{}:{}", n, us), fmt::format("{}:{}:joins", n, us), wanted);
      auto const implicit =
          std::find_if(racers.begin(), racers.end(), [](racer const& r) { return r.name == "implicit"; });
      for (std::size_t i = 1; i < racers.size(); ++i) {
        racer const& r = racers[i];
        double const speedup = ratio_interval(racers[0].first, r.first).median;
        double const speedup_of_joins = ratio_interval(racers[0].second, r.second).median;
        interval const of_joins = ratio_interval(r.second, r.first);
        kept_limits limits;
        if (!r.is_peer) limits.at_least(of_joins, k_least_of_joins, "of joins");
        std::optional<double> to_implicit;
        if (implicit != racers.end()) {
          interval const over = ratio_interval(r.first, implicit->first);
          if (r.name == "direct") limits.at_most(over, k_most_direct_to_implicit, "to implicit");
          to_implicit = over.median;
        }
        all.push_back({{"iterations", n},
                       {"microseconds", us},
                       {"scheduler", r.name},
                       {"workers", wanted.workers},
                       {"loop_seconds", median(r.first)},
                       {"loop_speedup", speedup},
                       {"joins_seconds", median(r.second)},
                       {"joins_speedup", speedup_of_joins},
                       {"of_joins", of_joins.median},
                       {"to_implicit", to_implicit ? json(*to_implicit) : json(nullptr)}});
        limits.add_to(all.back());
        if (wanted.as_json) continue;
        fmt::print("{:>10} {:>5}  {:<10} {:>8.2f} {:>8.2f} {:>9.2f} {:>8.2f} {:>9.3f} {:>12}  {}\n", n, us, r.name,
                   median(r.first) * 1e3, speedup, median(r.second) * 1e3, speedup_of_joins, of_joins.median,
                   to_implicit ? fmt::format("{:.3f}", *to_implicit) : "", r.is_peer ? "" : limits.text());
        std::fflush(stdout);
      }
    }
  }
  return all;
}

}  // namespace bench
