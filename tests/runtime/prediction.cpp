// Simulated work stealing against closed forms, bounds, and trees small enough to run by hand.
#include "runtime/profile/prediction.hpp"
#include "runtime/profile/timed_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace filch_test {
namespace {

using filch::runtime::profile::fork_tree;
using filch::runtime::profile::predict;
using filch::runtime::profile::prediction;
using filch::runtime::profile::steal_costs;
using filch::runtime::profile::steal_rule;
using filch::runtime::profile::timed_tree;
using part = fork_tree::part;

constexpr steal_rule k_rules[] = {steal_rule::leapfrog, steal_rule::steal_one, steal_rule::steal_half,
                                  steal_rule::continuation};
constexpr unsigned k_workers[] = {1, 2, 3, 4, 7, 8, 16, 48, 256};

/// Makes trees.
struct forest : fork_tree {
  static part leaf(double ns) { return {k_leaf, ns}; }
  /// joins, then `after_ns`.
  part task(std::vector<join> const& of, double after_ns) {
    nodes.push_back({static_cast<index>(joins.size()), static_cast<index>(of.size()), after_ns, 0, 0, 0});
    joins.insert(joins.end(), of.begin(), of.end());
    return {static_cast<index>(nodes.size() - 1), 1};
  }
  part fork(part f, part g, double before_ns = 0, double after_ns = 0) { return task({{before_ns, f, g}}, after_ns); }
  part perfect(unsigned height, double leaf_ns) {
    part p = leaf(leaf_ns);
    for (unsigned i = 0; i < height; ++i) p = fork(p, p);
    return p;
  }
  /// As fib forks: 832,039 times for 29.
  part fibonacci(unsigned n, double leaf_ns) {
    part before = leaf(leaf_ns);
    part last = before;
    for (unsigned i = 2; i <= n; ++i) before = std::exchange(last, fork(last, before));
    return last;
  }
  /// A scope of that many tasks: f is the rest of the scope.
  part scope(unsigned tasks, double ns) {
    part rest = leaf(0);
    for (unsigned i = 0; i < tasks; ++i) rest = fork(rest, leaf(ns), 1);
    return rest;
  }
  /// Irregular in length and shape, always the same.
  part uneven(unsigned height, unsigned seed) {
    if (height == 0) return leaf(10 + seed % 97);
    part const f = uneven(height - 1, seed * 5 + 1);
    part const g = seed % 3 == 0 ? leaf(5 + seed % 1000) : uneven(height - 1, seed * 7 + 3);
    join j{seed % 11 + 0.5, f, g};
    j.f.scale *= 1 + seed % 4 * 0.5;
    j.times = 1 + seed % 2;
    return task({j, {2, leaf(seed % 50 + 1), leaf(20)}}, seed % 13);
  }
  fork_tree const& runs_of(part p, std::uint64_t times = 1) {
    runs = {{p, times, 0}};
    return *this;
  }
};

steal_costs realistic() {
  return {.fork = 2,
          .probe = 20,
          .steal = 400,
          .victim = 50,
          .joined = 100,
          .wakeup = 20'000,
          .searches = 50'000,
          .growth = 0.3};
}

TEST(prediction, on_one_worker_is_the_work) {
  forest f;
  part const roots[] = {f.perfect(10, 100), f.fibonacci(25, 8), f.scope(200, 50), f.uneven(9, 1), f.leaf(77)};
  double const forks[] = {1023, 121'392, 200, 0, 0};
  double const works[] = {102'400, 8.0 * 121'393, 200 * 51, 0, 77};
  for (std::size_t i = 0; i < std::size(roots); ++i) {
    for (steal_rule const rule : k_rules) {
      prediction const p = predict(f.runs_of(roots[i]), realistic(), rule, 1);
      EXPECT_NEAR(p.ns, p.work_ns, 1e-9 * p.work_ns) << i;
      EXPECT_EQ(p.steals, 0);
      if (works[i] > 0) {
        EXPECT_NEAR(p.ns, works[i] + 2 * forks[i], 1e-9 * p.ns) << i;
      }
    }
  }
}

TEST(prediction, of_a_perfect_tree_on_as_many_workers_as_leaves_is_one_leaf) {
  forest f;
  for (unsigned height : {1u, 3u, 6u, 8u}) {
    f.runs_of(f.perfect(height, 1e6));
    for (steal_rule const rule : {steal_rule::leapfrog, steal_rule::steal_one, steal_rule::continuation}) {
      prediction const p = predict(f, {.fork = 0, .probe = 1e-3}, rule, 1u << height);
      EXPECT_NEAR(p.ns, 1e6, 10) << height;
      EXPECT_EQ(p.steals, (1u << height) - 1);
    }
  }
}

TEST(prediction, of_a_perfect_tree_counts_each_level_of_steals) {
  // The last worker begins after as many steals as there are levels; the last join waits for it.
  forest f;
  for (unsigned height : {1u, 2u, 3u}) {
    steal_costs c{.fork = 0, .probe = 1e-3, .steal = 500, .joined = 100};
    prediction const p = predict(f.runs_of(f.perfect(height, 1e6)), c, steal_rule::leapfrog, 1u << height);
    EXPECT_GE(p.ns, 1e6 + 500 * height);
    EXPECT_LE(p.ns, 1e6 + (500 + 100) * ((1 << height) - 1) + 1);
  }
  steal_costs c{.fork = 0, .probe = 1, .steal = 500, .joined = 100};
  EXPECT_NEAR(predict(f.runs_of(f.perfect(1, 1e6)), c, steal_rule::leapfrog, 2).ns, 1 + 500 + 1e6 + 100, 1e-6);
}

TEST(prediction, of_code_without_parallelism_is_the_work) {
  forest f;
  part chain = f.leaf(5);
  for (int i = 0; i < 100; ++i) chain = f.fork(chain, f.leaf(0), 10, 5);
  f.runs_of(chain);
  for (steal_rule const rule : k_rules) {
    for (unsigned const p : k_workers) {
      prediction const at = predict(f, {.fork = 1}, rule, p);
      EXPECT_NEAR(at.ns, 100 * 16 + 5, 1e-6);
      EXPECT_NEAR(at.span_ns, at.work_ns, 1e-6);
    }
  }
}

TEST(prediction, of_one_long_branch_is_the_branch) {
  forest f;
  for (bool const is_f : {true, false}) {
    part const tree = f.perfect(6, 100);
    part const longest = f.leaf(1e5);
    f.runs_of(is_f ? f.fork(longest, tree) : f.fork(tree, longest));
    for (steal_rule const rule : k_rules) {
      prediction const p = predict(f, {.fork = 0, .probe = 1}, rule, 2);
      EXPECT_NEAR(p.ns, 1e5, 2);
      EXPECT_NEAR(p.span_ns, 1e5, 1e-6);
      EXPECT_NEAR(p.work_ns, 106'400, 1e-6);
    }
  }
}

TEST(prediction, of_tiny_trees_is_as_by_hand) {
  forest f;
  steal_costs const c{.fork = 1, .probe = 2, .steal = 3, .victim = 4, .joined = 5};
  // 10 before; f from 11 on. The thief sees g at 13, which begins at 16. f is delayed by 4.
  part const longer_f = f.fork(f.leaf(50), f.leaf(20), 10, 7);
  part const longer_g = f.fork(f.leaf(20), f.leaf(50), 10, 7);
  for (steal_rule const rule : k_rules) {
    EXPECT_NEAR(predict(f.runs_of(longer_f), c, rule, 2).ns, 11 + 50 + 4 + 7, 1e-9);
    EXPECT_NEAR(predict(f.runs_of(longer_g), c, rule, 2).ns, 16 + 50 + 5 + 7, 1e-9);
  }
  // The thief of g is in it from 16 on. f ends at 35. g forks at 17: its g is there until 117, for the worker that
  // waits, which takes it at 35 + 2, begins at 40 and ends at 60. g's f is delayed to 121, and is at its own join
  // then.
  part const inner = f.fork(f.leaf(100), f.leaf(20));
  part const leap = f.fork(f.leaf(20), inner, 10, 7);
  prediction const p = predict(f.runs_of(leap), c, steal_rule::leapfrog, 2);
  EXPECT_NEAR(p.ns, 121 + 5 + 7, 1e-9);
  EXPECT_EQ(p.steals, 2);
  EXPECT_NEAR(p.on_top_ns, 20, 1e-9);
  EXPECT_NEAR(p.own_ns + p.on_top_ns + p.searching_ns + p.waiting_ns, 2 * p.ns, 1e-6);
}

TEST(prediction, of_a_buried_join_depends_on_the_rule) {
  // The join of 10 and 200 waits, if its g is stolen. A worker that takes one of the long tasks meanwhile is late for
  // the 1000 after the join.
  forest f;
  part const waits = f.fork(f.leaf(10), f.leaf(200), 0, 1000);
  f.runs_of(f.fork(waits, f.fork(f.leaf(900), f.leaf(900))));
  auto const longest = [&f](steal_rule rule) {
    double most = 0;
    for (std::uint64_t seed = 1; seed < 20; ++seed)
      most = std::max(most, predict(f, {.fork = 0, .probe = 1}, rule, 3, seed).ns);
    return most;
  };
  EXPECT_LE(longest(steal_rule::leapfrog), 1215);
  EXPECT_LE(longest(steal_rule::continuation), 1215);
  EXPECT_GE(longest(steal_rule::steal_one), 1900);
}

TEST(prediction, lets_thieves_of_one_victim_follow_each_other) {
  forest f;
  f.runs_of(f.fork(f.fork(f.leaf(1e6), f.leaf(1e6)), f.leaf(1e6)));
  for (steal_rule const rule : k_rules)
    EXPECT_NEAR(predict(f, {.fork = 0, .probe = 1e-3, .steal = 1000}, rule, 3).ns, 1e6 + 2000, 1);
}

TEST(prediction, of_a_scope_steals_half_more_seldom) {
  forest f;
  f.runs_of(f.scope(2000, 500));
  steal_costs const c{.fork = 1, .probe = 10, .steal = 300, .victim = 20};
  prediction const one = predict(f, c, steal_rule::steal_one, 8);
  prediction const half = predict(f, c, steal_rule::steal_half, 8);
  EXPECT_LT(half.steals, one.steals / 4);
  EXPECT_LT(half.ns, one.ns);
}

TEST(prediction, keeps_between_its_bounds) {
  forest f;
  part const roots[] = {f.perfect(10, 200), f.fibonacci(22, 30), f.scope(500, 300), f.uneven(8, 5), f.uneven(9, 2)};
  for (part const& root : roots) {
    f.runs_of(root);
    for (steal_rule const rule : k_rules) {
      for (unsigned const workers : k_workers) {
        prediction const p = predict(f, {.fork = 1, .probe = 0.01}, rule, workers);
        EXPECT_GE(p.ns, p.least_ns() * (1 - 1e-9)) << workers;
        EXPECT_LE(p.ns, p.work_ns * (1 + 1e-9) + 1) << workers;
        EXPECT_NEAR(p.own_ns + p.on_top_ns, p.work_ns, 1e-6 * p.work_ns) << workers;
        EXPECT_NEAR(p.own_ns + p.on_top_ns + p.searching_ns + p.waiting_ns, workers * p.ns, 1e-6 * workers * p.ns);
      }
    }
  }
}

TEST(prediction, of_a_greedy_rule_keeps_the_greedy_bound) {
  forest f;
  for (part const& root : {f.perfect(10, 200), f.fibonacci(22, 30), f.scope(500, 300), f.uneven(8, 5)}) {
    f.runs_of(root);
    for (unsigned const workers : k_workers) {
      prediction const p = predict(f, {.fork = 1, .probe = 0.01}, steal_rule::continuation, workers);
      EXPECT_LE(p.ns, p.greedy_ns() * 1.001) << workers;
      // With costs, each fork on the span may bear those of a steal: T_P <= T_1 / P + c T_inf.
      steal_costs const c = realistic();
      double const forks_on_span = predict(f, {.fork = 1}, steal_rule::steal_one, 1).span_ns -
                                   predict(f, {.fork = 0}, steal_rule::steal_one, 1).span_ns;
      double const of_steal = c.crowded(c.steal + c.joined, workers) + c.victim + workers * c.probe;
      prediction const real = predict(f, c, steal_rule::continuation, workers);
      EXPECT_LE(real.ns, real.greedy_ns() + forks_on_span * of_steal + c.crowded(c.wakeup, workers)) << workers;
    }
  }
}

TEST(prediction, adds_runs_and_is_the_same_each_time) {
  forest f;
  part const root = f.uneven(8, 5);
  prediction const once = predict(f.runs_of(root), realistic(), steal_rule::leapfrog, 4, 7);
  prediction const again = predict(f.runs_of(root), realistic(), steal_rule::leapfrog, 4, 7);
  EXPECT_EQ(once.ns, again.ns);
  EXPECT_EQ(once.steals, again.steals);
  prediction const many = predict(f.runs_of(root, 1000), realistic(), steal_rule::leapfrog, 4, 7);
  EXPECT_NEAR(many.work_ns, 1000 * once.work_ns, 1e-6 * many.work_ns);
  EXPECT_NEAR(many.ns, 1000 * once.ns, 0.1 * many.ns);
}

TEST(prediction, wakes_sleeping_thieves) {
  forest f;
  // 10 ms of code before the fork: the thief sleeps, and its task begins after it was woken.
  f.runs_of(f.fork(f.leaf(1e6), f.leaf(1e6), 1e7));
  steal_costs const c{.fork = 0, .probe = 1, .wakeup = 30'000, .searches = 5'000};
  EXPECT_NEAR(predict(f, c, steal_rule::leapfrog, 2).ns, 1e7 + 1e6 + 30'000, 5);
}

TEST(prediction, of_a_scope_with_more_workers_than_it_feeds_does_not_collapse) {
  // Thieves take one task after the other from the scope: some 20 of them run at a time, and most others sleep.
  forest f;
  f.runs_of(f.scope(1000, 50'000), 4);
  steal_costs const c{.fork = 15,
                      .probe = 50,
                      .steal = 1000,
                      .victim = 50,
                      .joined = 500,
                      .wakeup = 50'000,
                      .searches = 20'000,
                      .growth = 0.28};
  for (steal_rule const rule : k_rules) {
    auto const speed_up = [&](unsigned workers) {
      prediction const p = predict(f, c, rule, workers);
      return p.work_ns / p.ns;
    };
    EXPECT_GT(speed_up(128), 16);
    EXPECT_GT(speed_up(256), 0.7 * speed_up(128));
  }
}

TEST(prediction, of_many_workers_costs_more_where_costs_grow) {
  steal_costs c{.steal = 100, .growth = 0.3};
  EXPECT_EQ(c.crowded(100, 1), 100);
  EXPECT_EQ(c.crowded(100, 2), 100);
  EXPECT_NEAR(c.crowded(100, 8), 160, 1e-9);
  forest f;
  f.runs_of(f.perfect(8, 1000), 5);
  prediction const grows = predict(f, {.steal = 1000, .growth = 0.5}, steal_rule::leapfrog, 16);
  prediction const stays = predict(f, {.steal = 1000}, steal_rule::leapfrog, 16);
  EXPECT_GT(grows.ns, stays.ns);
}

TEST(prediction, of_a_billion_forks_takes_as_long_as_its_steals) {
  forest f;
  f.runs_of(f.fibonacci(45, 10));
  prediction const p = predict(f, realistic(), steal_rule::leapfrog, 64);
  EXPECT_GT(p.work_ns, 1e10);
  EXPECT_NEAR(p.ns, p.work_ns / 64, 0.02 * p.ns);
}

/// Runs of several kinds, each many times.
void add_many_runs(forest& f, unsigned kinds) {
  f.runs.clear();
  for (unsigned i = 0; i < kinds; ++i) {
    part const root = i % 3 == 0   ? f.scope(50 + i, 200 + i)
                      : i % 3 == 1 ? f.perfect(4 + i % 5, 100 + i)
                                   : f.uneven(5 + i % 3, i);
    f.runs.push_back({root, 1 + i % 4, 0});
  }
}

TEST(prediction, of_many_runs_keeps_to_its_effort) {
  forest f;
  add_many_runs(f, 150);
  for (steal_rule const rule : k_rules) {
    for (unsigned const workers : {1u, 4u, 32u}) {
      prediction const all = predict(f, realistic(), rule, workers);
      EXPECT_EQ(all.simulated, 1);
      prediction const enough = predict(f, realistic(), rule, workers, 1, 1.01 * all.effort);
      EXPECT_EQ(enough.ns, all.ns);
      for (double const share : {0.3, 0.05}) {
        SCOPED_TRACE(std::to_string(workers) + " workers, a share of " + std::to_string(share));
        prediction const some = predict(f, realistic(), rule, workers, 1, share * all.effort);
        EXPECT_LE(some.effort, share * all.effort + 100'000 * workers);
        EXPECT_EQ(some.work_ns, all.work_ns);
        EXPECT_EQ(some.span_ns, all.span_ns);
        EXPECT_NEAR(some.ns, all.ns, (share < 0.1 ? 0.4 : 0.1) * all.ns);
        if (share < 0.1) {
          EXPECT_LT(some.simulated, 1);
        }
      }
    }
  }
}

TEST(prediction, of_one_long_run_keeps_to_its_effort) {
  forest f;
  f.runs_of(f.scope(20'000, 2'000));
  for (steal_rule const rule : k_rules) {
    prediction const all = predict(f, realistic(), rule, 32);
    prediction const some = predict(f, realistic(), rule, 32, 1, 0.1 * all.effort);
    EXPECT_LE(some.effort, 0.11 * all.effort);
    EXPECT_LT(some.simulated, 0.3);
    EXPECT_GT(some.simulated, 0);
    EXPECT_NEAR(some.ns, all.ns, 0.2 * all.ns);
  }
}

TEST(timed_tree, locates_each_join_and_round) {
  forest f;
  part const p = f.task({{10, f.leaf(5), f.leaf(3), 4}, {1, f.leaf(2), f.leaf(2)}}, 6);
  f.runs_of(p);
  timed_tree const t(f, 2);
  EXPECT_NEAR(t.work(p), 4 * 20 + 7 + 6, 1e-9);
  EXPECT_NEAR(t.span(p), 4 * 17 + 5 + 6, 1e-9);
  using phase = timed_tree::phase;
  auto const begin = t.begin_of(p);
  struct {
    double at;
    phase where;
    unsigned join;
    std::uint64_t round;
  } const cases[] = {{0, phase::before, 0, 0},  {12.5, phase::in_f, 0, 0}, {18, phase::in_g, 0, 0},
                     {20, phase::before, 0, 1}, {73, phase::in_f, 0, 3},   {80.5, phase::before, 1, 0},
                     {83.5, phase::in_f, 1, 0}, {86, phase::in_g, 1, 0},   {87.5, phase::after, 0, 0}};
  for (auto const& c : cases) {
    auto const s = t.locate(begin, c.at);
    EXPECT_EQ(s.where, c.where) << c.at;
    if (c.where == phase::after) continue;
    EXPECT_EQ(s.at.join - begin.join, c.join) << c.at;
    EXPECT_EQ(s.at.round, c.round) << c.at;
  }
}

}  // namespace
}  // namespace filch_test
