// Measures and predicts workloads for the tables of the papers. See subject.hpp.
#include "subject.hpp"

#include "../measure.hpp"
#include "../request.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <thread>

namespace bench::papers {
namespace {

workload const& known(std::string const& name) {
  if (workload const* const w = find_workload(name)) return *w;
  throw bad_request("unknown workload " + name);
}

pool_counts difference(pool_counts const& before, pool_counts const& after, unsigned runs) {
  pool_counts each;
  auto const mean = [runs](std::uint64_t a, std::uint64_t b) { return (b - a + runs / 2) / runs; };
  each.steals = mean(before.steals, after.steals);
  each.failed_steals = mean(before.failed_steals, after.failed_steals);
  each.leapfrogs = mean(before.leapfrogs, after.leapfrogs);
  each.suspensions = mean(before.suspensions, after.suspensions);
  each.give_backs = mean(before.give_backs, after.give_backs);
  each.page_faults = mean(before.page_faults, after.page_faults);
  each.stacks_peak = after.stacks_peak;
  return each;
}

}  // namespace

unsigned processors() { return std::max(2u, usual_workers()); }

subject::subject(sized const& s, effort const& e)
    : what_(s), size_(s.size(e)), effort_(e), meter_(known(s.workload), size_, processors()) {}

measured subject::measure(contender const& c) {
  measured m;
  m.workers = processors();
  auto const one = c.make({.workers = 1});
  auto const most = c.make({.workers = m.workers});
  meter_.run(*most, c.name);
  std::vector<double> serial, on_one, on_most, ceilings;
  auto const before = most->stats();
  for (unsigned i = 0; i < effort_.turns; ++i) {
    serial.push_back(meter_.run_serial());
    on_one.push_back(meter_.run(*one, c.name));
    on_most.push_back(meter_.run(*most, c.name));
    if (i >= 3) continue;
    // Copies take 100 ms at least.
    ceilings.push_back(effort_.is_tiny ? m.workers : m.workers * serial.back() / meter_.run_side_by_side(m.workers));
  }
  if (before) m.counts = difference(*before, *most->stats(), effort_.turns);
  m.serial = median(serial);
  m.one = median(on_one);
  m.most = median(on_most);
  m.ceiling = median(ceilings);
  m.elision = std::max(m.serial, meter_.serial().elision_seconds);
  m.forks = static_cast<double>(forks());
  return m;
}

double subject::ratio(running_pool& a, running_pool& b) {
  std::vector<double> ratios;
  for (unsigned i = 0; i <= effort_.turns; ++i) {
    double const first = meter_.run(a, "the first pool");
    double const second = meter_.run(b, "the second pool");
    if (i > 0 || effort_.turns == 1) ratios.push_back(first / second);
  }
  return median(ratios);
}

std::uint64_t subject::forks() {
  if (meter_.serial().tasks == 0) meter_.count_tasks();
  return meter_.serial().tasks;
}

fork_tree const& subject::tree() {
  if (!tree_) tree_ = lasting(recorded_tree(what_.workload, size_), 1);
  return *tree_;
}

fork_tree lasting(fork_tree const& tree, double seconds) {
  fork_tree t = tree;
  double work = 0;
  for (auto const& r : t.runs) work += static_cast<double>(r.times) * t.work_ns(r.task);
  for (auto& r : t.runs) r.task.scale *= seconds * 1e9 / work;
  return t;
}

fork_tree perfect(unsigned height, double leaf_ns, std::uint64_t times) {
  fork_tree t;
  fork_tree::part p{fork_tree::k_leaf, leaf_ns};
  auto const add = [&t](fork_tree::join const& j) {
    auto const n = static_cast<double>(j.times);
    double const span = n * std::max(t.span_ns(j.f), t.span_ns(j.g));
    t.nodes.push_back({static_cast<fork_tree::index>(t.joins.size()), 1, 0, n * (t.work_ns(j.f) + t.work_ns(j.g)),
                       span, j.times * (1 + t.forks(j.f) + t.forks(j.g))});
    t.joins.push_back(j);
    return fork_tree::part{static_cast<fork_tree::index>(t.nodes.size() - 1), 1};
  };
  for (unsigned i = 0; i + 1 < height; ++i) p = add({0, p, p, 1});
  p = height == 0 ? p : add({0, p, p, times});
  t.runs = {{p, height == 0 ? times : 1, 0}};
  return t;
}

double steal_and_join_ns(contender const& c, effort const& e) {
  // Two leaves of some 20 us, again and again.
  long const times = e.is_tiny ? 20 : 500;
  workload const& w = known("stress");
  std::string const size = "40000:1:" + std::to_string(times);
  meter m(w, size, 2);
  auto const pool = c.make({.workers = 2});
  // The least times, since the cost is a small part of them.
  double alone = 1e9;
  double together = 1e9;
  for (unsigned i = 0; i < (e.is_tiny ? 1 : 4 * e.turns); ++i) {
    alone = std::min(alone, m.run_side_by_side(2) / 2);
    // The pool's thread has slept meanwhile, and the first run wakes it.
    for (int run = 0; run < 2; ++run) together = std::min(together, m.run(*pool, c.name));
  }
  return std::max(1.0, (together - alone) / static_cast<double>(times) * 1e9);
}

double fork_ns(contender const& c, effort const& e) {
  workload const& w = known("fib");
  meter m(w, e.is_tiny ? "18" : "33", 1);
  m.count_tasks();
  auto const pool = c.make({.workers = 1});
  std::vector<double> costs;
  for (unsigned i = 0; i < e.turns; ++i) {
    double const serial = m.run_serial();
    costs.push_back((m.run(*pool, c.name) - serial) / static_cast<double>(m.serial().tasks) * 1e9);
  }
  return median(costs);
}

namespace {

/// From the end of a sleep of all thieves to the begin of the stolen task.
double wakeup_ns(contender const& c, effort const& e) {
  using clock = std::chrono::steady_clock;
  auto const lasts = [](std::chrono::microseconds t) {
    for (auto const end = clock::now() + t; clock::now() < end;) {
    }
  };
  auto const pool = c.make({.workers = 2});
  std::vector<double> costs;
  for (unsigned i = 0; i < 3 * e.turns; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(e.is_tiny ? 1 : 20));
    clock::time_point forked, begun;
    pool->join(
        [&] {
          forked = clock::now();
          lasts(std::chrono::microseconds(500));
        },
        [&] {
          begun = clock::now();
          lasts(std::chrono::microseconds(500));
        });
    costs.push_back(std::chrono::duration<double, std::nano>(begun - forked).count());
  }
  return median(costs);
}

}  // namespace

steal_costs costs_of(contender const& c, effort const& e) {
  double const both = steal_and_join_ns(c, e);
  steal_costs s;
  s.fork = 0;
  s.probe = both * 0.1;
  s.steal = both * 0.5;
  s.victim = both * 0.1;
  s.joined = both * 0.3;
  s.wakeup = std::max(0.0, wakeup_ns(c, e) - both);
  s.searches = 100'000;
  s.growth = k_growth;
  fmt::print("{}: {:.0f} ns for a steal and its join on two workers, {:.0f} ns more to wake a thief\n", c.name, both,
             s.wakeup);
  return s;
}

contender const& named(std::string_view name) {
  if (contender const* const c = find_contender(name)) return *c;
  throw bad_request("this program was built without " + std::string(name));
}
contender const* peer(std::string_view name) { return find_contender(name); }

steal_rule rule_of(std::string_view scheduler) {
  if (scheduler == "direct") return steal_rule::leapfrog;
  if (scheduler == "channel") return steal_rule::steal_half;
  return steal_rule::continuation;
}

double cycles_per_ns() {
#if defined(__x86_64__)
  static double const rate = [] {
    auto const from = std::chrono::steady_clock::now();
    auto const first = __builtin_ia32_rdtsc();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    auto const last = __builtin_ia32_rdtsc();
    return static_cast<double>(last - first) /
           std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - from).count();
  }();
  return rate;
#else
  return 1;
#endif
}

}  // namespace bench::papers
