// V. Kumar, D. Frampton, S. M. Blackburn, D. Grove, O. Tardieu, Work-Stealing Without The Baggage, OOPSLA 2012,
// repeated. See all.hpp. The paper prints its figures without numbers; those below are its text's.
#include "../space.hpp"
#include "../statistics.hpp"
#include "all.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace bench::papers {
namespace {

using outcome = claim::result;

constexpr unsigned k_threads = 12;

struct benchmark {
  sized what;
  double speedup_on_12;  // of JavaWS (Try-Catch); 0: not told
  double steal_ratio;    // at 12 threads; 0: not told
};
std::vector<benchmark> const benchmarks = {{{"fib", "40", "36", "18"}, 7, 0},
                                           {{"integrate", "10^4", "500", "1"}, 8.5, 0},
                                           {{"jacobi", "1024, 100", "1024:20", "40:3"}, 0, 0},
                                           {{"matmul", "1024", "512", "64"}, 0, 0},
                                           {{"nqueens-array", "12", "11", "7"}, 0, 0},
                                           {{"quicksort", "10^8", "2000000", "2000"}, 0, 0},
                                           {{"lu", "1024", "1024", "64"}, 0, 0.08},
                                           {{"heat", "4096 x 1024, 200", "4096:1024:8", "50:20:4"}, 0, 0.13}};

struct repeated_benchmark {
  benchmark const* theirs;
  std::string size;
  measured ours, tbb;
  std::vector<std::pair<double, double>> speedups;
  prediction on_12;
  space_row space;

  double steal_ratio() const { return static_cast<double>(ours.counts.steals) / ours.forks; }
};

void show_overheads(report& r, std::vector<repeated_benchmark> const& all) {
  table t{
      "Figures 4 and 7. Time on one thread over the serial program's",
      {"benchmark", "theirs", "size", "implicit", "over itself without forks", "oneTBB"},
      {},
      "The paper's means: Try-Catch 1.15, OffStack under half of X10's, fork-join 2.3, X10 4.1 (fib 18, fork-join "
      "8.4)."};
  std::vector<double> own;
  std::vector<double> of_forks;
  std::vector<double> peers;
  for (auto const& b : all) {
    own.push_back(b.ours.overhead());
    of_forks.push_back(b.ours.one / b.ours.elision);
    if (b.tbb.one > 0) peers.push_back(b.tbb.overhead());
    t.rows.push_back({b.theirs->what.workload, b.theirs->what.theirs, b.size, digits(own.back()),
                      digits(of_forks.back()), b.tbb.one > 0 ? digits(b.tbb.overhead()) : ""});
  }
  double const mean = geometric_mean(own);
  double const mean_of_forks = geometric_mean(of_forks);
  t.rows.push_back({"geometric mean", "", "", digits(mean), digits(mean_of_forks),
                    peers.empty() ? "" : digits(geometric_mean(peers))});
  r.add(t);
  r.add(claim{"Figure 7, overhead on one thread", "mean 1.15",
              fmt::format("geometric mean {:.2f} over the programs without forks", mean_of_forks),
              mean_of_forks <= 1.15 ? outcome::repeated : outcome::not_repeated,
              fmt::format("over the faster serial program, perhaps a loop: {:.2f}; jacobi {:.2f} and {:.2f}, fib "
                          "{:.2f} and {:.2f}",
                          mean, of_forks[2], own[2], of_forks[0], own[0])});
  if (!peers.empty()) {
    r.add(claim{"Figure 4, other frameworks", "fork-join 2.3, X10 4.1",
                fmt::format("oneTBB {:.1f}", geometric_mean(peers)),
                geometric_mean(peers) > 1.5 * mean ? outcome::repeated : outcome::not_repeated, ""});
  }
}

void show_speedups(report& r, std::vector<repeated_benchmark> const& all) {
  table times{"Figure 9. Running time, ms, ours",
              {"benchmark", "serial", "1", fmt::format("{}", processors()), "12, predicted"},
              {},
              "The paper draws seconds of other sizes."};
  for (auto const& b : all) {
    figure f{fmt::format("Figure 8. Speed-up of {}", b.theirs->what.workload),
             "threads",
             "speed-up",
             {},
             fmt::format("figure-8-{}", b.theirs->what.workload)};
    if (b.theirs->speedup_on_12 > 0)
      f.lines.push_back({"JavaWS (Try-Catch)", source::paper, {{k_threads, b.theirs->speedup_on_12}}});
    f.lines.push_back(
        {"implicit", source::measured, {{1, b.ours.speedup_on_one()}, {b.ours.workers, b.ours.speedup()}}});
    f.lines.push_back({"implicit", source::predicted, b.speedups});
    if (b.tbb.one > 0)
      f.lines.push_back(
          {"oneTBB", source::measured, {{1, b.tbb.speedup_on_one()}, {b.tbb.workers, b.tbb.speedup()}}});
    r.add(std::move(f));
    times.rows.push_back({b.theirs->what.workload, digits(1e3 * b.ours.serial), digits(1e3 * b.ours.one),
                          digits(1e3 * b.ours.most), digits(b.on_12.ns * 1e-6)});
  }
  r.add(times);
  double const fib = all[0].speedups.back().second;
  double const integrate = all[1].speedups.back().second;
  r.add(claim{"Figure 8, speed-up on 12", "fib 7, integrate 8.5",
              fmt::format("{:.1f}, {:.1f}, predicted", fib, integrate), outcome::not_repeatable,
              fmt::format("{} processors", processors())});
  bool const is_faster = all[0].ours.speedup() > 1 && all[1].ours.speedup() > 1;
  r.add(claim{"Figure 8, two threads", "fib and integrate faster than serial",
              fmt::format("{:.2f}, {:.2f}", all[0].ours.speedup(), all[1].ours.speedup()),
              is_faster ? outcome::repeated : outcome::not_repeated, ""});
  r.add(claim{"Figure 9, running time", "drawn, other sizes and machine",
              fmt::format("fib {:.1f} ms on {}, {:.1f} on 12 predicted", 1e3 * all[0].ours.most, processors(),
                          all[0].on_12.ns * 1e-6),
              outcome::not_repeatable, "no Java machine"});
}

void show_memory(report& r, std::vector<repeated_benchmark> const& all) {
  constexpr std::int64_t k_most_growth_bytes = 4 << 20;
  table t{
      "Figure 10. Theirs: garbage collection under 10% of the time. Ours has no heap objects: pages of stack on 12 "
      "threads",
      {"benchmark", "pages at the peak", "KiB grown in 8 runs"},
      {},
      ""};
  std::uint64_t most = 0;
  bool is_recycled = true;
  for (auto const& b : all) {
    most = std::max(most, b.space.peak_pages);
    is_recycled = is_recycled && b.space.rss_growth_bytes <= k_most_growth_bytes;
    t.rows.push_back({b.theirs->what.workload, fmt::format("{}", b.space.peak_pages),
                      fmt::format("{}", b.space.rss_growth_bytes / 1024)});
  }
  r.add(t);
  r.add(claim{"Figure 10, garbage collection", "under 10% of the time",
              fmt::format("none; at most {} pages of stack, 12 threads", most),
              is_recycled ? outcome::repeated : outcome::not_repeated,
              "repeated: no program grows by 4 MiB in 8 runs"});
}

void show_steals(report& r, std::vector<repeated_benchmark> const& all) {
  table t{"Figures 5 and 11. Steals for each task; the paper's at 12 threads where it tells",
          {"benchmark", "theirs", fmt::format("on {}", processors()), "on 12, predicted", "failed looks"},
          {},
          "A failed look is a round over all victims in vain; the paper counts steals that lost a race."};
  double most = 0;
  for (auto const& b : all) {
    double const on_12 = b.on_12.steals / b.ours.forks;
    most = std::max(most, on_12);
    t.rows.push_back({b.theirs->what.workload, b.theirs->steal_ratio > 0 ? digits(b.theirs->steal_ratio) : "",
                      fmt::format("{:.1e}", b.steal_ratio()), fmt::format("{:.1e}", on_12),
                      fmt::format("{}", b.ours.counts.failed_steals)});
  }
  r.add(t);
  r.add(claim{
      "Figures 5 and 11, steals per task", "0.08 (lu), 0.13 (heat), others to 10^-6, on 12",
      fmt::format("at most {:.3f} on 12, predicted; fib {:.0e} on {}", most, all[0].steal_ratio(), processors()),
      most < 0.2 ? outcome::repeated : outcome::not_repeated, ""});
}

}  // namespace

report show_trycatch(effort const& e) {
  report r("trycatch", "1. Work-Stealing Without The Baggage (try-catch), OOPSLA 2012");
  contender const& implicit = named("implicit");
  steal_costs const costs = costs_of(implicit, e);
  std::vector<repeated_benchmark> all;
  for (benchmark const& b : benchmarks) {
    subject s(b.what, e);
    repeated_benchmark mine{&b, s.size(), s.measure(implicit), {}, {}, {}, {}};
    if (contender const* const tbb = peer("onetbb")) mine.tbb = s.measure(*tbb);
    forecast const more(s.tree(), mine.ours, costs, steal_rule::continuation);
    mine.speedups = more.speedups({1, 2, 4, 6, 8, 10, k_threads});
    mine.on_12 = more.on(k_threads);
    mine.space = measure_space(*find_workload(s.name()), s.size(), implicit, e.is_tiny ? 3 : k_threads);
    all.push_back(std::move(mine));
  }
  show_overheads(r, all);
  show_speedups(r, all);
  show_memory(r, all);
  show_steals(r, all);
  return r;
}

}  // namespace bench::papers
