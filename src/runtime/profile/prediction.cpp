// Runs the simulation for the runs of a fork tree, those with the most work first, and estimates the rest from their
// work and span. profile.cpp calls it for the report.
#include "runtime/profile/prediction.hpp"

#include "runtime/profile/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace filch::runtime::profile {

double steal_costs::crowded(double cost, unsigned workers) const noexcept {
  return workers <= 2 ? cost : cost * (1 + growth * std::log2(workers / 2.0));
}

namespace {

constexpr std::uint64_t k_enough = 16;  // simulations of alike runs, which differ by chance alone

/// Alike runs.
struct runs_of_tree {
  fork_tree::part task;
  double times;
  prediction one{};      // its work and span; once it is simulated, the sum of the simulations
  std::uint64_t seed;    // of the first simulation
  std::uint64_t wanted;  // simulations
  std::uint64_t simulated = 0;

  double work() const noexcept { return times * one.work_ns; }
};

void add(prediction& sum, prediction const& p, double times) noexcept {
  sum.ns += times * p.ns;
  sum.steals += times * p.steals;
  sum.own_ns += times * p.own_ns;
  sum.on_top_ns += times * p.on_top_ns;
  sum.searching_ns += times * p.searching_ns;
  sum.waiting_ns += times * p.waiting_ns;
}

std::vector<runs_of_tree> runs_of(fork_tree const& tree, timed_tree const& timed, unsigned workers,
                                  std::uint64_t seed) {
  std::vector<runs_of_tree> all;
  for (fork_tree::run const& r : tree.runs) {
    runs_of_tree of{r.task, static_cast<double>(r.times), {}, seed + 1, std::min(r.times, k_enough)};
    of.one.workers = workers;
    of.one.work_ns = timed.work(r.task);
    of.one.span_ns = timed.span(r.task);
    seed += of.wanted;
    all.push_back(of);
  }
  return all;
}

std::vector<runs_of_tree*> by_work(std::vector<runs_of_tree>& all) {
  std::vector<runs_of_tree*> sorted;
  for (auto& each : all) sorted.push_back(&each);
  std::sort(sorted.begin(), sorted.end(), [](auto const* a, auto const* b) {
    return std::pair(-a->work(), a->seed) < std::pair(-b->work(), b->seed);
  });
  return sorted;
}

/// By turns, those with the most work, and ones that are spread over all the others.
std::vector<runs_of_tree*> mixed(std::vector<runs_of_tree*> const& sorted) {
  std::vector<runs_of_tree*> order;
  std::vector<bool> is_taken(sorted.size());
  auto const take = [&](std::size_t i) {
    if (!is_taken[i]) order.push_back(sorted[i]);
    is_taken[i] = true;
  };
  for (std::size_t i = 0; i != sorted.size(); ++i) {
    take(i);
    // The bits of i, mirrored at the point.
    double at = 0;
    double bit = 0.5;
    for (std::size_t rest = i + 1; rest != 0; rest /= 2, bit /= 2) at += static_cast<double>(rest % 2) * bit;
    take(static_cast<std::size_t>(at * static_cast<double>(sorted.size())));
  }
  return order;
}

/// Each once, then again, until there are enough simulations or the effort is spent; the first one in any case.
/// Returns the effort.
template <class Simulate>
double simulate_some(std::vector<runs_of_tree*> const& order, double most_effort, Simulate simulate) {
  double effort = 0;
  for (std::uint64_t i = 0; i < k_enough; ++i) {
    for (runs_of_tree* const each : order) {
      if (effort > 0 && effort >= most_effort) return effort;
      if (i >= each->wanted) continue;
      prediction const p = simulate(*each, each->seed + i, most_effort - effort);
      effort += p.effort;
      if (i != 0 && p.simulated < 1) return effort;  // there are whole ones
      add(each->one, p, 1);
      each->one.simulated = p.simulated;
      ++each->simulated;
    }
  }
  return effort;
}

/// As much longer than the least time as the simulated runs, by what it could be under a greedy schedule.
prediction estimate(prediction const& of, runs_of_tree const& like) noexcept {
  auto const times = static_cast<double>(like.simulated);
  double const least = of.least_ns();
  double const room = like.one.greedy_ns() - like.one.least_ns();
  double const late = room > 0 ? std::max(0.0, (like.one.ns / times - like.one.least_ns()) / room) : 0;
  prediction p;
  p.ns = std::max(least, std::min(of.work_ns, least + late * (of.greedy_ns() - least)));
  if (like.one.work_ns > 0) p.steals = like.one.steals / times / like.one.work_ns * of.work_ns;
  p.own_ns = of.work_ns;
  p.searching_ns = of.workers * p.ns - p.own_ns;
  return p;
}

}  // namespace

prediction predict(fork_tree const& tree, steal_costs const& costs, steal_rule rule, unsigned workers,
                   std::uint64_t seed, double most_effort) {
  timed_tree const timed(tree, costs.fork);
  std::vector<runs_of_tree> all = runs_of(tree, timed, workers, seed);
  std::vector<runs_of_tree*> const sorted = by_work(all);
  prediction sum;
  sum.workers = workers;
  sum.effort =
      simulate_some(mixed(sorted), most_effort, [&](runs_of_tree const& of, std::uint64_t its_seed, double effort) {
        return simulated::simulation(timed, costs, rule, workers, its_seed).run(of.task, effort);
      });
  double left_out = 0;
  for (auto const& each : all) {
    sum.work_ns += each.work();
    sum.span_ns += each.times * each.one.span_ns;
    if (each.simulated != 0) add(sum, each.one, each.times / static_cast<double>(each.simulated));
    left_out += each.simulated != 0 ? (1 - each.one.simulated) * each.work() : each.work();
  }
  if (left_out > 0) sum.simulated = 1 - left_out / sum.work_ns;
  runs_of_tree const* like = nullptr;  // with the next more work; the first one is simulated
  for (runs_of_tree const* const each : sorted) {
    if (each->simulated != 0)
      like = each;
    else
      add(sum, estimate(each->one, *like), each->times);
  }
  return sum;
}

}  // namespace filch::runtime::profile
