// Loops with a heavy tail, beside the best of OpenMP's schedules.
#include "measure_algorithms.hpp"
#include "statistics.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <optional>

namespace bench {
namespace {

using json = nlohmann::ordered_json;

constexpr double k_most_over_best = 1.05;
constexpr unsigned k_tries = 3;           // of each schedule
constexpr std::size_t k_least_turns = 6;  // with a 95% interval

struct named_schedule {
  std::string_view name;
  loop_schedule value;
};
constexpr named_schedule k_schedules[] = {
    {"static", {loop_schedule::fixed, 0}},        {"static,1", {loop_schedule::fixed, 1}},
    {"static,64", {loop_schedule::fixed, 64}},    {"static,1024", {loop_schedule::fixed, 1024}},
    {"dynamic,1", {loop_schedule::dynamic, 1}},   {"dynamic,16", {loop_schedule::dynamic, 16}},
    {"dynamic,64", {loop_schedule::dynamic, 64}}, {"dynamic,256", {loop_schedule::dynamic, 256}},
    {"guided,1", {loop_schedule::guided, 1}},     {"guided,16", {loop_schedule::guided, 16}},
    {"guided,64", {loop_schedule::guided, 64}}};

double run(competitor const& c, algorithm const& a, algorithm_job& j) {
  return time_calls(c.label, j, c.pool->find(a.name), {1}, c.pool.get());
}

/// Leaves the pool with the schedule whose median is the least. Nothing: the contender has no schedules.
std::optional<named_schedule> use_best_schedule(competitor const& c, algorithm const& a, algorithm_job& j) {
  std::optional<named_schedule> best;
  double least = 0;
  for (named_schedule const& s : k_schedules) {
    if (!c.pool->use(s.value)) return std::nullopt;
    std::vector<double> seconds;
    for (unsigned i = 0; i < k_tries; ++i) seconds.push_back(run(c, a, j));
    if (best && median(seconds) >= least) continue;
    best = s;
    least = median(seconds);
  }
  c.pool->use(best->value);
  return best;
}

struct racer {
  competitor const* who;
  std::string schedule;
  std::vector<double> speedups;
  std::vector<double> over_best;  // time over that of OpenMP's best schedule
};

/// The speed-up of copies side by side, the median over the turns.
double race(sized_algorithm const& what, std::vector<racer>& racers, algorithms_request const& wanted,
            unsigned workers) {
  algorithm const& a = *what.what;
  algorithm_copies jobs(a, what.n, workers);
  std::optional<std::size_t> scheduled;
  for (racer& r : racers) {
    run(*r.who, a, jobs.first());  // threads start
    auto const best = use_best_schedule(*r.who, a, jobs.first());
    if (best) scheduled = &r - racers.data();
    r.schedule = best ? fmt::format("{},{}", r.who->name, best->name) : std::string(r.who->name);
  }
  std::vector<double> ceilings;
  for (unsigned turn = 0; turn < wanted.turns; ++turn) {
    double const plain = time_calls("the plain loop", jobs.first(), a.plain, {1});
    ceilings.push_back(plain / jobs.time_side_by_side(workers, 1));
    std::vector<double> seconds(racers.size());
    for (std::size_t i = 0; i < racers.size(); ++i) {
      std::size_t const at = (turn + i) % racers.size();
      seconds[at] = run(*racers[at].who, a, jobs.first());
      racers[at].speedups.push_back(plain / seconds[at]);
    }
    if (!scheduled) continue;
    for (std::size_t i = 0; i < racers.size(); ++i) racers[i].over_best.push_back(seconds[i] / seconds[*scheduled]);
  }
  return median(ceilings);
}

}  // namespace

json measure_tails(std::vector<sized_algorithm> const& rows, algorithms_request const& wanted) {
  unsigned const workers = *std::max_element(wanted.workers.begin(), wanted.workers.end());
  auto const all = competitors_of(wanted, {workers});
  auto results = json::array();
  if (!wanted.as_json) {
    fmt::print(
        "\nloops of 100,000 iterations, 100 ms together: by the law of Pareto; a hundredth of them dear, together "
        "or\n"
        "spread; {} workers. Limit: {} of the time of OpenMP's best schedule, of {} that were tried\n"
        "{:<10} {:<24} {:>8} {:>8} {:>8}  {}\n",
        workers, k_most_over_best, std::size(k_schedules), "iterations", "contender", "speed-up", "ceiling",
        "of best", "limit");
  }
  for (sized_algorithm const& what : rows) {
    std::vector<racer> racers;
    for (competitor const& c : all) {
      if (c.pool->find(what.what->name)) racers.push_back({&c, "", {}, {}});
    }
    double const ceiling = race(what, racers, wanted, workers);
    for (racer const& r : racers) {
      interval const of_best = r.over_best.empty() ? interval{} : median_interval(r.over_best);
      bool const is_broken = !r.who->is_peer && r.over_best.size() >= k_least_turns && of_best.low > k_most_over_best;
      results.push_back({{"iterations", what.what->name},
                         {"contender", r.schedule},
                         {"workers", workers},
                         {"speedup", median(r.speedups)},
                         {"ceiling", ceiling},
                         {"of_best", r.over_best.empty() ? json(nullptr) : json(of_best.median)},
                         {"kept", !is_broken}});
      if (wanted.as_json) continue;
      fmt::print("{:<10} {:<24} {:>8.2f} {:>8.2f} {:>8}  {}\n", what.what->name, r.schedule, median(r.speedups),
                 ceiling, r.over_best.empty() ? "-" : fmt::format("{:.3f}", of_best.median),
                 r.who->is_peer ? ""
                 : is_broken    ? "broken"
                                : "kept");
      std::fflush(stdout);
    }
  }
  return results;
}

}  // namespace bench
