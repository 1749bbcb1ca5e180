// V. Kumar, S. M. Blackburn, Faster Work Stealing With Return Barriers, 2014, repeated. See all.hpp. The paper prints
// its figures without numbers; those below are its text's.
#include "../stealing.hpp"
#include "all.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace bench::papers {
namespace {

using outcome = claim::result;

constexpr unsigned k_threads = 12;

std::vector<sized> const benchmarks = {{"jacobi", "1024, 100", "1024:20", "40:3"},
                                       {"lu", "1024", "1024", "64"},
                                       {"heat", "4096 x 1024, 200", "4096:1024:8", "50:20:4"}};

struct repeated_benchmark {
  sized what;
  measured ours;
  stealing_row steals;
  std::vector<std::pair<double, double>> speedups;
  std::vector<std::pair<double, double>> steals_by_workers, rates;
};

/// Cycles that victims lose, of all cycles of all workers, in percent.
double lost(repeated_benchmark const& b, double cycles_of_steal) {
  return 100 * b.steals.steals * cycles_of_steal /
         (b.steals.seconds * 1e9 * cycles_per_ns() * static_cast<double>(b.steals.workers));
}

void show_lost(report& r, std::vector<repeated_benchmark> const& all) {
  table t{fmt::format("Figures 2 and 4. Cycles lost by victims, {} workers", processors()),
          {"benchmark", "without barrier, a steal", "% of all", "with barrier, a steal", "% of all", "lower by"},
          {},
          "The paper: up to 10% lost (Jacobi) without, 58% lower at best with the barrier."};
  double saved = 0;
  double most = 0;
  for (auto const& b : all) {
    auto const& s = b.steals;
    saved += s.saved() / static_cast<double>(all.size());
    most = std::max(most, lost(b, s.victim_cycles_by_one));
    t.rows.push_back({b.what.workload, digits(s.victim_cycles_by_one), digits(lost(b, s.victim_cycles_by_one)),
                      digits(s.victim_cycles), digits(lost(b, s.victim_cycles)),
                      fmt::format("{:.0f}%", 100 * s.saved())});
  }
  r.add(t);
  r.add(claim{"Figure 2, cycles lost by victims", "up to 10%, 12 threads",
              fmt::format("up to {:.2f}% on {}, without the barrier", most, processors()),
              most <= 10 ? outcome::repeated : outcome::not_repeated, ""});
  r.add(claim{"Figure 4, with return barriers", "up to 58% lower",
              fmt::format("{:.0f}% {} in the mean", std::abs(100 * saved), saved < 0 ? "higher" : "lower"),
              saved >= 0.4 ? outcome::repeated : outcome::not_repeated, ""});
}

void show_curves(report& r, std::vector<repeated_benchmark> const& all) {
  double most_ratio = 0;
  double most_rate = 0;
  for (auto const& b : all) {
    r.add(figure{fmt::format("Figure 5. Speed-up of {}", b.what.workload),
                 "threads",
                 "speed-up",
                 {{"implicit", source::measured, {{1, b.ours.speedup_on_one()}, {b.ours.workers, b.ours.speedup()}}},
                  {"implicit", source::predicted, b.speedups}},
                 fmt::format("figure-5-{}", b.what.workload)});
    r.add(figure{fmt::format("Figure 6. Steals for each task, {}", b.what.workload),
                 "threads",
                 "steals/task",
                 {{"implicit", source::measured, {{b.ours.workers, b.steals.steal_ratio()}}},
                  {"implicit", source::predicted, b.steals_by_workers}},
                 fmt::format("figure-6-{}", b.what.workload)});
    r.add(figure{fmt::format("Figure 7. Steals a second, {}", b.what.workload),
                 "threads",
                 "steals/s",
                 {{"implicit", source::measured, {{b.ours.workers, b.steals.steal_rate()}}},
                  {"implicit", source::predicted, b.rates}},
                 fmt::format("figure-7-{}", b.what.workload)});
    most_ratio = std::max(most_ratio, b.steals.steal_ratio());
    most_rate = std::max(most_rate, b.steals.steal_rate());
  }
  double least = k_threads;
  for (auto const& b : all) least = std::min(least, b.speedups.back().second);
  r.add(claim{"Figure 5, 12 threads", "drawn; the barrier changes nothing",
              fmt::format("speed-ups from {:.1f} on, predicted", least), outcome::not_repeatable,
              fmt::format("{} processors", processors())});
  r.add(claim{"Figure 6, steals per task", "1/10 to 1/10^5",
              fmt::format("at most {:.3f} on {}", most_ratio, processors()),
              most_ratio <= 0.1 ? outcome::repeated : outcome::not_repeated, ""});
  r.add(claim{"Figure 7, steals a second", "drawn",
              fmt::format("at most {:.0f} on {}; {:.0f} on 12, predicted", most_rate, processors(),
                          all[0].rates.back().second),
              outcome::not_repeatable, "the text has no figure"});
}

}  // namespace

report show_barriers(effort const& e) {
  report r("barriers", "4. Faster Work Stealing With Return Barriers, 2014");
  contender const& implicit = named("implicit");
  steal_costs const costs = costs_of(implicit, e);
  std::vector<repeated_benchmark> all;
  for (sized const& what : benchmarks) {
    subject s(what, e);
    repeated_benchmark mine{what, s.measure(implicit), {}, {}, {}, {}};
    mine.steals = measure_stealing(*find_workload(s.name()), s.size(), implicit, processors(), 2 * e.turns + 1);
    forecast const more(s.tree(), mine.ours, costs, steal_rule::continuation);
    for (unsigned const p : {1u, 2u, 4u, 6u, 8u, 10u, k_threads}) {
      prediction const at = more.on(p);
      mine.speedups.emplace_back(p, mine.ours.serial * 1e9 / at.ns);
      mine.steals_by_workers.emplace_back(p, at.steals / mine.ours.forks);
      mine.rates.emplace_back(p, at.steals / at.ns * 1e9);
    }
    all.push_back(std::move(mine));
  }
  show_lost(r, all);
  show_curves(r, all);
  return r;
}

}  // namespace bench::papers
