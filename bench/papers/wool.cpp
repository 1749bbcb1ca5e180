// K.-F. Faxen, Efficient Work Stealing for Fine Grained Parallelism, ICPP 2010, repeated. See all.hpp.
#include "../ablations.hpp"
#include "../peers/openmp_name.hpp"
#include "../workloads/stress.hpp"
#include "all.hpp"
#include "runtime/profile/timed_tree.hpp"
#include "wool_numbers.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace bench::papers {
namespace {

using namespace wool;
using outcome = claim::result;

outcome if_true(bool holds) { return holds ? outcome::repeated : outcome::not_repeated; }
double kilocycles(double seconds) { return seconds * 1e6 * cycles_per_ns(); }

/// The paper's second model: a join runs in order if that saves less than the cost of a steal, else that is added.
double burdened_span(fork_tree const& t, double burden_ns) {
  std::vector<double> spans;
  for (fork_tree::node const& n : t.nodes) {
    double span = n.after_ns;
    for (auto j = n.first_join; j != n.first_join + n.joins; ++j) {
      fork_tree::join const& join = t.joins[j];
      double const of_f = join.f.scale * spans[join.f.node];
      double const of_g = join.g.scale * spans[join.g.node];
      span += static_cast<double>(join.times) *
              (join.before_ns + std::min(of_f + of_g, std::max(of_f, of_g) + burden_ns));
    }
    spans.push_back(span);
  }
  double sum = 0;
  for (auto const& r : t.runs) sum += static_cast<double>(r.times) * r.task.scale * spans[r.task.node];
  return sum;
}

/// One workload of table I.
struct characteristics {
  workload_row const* theirs;
  measured ours;
  fork_tree tree;       // as long as the serial program
  double of_model = 0;  // time on one worker over that of leaves and forks
  std::map<unsigned, prediction> on;
  double predicted_speedup() const {
    return ours.serial * 1e9 / on.at(ours.workers).ns * ours.ceiling / ours.workers;
  }
};

characteristics characterize(workload_row const& row, contender const& direct, steal_costs const& costs, double fork,
                             effort const& e) {
  characteristics c{&row, {}, {}, 0, {}};
  subject s(row.what, e);
  c.ours = s.measure(direct);
  if (row.what.workload == "stress") {
    auto const in = stress::prepare(row.what.size(e));
    auto const repetitions = static_cast<double>(in.repetitions);
    double const leaf = c.ours.serial * 1e9 / repetitions / static_cast<double>(1u << in.height);
    c.tree = perfect(static_cast<unsigned>(in.height), leaf, static_cast<std::uint64_t>(in.repetitions));
  } else {
    c.tree = lasting(s.tree(), c.ours.serial);
  }
  c.of_model = c.ours.one / (c.ours.serial + c.ours.forks * fork * 1e-9);
  fork_tree const timed = lasting(c.tree, c.ours.one);
  for (unsigned p = 1; p <= std::max(12u, c.ours.workers); ++p)
    c.on[p] = predict(timed, costs, steal_rule::leapfrog, p);
  return c;
}

void show_table_1(report& r, std::vector<characteristics> const& all) {
  table t{"Table I. Workload characteristics: the paper / ours (measured up to G_L(2), predicted from G_L(3) on)",
          {"workload", "par. 0", "par. 2000", "RepSz kcyc", "G_T cyc", "G_L(2) kcyc", "G_L(4)", "G_L(8)", "T1/model",
           "T2 pred./meas."},
          {},
          "T1/model: time on one worker over that of the serial program with the cost of its forks. T2: predicted by "
          "the simulator over measured."};
  unsigned fits = 0, of = 0, near = 0, nearly = 0;
  std::vector<double> g_t;
  for (auto const& c : all) {
    auto const pair = [](double a, double b) { return digits(a) + " / " + digits(b); };
    double const work = c.on.at(1).work_ns;
    double const g_l =
        c.ours.counts.steals ? kilocycles(c.ours.serial) / static_cast<double>(c.ours.counts.steals) : 0;
    auto const predicted = [&](unsigned p) { return kilocycles(c.ours.serial) / std::max(1.0, c.on.at(p).steals); };
    double const ratio = c.ours.speedup() / c.predicted_speedup();
    t.rows.push_back({c.theirs->what.workload + " " + c.theirs->what.theirs,
                      pair(c.theirs->parallelism, work / c.on.at(1).span_ns),
                      pair(c.theirs->with_2000, c.ours.serial * 1e9 / burdened_span(c.tree, 2000 / cycles_per_ns())),
                      pair(c.theirs->rep_size, kilocycles(c.ours.serial) / static_cast<double>(c.theirs->times)),
                      pair(c.theirs->g_t, 1000 * kilocycles(c.ours.serial) / c.ours.forks),
                      pair(c.theirs->g_l[0], g_l), pair(c.theirs->g_l[2], predicted(4)),
                      pair(c.theirs->g_l[6], predicted(8)), digits(c.of_model), digits(ratio)});
    if (c.theirs->what.workload != "cholesky") {
      ++of;
      fits += c.of_model > 0.95 && c.of_model < 1.05;
    }
    near += ratio > 0.9 && ratio < 1.1;
    nearly += ratio > 0.75 && ratio < 1.25;
    g_t.push_back(1000 * kilocycles(c.ours.serial) / c.ours.forks);
  }
  r.add(t);
  auto const [finest, coarsest] = std::minmax_element(g_t.begin(), g_t.end());
  r.add(claim{"Table I, granularity", "G_T 211 to 4.8 M cycles",
              fmt::format("{} to {} M cycles", digits(*finest), digits(*coarsest * 1e-6)),
              if_true(*finest < 1000 && *coarsest > 1e6), "other processor and compiler"});
  r.add(claim{"Table I, stress, mm and ssf on one worker", "not told",
              fmt::format("within 5% of leaves and forks in {} of {} rows", fits, of), if_true(fits == of), ""});
  r.add(claim{"Table I, predicted on two workers", "not told",
              fmt::format("time within 10% of measured in {} of {} rows, within 25% in {}", near, all.size(), nearly),
              if_true(nearly == all.size()), "relative to the ceiling"});
}

void show_table_2(report& r, effort const& e) {
  long const n = e.is_tiny ? 16 : 36;
  auto const variants = join_ablations();
  std::vector<std::vector<double>> seconds(variants.size());
  for (unsigned turn = 0; turn < e.turns; ++turn) {
    for (std::size_t i = 0; i < variants.size(); ++i) seconds[i].push_back(variants[i].fib(n));
  }
  double forks = 1;
  for (double a = 1, b = 1, k = 1; k < static_cast<double>(n); ++k) b = std::exchange(a, a + b), forks = a - 1;
  table t{fmt::format("Table II. Optimizing inlined tasks, one processor: fib(42) / fib({})", n),
          {"version", "time s", "ours", "overhead cycles", "ours"},
          {},
          ""};
  std::vector<double> cycles;
  double const serial = median(seconds.back());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    double const s = median(seconds[i]);
    cycles.push_back((s - serial) * 1e9 * cycles_per_ns() / forks);
    t.rows.push_back({std::string(table_2[i].version), digits(table_2[i].seconds), digits(s),
                      digits(table_2[i].cycles), digits(cycles.back())});
  }
  r.add(t);
  bool const in_order = cycles[0] > cycles[1] && cycles[1] > cycles[2] && cycles[2] > cycles[4];
  r.add(claim{
      "Table II, order of the ablations", "77, 29, 19, 19, 3 cycles a fork",
      fmt::format("{:.0f}, {:.0f}, {:.0f}, {:.0f}, {:.0f}", cycles[0], cycles[1], cycles[2], cycles[3], cycles[4]),
      if_true(in_order),
      in_order ? "" : fmt::format("an exchange of an own line costs {:.1f} cycles here", cycles[3] - cycles[4])});
}

void show_figure_4(report& r, effort const& e) {
  for (ablation const& v : ablations_with_thieves(processors())) {  // throws if an answer is wrong
    v.fib(15);
    v.stress("64:6:50");
  }
  auto const variants = steal_ablations(processors());
  auto const alone = steal_ablations(1);
  figure f{fmt::format("Figure 4. Steal strategies on stress, 256 iterations, {} workers", processors()),
           "tree height",
           "speed-up over one worker",
           {},
           "figure-4"};
  std::map<std::string_view, std::vector<double>> all;
  for (auto const& v : variants) f.lines.push_back({std::string(v.name), source::measured, {}});
  for (unsigned height = 8; height <= 12; ++height) {
    std::string const size = fmt::format("256:{}:{}", height, e.is_tiny ? 2 : 200 >> (height - 8));
    std::vector<std::vector<double>> speedups(variants.size());
    for (unsigned turn = 0; turn < e.turns; ++turn) {
      for (std::size_t i = 0; i < variants.size(); ++i) {
        double const one = alone[i].stress(size);
        speedups[i].push_back(one / variants[i].stress(size));
      }
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
      f.lines[i].points.emplace_back(height, median(speedups[i]));
      all[variants[i].name].push_back(median(speedups[i]));
    }
  }
  r.add(f);
  std::vector<double> means;
  for (auto const& v : variants) means.push_back(geometric_mean(all[v.name]));
  bool const in_order = std::is_sorted(means.begin(), means.end());
  bool const has_one_thief = processors() == 2;
  r.add(claim{"Figure 4, order of the steal strategies", "base < peek < trylock < nolock, to 8 processors",
              fmt::format("means on {}: {:.2f}, {:.2f}, {:.2f}, {:.2f}", processors(), means[0], means[1], means[2],
                          means[3]),
              in_order        ? outcome::repeated
              : has_one_thief ? outcome::not_repeatable
                              : outcome::not_repeated,
              !in_order && has_one_thief ? "one thief: locks are free, as at the paper's left end" : ""});
}

/// Table III, as in IV-D: a tree of that height on as many processors, less a leaf.
double predicted_cost(steal_costs const& c, unsigned workers, unsigned height) {
  constexpr double k_leaf_ns = 20'000;
  return predict(perfect(height, k_leaf_ns, 16), c, steal_rule::leapfrog, workers).ns / 16 - k_leaf_ns;
}

void show_table_3(report& r, steal_costs const& costs, double fork, effort const& e) {
  table t{"Table III. Costs of inlined and stolen tasks, cycles; ours on 4 and 8 predicted",
          {"system", "inlined", "2", "4", "8"},
          {},
          ""};
  for (auto const& row : table_3)
    t.rows.push_back({fmt::format("{} (paper)", row.system), digits(row.inlined), digits(row.on_2), digits(row.on_4),
                      digits(row.on_8)});
  double const cycles = cycles_per_ns();
  double const of_direct = predicted_cost(costs, 2, 1) * cycles;
  t.rows.push_back({"direct", digits(fork * cycles), digits(of_direct), digits(predicted_cost(costs, 4, 2) * cycles),
                    digits(predicted_cost(costs, 8, 3) * cycles)});
  double least_peer = 0;
  for (std::string_view const name : {std::string_view("onetbb"), k_openmp}) {
    contender const* const c = peer(name);
    if (!c) continue;
    double const cost = steal_and_join_ns(*c, e) * cycles;
    bool const is_noise = cost < 100;  // the difference of two times
    if (!is_noise) least_peer = least_peer == 0 ? cost : std::min(least_peer, cost);
    t.rows.push_back({std::string(name), digits(fork_ns(*c, e) * cycles), is_noise ? "noise" : digits(cost), "", ""});
  }
  r.add(t);
  r.add(claim{"Table III, inlined task", "3 to 19 cycles", fmt::format("{:.1f}", fork * cycles),
              if_true(fork * cycles < 19), ""});
  std::string const better = least_peer == 0 ? "none above noise" : digits(least_peer);
  r.add(claim{"Table III, a steal", "2,200 cycles, at most half of TBB's and OpenMP's",
              fmt::format("{:.0f}; the better peer {}", of_direct, better), if_true(2 * of_direct <= least_peer),
              ""});
}

/// C_p + (W + 2 (S_p - (p - 1)) C_2) / p, section IV-D2.
double model_speedup(characteristics const& c, steal_costs const& costs, unsigned p) {
  unsigned const height = p == 8 ? 3 : p == 4 ? 2 : 1;
  double const times = static_cast<double>(c.theirs->times);
  double const work = c.ours.serial * 1e9 / times;
  double const steals = std::max(static_cast<double>(p - 1), c.on.at(p).steals / times);
  double const time =
      predicted_cost(costs, p, height) + (work + 2 * (steals - (p - 1)) * predicted_cost(costs, 2, 1)) / p;
  return work / time;
}

void show_table_4(report& r, characteristics const& mm, steal_costs const& costs) {
  table t{"Table IV. The steal cost model on mm 64: computed (measured)",
          {"system", "2", "4", "8"},
          {},
          "direct on 4 and 8: (predicted by the simulator)."};
  for (auto const& row : table_4) {
    auto const cell = [&row](std::size_t i) { return fmt::format("{:.1f} ({:.1f})", row.model[i], row.measured[i]); };
    t.rows.push_back({fmt::format("{} (paper)", row.system), cell(0), cell(1), cell(2)});
  }
  auto const simulated = [&mm](unsigned p) { return mm.ours.serial * 1e9 / mm.on.at(p).ns; };
  double const of_ceiling = mm.ours.speedup() * mm.ours.workers / mm.ours.ceiling;
  t.rows.push_back({"direct", fmt::format("{:.1f} ({:.1f})", model_speedup(mm, costs, 2), of_ceiling),
                    fmt::format("{:.1f} ({:.1f})", model_speedup(mm, costs, 4), simulated(4)),
                    fmt::format("{:.1f} ({:.1f})", model_speedup(mm, costs, 8), simulated(8))});
  r.add(t);
  r.add(
      claim{"Table IV, model of mm 64", "2.0, 3.9, 7.1 computed; 2.2, 4.3, 6.8 measured",
            fmt::format("{:.1f}, {:.1f}, {:.1f} computed; {:.1f} measured (of the ceiling), {:.1f}, {:.1f} predicted",
                        model_speedup(mm, costs, 2), model_speedup(mm, costs, 4), model_speedup(mm, costs, 8),
                        of_ceiling, simulated(4), simulated(8)),
            if_true(std::abs(model_speedup(mm, costs, 2) / of_ceiling - 1) < 0.2), ""});
}

void show_speedups(report& r, std::vector<characteristics> const& all) {
  for (std::string_view const name : {"cholesky", "mm", "ssf", "stress"}) {
    figure f{fmt::format("Figure 5. Speed-up of {} under direct", name),
             "processors",
             "speed-up",
             {},
             fmt::format("figure-5-{}", name)};
    for (auto const& c : all) {
      if (c.theirs->what.workload != name) continue;
      double const base = name == "stress" ? c.ours.one : c.ours.serial;
      std::string const label = c.theirs->what.theirs;
      f.lines.push_back({label, source::measured, {{1, base / c.ours.one}, {c.ours.workers, base / c.ours.most}}});
      series s{label, source::predicted, {}};
      for (auto const& [p, at] : c.on) {
        if (p <= 8) s.points.emplace_back(p, base * 1e9 / at.ns);
      }
      f.lines.push_back(std::move(s));
    }
    if (name == "mm") f.lines.push_back({"64, Wool", source::paper, {{2, 2.2}, {4, 4.3}, {8, 6.8}}});
    r.add(f);
  }
  double least = 8;
  double most = 0;
  for (auto const& c : all) {
    double const s = c.ours.serial * 1e9 / c.on.at(8).ns;
    least = std::min(least, s);
    most = std::max(most, s);
  }
  r.add(claim{"Figure 5, eight processors", "mm 64: 6.8", fmt::format("{:.1f} to {:.1f}, predicted", least, most),
              outcome::not_repeatable, fmt::format("{} processors", processors())});
}

void show_figure_1(report& r, steal_costs const& costs, effort const& e) {
  figure f{"Figure 1. Speed-up: fib without cut-off (absolute), stress 4096, 3 (relative)",
           "processors",
           "speed-up",
           {},
           "figure-1"};
  double fib_on_2 = 0;
  for (sized const& what :
       {sized{"fib", "42", "36", "18"}, sized{"stress", "4096, 3, 128K", "4096:3:1000", "4096:3:5"}}) {
    subject s(what, e);
    bool const is_fib = what.workload == "fib";
    for (std::string_view const name : {std::string_view("direct"), std::string_view("onetbb"), k_openmp}) {
      contender const* const c = peer(name);
      if (!c || (is_fib && name == k_openmp && !e.is_tiny)) continue;  // half a minute
      measured const m = s.measure(*c);
      double const base = is_fib ? m.serial : m.one;
      std::string const label = fmt::format("{}, {}", what.workload, name);
      f.lines.push_back({label, source::measured, {{1, base / m.one}, {m.workers, base / m.most}}});
      if (name != "direct") continue;
      if (is_fib) fib_on_2 = m.speedup();
      forecast const more(s.tree(), m, costs, steal_rule::leapfrog);
      series p{label, source::predicted, {}};
      for (unsigned const n : {2u, 4u, 6u, 8u}) p.points.emplace_back(n, base * 1e9 / more.on(n).ns);
      f.lines.push_back(std::move(p));
    }
  }
  double const on_8 = f.lines[1].points.back().second;
  r.add(f);
  r.add(claim{"Figure 1, fib without cut-off", "faster than serial from two processors",
              fmt::format("{:.2f} on {}; {:.1f} on 8, predicted", fib_on_2, processors(), on_8),
              if_true(fib_on_2 > 1), fib_on_2 > 1 ? "" : "today's serial fib takes fewer cycles than a fork"});
}

void show_figure_6(report& r, std::vector<characteristics> const& all) {
  table t{
      "Figure 6. Processor time, predicted, over the serial program's: tasks (NA), tasks by leapfrogging (LA), "
      "stealing (ST), waiting (LF)",
      {"workload", "P", "NA", "LA", "ST", "LF"},
      {},
      ""};
  double most = 0;
  for (auto const& c : all) {
    std::string const& name = c.theirs->what.theirs;
    if (name != "250, 1k" && name != "64" && name != "12" && name != "256, 8") continue;
    for (unsigned const p : {1u, 2u, 4u, 8u, 12u}) {
      prediction const& at = c.on.at(p);
      double const serial = c.ours.serial * 1e9;
      t.rows.push_back({c.theirs->what.workload + " " + name, fmt::format("{}", p), digits(at.own_ns / serial),
                        digits(at.on_top_ns / serial), digits(at.searching_ns / serial),
                        digits(at.waiting_ns / serial)});
      if (p == 12) most = std::max(most, at.on_top_ns / (at.own_ns + at.on_top_ns));
    }
  }
  r.add(t);
  r.add(claim{"Figure 6, work by leapfrogging", "so little that waiting would do",
              fmt::format("at most {:.1f}% of the tasks' time on 12, predicted", 100 * most), outcome::not_repeatable,
              fmt::format("{} processors", processors())});
}

}  // namespace

report show_wool(effort const& e) {
  report r("wool", "5. Efficient Work Stealing for Fine Grained Parallelism (Wool), ICPP 2010");
  contender const& direct = named("direct");
  steal_costs const costs = costs_of(direct, e);
  double const fork = fork_ns(direct, e);
  show_figure_1(r, costs, e);
  std::vector<characteristics> all;
  for (auto const& row : table_1) all.push_back(characterize(row, direct, costs, fork, e));
  show_table_1(r, all);
  show_table_2(r, e);
  show_figure_4(r, e);
  show_table_3(r, costs, fork, e);
  show_table_4(r, all[3], costs);
  show_speedups(r, all);
  show_figure_6(r, all);
  return r;
}

}  // namespace bench::papers
