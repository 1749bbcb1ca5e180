// C. Yang, J. Mellor-Crummey, A Practical Solution to the Cactus Stack Problem, SPAA 2016, repeated. See all.hpp.
#include "../space.hpp"
#include "../statistics.hpp"
#include "all.hpp"
#include "fibril_numbers.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace bench::papers {
namespace {

using namespace fibril;
using outcome = claim::result;

constexpr unsigned k_threads = 72;

struct repeated_program {
  program_row const* theirs;
  measured cactus;
  measured tbb;          // of the peer, where it is
  double unmapping = 1;  // time with over without
  std::vector<std::pair<double, double>> speedups;
  prediction on_all;
  space_row space;  // on k_threads threads

  double over_tbb_on_one() const { return tbb.one / cactus.one; }
  double over_tbb() const { return tbb.most / cactus.most; }
};

repeated_program repeat(program_row const& row, contender const& cactus, contender const* tbb,
                        steal_costs const& costs, effort const& e) {
  repeated_program p{&row, {}, {}, 1, {}, {}, {}};
  subject s(row.what, e);
  p.cactus = s.measure(cactus);
  if (tbb) p.tbb = s.measure(*tbb);
  auto const gives = cactus.make({.workers = processors()});
  auto const keeps = cactus.make({.workers = processors(), .stack_give_back = filch::give_back_policy::none});
  p.unmapping = s.ratio(*gives, *keeps);
  forecast const more(s.tree(), p.cactus, costs, steal_rule::continuation);
  p.speedups = more.speedups({2, 4, 8, 16, 36, k_threads});
  p.on_all = more.on(k_threads);
  p.space = measure_space(*find_workload(row.what.workload), s.size(), cactus, e.is_tiny ? 8 : k_threads);
  return p;
}

std::string told(double x) { return x > 0 ? digits(x, 2) : ""; }

void show_one_thread(report& r, std::vector<repeated_program> const& all) {
  table t{
      "Table 1 and figure 3. Programs, and performance on one thread",
      {"program", "theirs", "ours", "serial/T1", "over Cilk Plus (paper)", "over TBB (paper)", "ours over oneTBB"},
      {},
      ""};
  std::vector<double> own;
  std::vector<double> over;
  for (auto const& p : all) {
    own.push_back(p.cactus.speedup_on_one());
    bool const has_peer = p.tbb.one > 0;
    if (has_peer) over.push_back(p.over_tbb_on_one());
    t.rows.push_back({p.theirs->what.workload, p.theirs->what.theirs, p.space.size, digits(own.back()),
                      told(p.theirs->one_over_cilk), told(p.theirs->one_over_tbb),
                      has_peer ? digits(over.back()) : ""});
  }
  r.add(t);
  if (over.empty()) return;
  double const fib = all[2].over_tbb_on_one();
  r.add(claim{
      "Figure 3, one thread", "at least TBB's performance on all 12, fib 6.0 times",
      fmt::format("oneTBB's, geometric mean {:.2f} times, fib {:.1f}; serial over T1 {:.2f}", geometric_mean(over),
                  fib, geometric_mean(own)),
      fib > 2 && *std::min_element(over.begin(), over.end()) > 0.95 ? outcome::repeated : outcome::not_repeated, ""});
}

void show_speedups(report& r, std::vector<repeated_program> const& all) {
  double least = k_threads;
  double most = 0;
  std::vector<double> over;
  std::vector<double> unmapping;
  unsigned within = 0;
  for (auto const& p : all) {
    figure f{fmt::format("Figure 4. Speed-up of {}", p.theirs->what.workload),
             "threads",
             "speed-up",
             {{"cactus", source::measured, {{1, p.cactus.speedup_on_one()}, {p.cactus.workers, p.cactus.speedup()}}}},
             fmt::format("figure-4-{}", p.theirs->what.workload)};
    if (p.tbb.one > 0) {
      f.lines.push_back(
          {"oneTBB", source::measured, {{1, p.tbb.speedup_on_one()}, {p.tbb.workers, p.tbb.speedup()}}});
      over.push_back(p.over_tbb());
    }
    f.lines.push_back({"cactus", source::predicted, p.speedups});
    r.add(f);
    least = std::min(least, p.speedups.back().second);
    most = std::max(most, p.speedups.back().second);
    unmapping.push_back(p.unmapping);
    within += p.on_all.ns <= p.on_all.work_ns / k_threads + 100 * p.on_all.span_ns;
  }
  if (!over.empty()) {
    r.add(claim{"Figure 4, over TBB", "2.8 to 7.9 times on six programs, 72 threads",
                fmt::format("on {}: geometric mean {:.2f} times, fib {:.1f}", processors(), geometric_mean(over),
                            all[2].over_tbb()),
                all[2].over_tbb() > 2 ? outcome::repeated : outcome::not_repeated, ""});
  }
  r.add(claim{"Figure 4, 72 threads", "near-linear with enough parallelism",
              fmt::format("speed-ups {:.1f} to {:.1f} at our sizes, predicted", least, most), outcome::not_repeatable,
              fmt::format("{} processors; predicted without memory limits", processors())});
  r.add(claim{"Theorem 4.3", "T_P <= T_1/P + c T_inf",
              fmt::format("c <= 100 on 72 threads: {} of {} programs, predicted", within, all.size()),
              within == all.size() ? outcome::repeated : outcome::not_repeated, ""});
  double const cost = geometric_mean(unmapping);
  r.add(claim{"Figure 4, unmapping", "costs no time",
              fmt::format("{:.3f} times the time without, {} workers", cost, processors()),
              cost < 1.03 ? outcome::repeated : outcome::not_repeated, ""});
}

void show_operations(report& r, std::vector<repeated_program> const& all) {
  table t{
      fmt::format("Table 2. Operations on 72 threads: the paper's, thousands / ours, on {} threads of {} processors",
                  all[0].space.workers, processors()),
      {"program", "steals K", "ours", "unmaps K", "ours", "page faults K", "ours", "steals on 72, predicted"},
      {},
      ""};
  double least = 1;
  double most = 0;
  for (auto const& p : all) {
    double const share = p.space.steals > 0 ? p.space.give_backs / p.space.steals : 0;
    least = std::min(least, share);
    most = std::max(most, share);
    t.rows.push_back({p.theirs->what.workload, digits(p.theirs->steals), digits(p.space.steals),
                      digits(p.theirs->unmaps), digits(p.space.give_backs), digits(p.theirs->faults),
                      digits(p.space.page_faults), digits(p.on_all.steals)});
  }
  r.add(t);
  r.add(claim{"Table 2, unmaps over steals", "33 to 92%: not every steal",
              fmt::format("{:.0f} to {:.0f}%", 100 * least, 100 * most),
              most <= 0.92 ? outcome::repeated : outcome::not_repeated, "pages that a frame soon uses are kept"});
}

void show_space(report& r, std::vector<repeated_program> const& all) {
  table three{fmt::format("Table 3. Pages of stack, theirs / ours, on {} threads", all[0].space.workers),
              {"program", "D", "ours", "S1", "ours", "S1 + D", "ours", "S_P / P", "ours", "H"},
              {},
              "H: pages that are kept for the next time, for each worker; in S_P, too."};
  table four{
      "Table 4. Memory, theirs / ours", {"program", "delta RSS MB", "our stacks' MB", "stacks", "ours"}, {}, ""};
  unsigned within = 0;
  std::uint64_t most_stacks = 0;
  for (auto const& p : all) {
    auto const& s = p.space;
    auto const bound = s.workers * (s.serial_pages + s.fork_depth);
    within += s.peak_pages <= bound;
    most_stacks = std::max(most_stacks, s.stacks_peak);
    auto const n = [](auto x) { return fmt::format("{}", x); };
    three.rows.push_back({p.theirs->what.workload, n(p.theirs->depth), n(s.fork_depth), n(p.theirs->serial_pages),
                          n(s.serial_pages), n(p.theirs->depth + p.theirs->serial_pages),
                          n(s.fork_depth + s.serial_pages), digits(p.theirs->pages),
                          digits(static_cast<double>(s.peak_pages) / s.workers), n(s.kept_pages)});
    four.rows.push_back({p.theirs->what.workload, n(p.theirs->delta_rss_mb),
                         digits(static_cast<double>(s.peak_pages) * 4096 / 1e6), n(p.theirs->stacks),
                         n(s.stacks_peak)});
  }
  r.add(three);
  r.add(four);
  r.add(claim{"Table 3 and theorem 4.2", "S_72 <= 72 (S1 + D) on all 12",
              fmt::format("{} of {} programs on {} threads", within, all.size(), all[0].space.workers),
              within == all.size() ? outcome::repeated : outcome::not_repeated, ""});
  r.add(claim{"Table 4, stacks", "315 to 356", fmt::format("at most {}", most_stacks),
              most_stacks <= 356 ? outcome::repeated : outcome::not_repeated,
              fmt::format("{} processors: fewer threads run at once", processors())});
}

}  // namespace

report show_fibril(effort const& e) {
  report r("fibril", "2. A Practical Solution to the Cactus Stack Problem (Fibril), SPAA 2016");
  contender const& cactus = named("cactus");
  steal_costs const costs = costs_of(cactus, e);
  std::vector<repeated_program> all;
  for (auto const& row : programs) all.push_back(repeat(row, cactus, peer("onetbb"), costs, e));
  show_one_thread(r, all);
  show_speedups(r, all);
  show_operations(r, all);
  show_space(r, all);
  return r;
}

}  // namespace bench::papers
