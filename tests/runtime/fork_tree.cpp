// Folded fork trees: expanded, they have the work, span and forks of the tasks that were folded, in bounded memory.
#include "runtime/profile/folding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace filch_test {
namespace {

using filch::runtime::cycles;
using filch::runtime::profile::folding;
using filch::runtime::profile::fork_tree;
using filch::runtime::profile::node_table;

struct figures {
  double work = 0;
  double span = 0;
  double forks = 0;

  void then(figures const& next) {
    work += next.work;
    span += next.span;
    forks += next.forks;
  }
};
figures both(figures const& a, figures const& b) {
  return {a.work + b.work, std::max(a.span, b.span), a.forks + b.forks + 1};
}

/// Calls the hooks as a program would, and adds up what it does.
class program {
 public:
  folding tree;

  figures code(double length, double noise) {
    auto const c = static_cast<cycles>(length * (1 + noise * unit_(random_)));
    tree.ran(c);
    return {static_cast<double>(c), static_cast<double>(c), 0};
  }
  template <class Fn, class Gn> figures join(Fn f, Gn g, unsigned place = 0) {
    auto const fork = tree.forked(place);
    figures const a = f();
    tree.f_ended(fork);
    figures const b = g();
    tree.joined(fork);
    return both(a, b);
  }
  figures balanced(int depth, double leaf, double noise) {
    if (depth == 0) return code(leaf, noise);
    figures all = code(20, noise);
    all.then(
        join([&] { return balanced(depth - 1, leaf, noise); }, [&] { return balanced(depth - 1, leaf, noise); }));
    all.then(code(10, noise));
    return all;
  }
  /// As quicksort: serial work, then two parts of any size.
  figures uneven(double size, double noise) {
    figures all = code(size, noise);
    if (size < 1'000) return all;
    double const part = 0.05 + 0.9 * std::abs(unit_(random_));
    all.then(join([&] { return uneven(part * size, noise); }, [&] { return uneven((1 - part) * size, noise); }, 1));
    return all;
  }
  /// Tasks of a scope; `early` of them run before its sync, when it is full.
  figures scope(int tasks, double task, double noise, bool early) {
    constexpr int k_full = 4096;
    figures body;
    std::vector<folding::fork> forks;
    std::vector<figures> ended;
    double span = 0;
    auto const run_tasks = [&](bool newest_first) {
      std::vector<std::pair<double, folding::fork>> order;
      for (auto const f : forks) order.emplace_back(0, f);
      if (newest_first) std::reverse(order.begin(), order.end());
      for (auto const& [unused, f] : order) {
        tree.task_begins();
        figures const t = code(task, noise);
        tree.task_ended(f);
        body.work += t.work;
        span = std::max(span, spawned_at_[f] + t.span);
      }
    };
    folding::fork oldest = 0;
    for (int i = 0; i < tasks; ++i) {
      body.then(code(30, noise));
      if (early && forks.size() == k_full) {
        run_tasks(true);
        forks.clear();
      }
      auto const f = tree.forked(2);
      if (i == 0) oldest = f;
      spawned_at_.resize(std::max<std::size_t>(spawned_at_.size(), f + std::size_t{1}));
      spawned_at_[f] = body.span;
      forks.push_back(f);
    }
    body.then(code(10, noise));
    run_tasks(false);
    tree.scope_ended(oldest);
    return {body.work, std::max(body.span, span), static_cast<double>(tasks)};
  }
  figures nested_scopes(int scopes, int tasks) {
    if (scopes == 0) return code(500, 0);
    return join([&] { return scope(tasks, 100'000, 0.2, false); }, [&] { return nested_scopes(scopes - 1, tasks); });
  }
  double any() { return unit_(random_); }

 private:
  std::mt19937 random_{7};
  std::uniform_real_distribution<double> unit_{-1, 1};
  std::vector<double> spawned_at_;
};

/// Expanded down to the leaves: nothing is looked up that the tree says of itself.
figures expanded(fork_tree const& t, fork_tree::part const& p, std::vector<figures>& known) {
  for (std::size_t i = known.size(); i <= p.node; ++i) {
    auto const& n = t.nodes[i];
    figures all{n.after_ns, n.after_ns, 0};
    for (auto k = n.first_join; k < n.first_join + n.joins; ++k) {
      auto const& j = t.joins[k];
      auto const times = static_cast<double>(j.times);
      EXPECT_LT(j.f.node, i);
      EXPECT_LT(j.g.node, i);
      EXPECT_GE(j.before_ns, 0);
      EXPECT_GT(j.f.scale, 0);
      EXPECT_GT(j.g.scale, 0);
      figures const f = known[j.f.node];
      figures const g = known[j.g.node];
      all.work += times * (j.before_ns + f.work * j.f.scale + g.work * j.g.scale);
      all.span += times * (j.before_ns + std::max(f.span * j.f.scale, g.span * j.g.scale));
      all.forks += times * (f.forks + g.forks + 1);
    }
    known.push_back(all);
  }
  figures const& of = known[p.node];
  return {of.work * p.scale, of.span * p.scale, of.forks};
}

/// Ends the run, and compares the tree with what the program did.
fork_tree expect_right_tree(program& p, figures const& did, double part_of_span = 0.01, double part_of_forks = 0.07) {
  p.tree.run_ended();
  fork_tree t;
  std::vector<unsigned> const places(256, 0);
  p.tree.add_to(t, 0, 2.0, places);
  std::vector<figures> known;
  figures all;
  for (auto const& r : t.runs) {
    figures const one = expanded(t, r.task, known);
    auto const times = static_cast<double>(r.times);
    all.then({times * one.work, times * one.span, times * one.forks});
  }
  EXPECT_NEAR(2 * all.work, did.work, 1e-6 * did.work);
  EXPECT_NEAR(2 * all.span, did.span, part_of_span * did.span);
  EXPECT_NEAR(all.forks, did.forks, part_of_forks * did.forks);
  EXPECT_LE(t.nodes.size(), node_table::k_most_nodes);
  EXPECT_LE(t.joins.size(), node_table::k_most_joins);
  return t;
}

TEST(fork_tree, folds_a_balanced_tree_to_a_node_for_each_depth) {
  program p;
  auto const t = expect_right_tree(p, p.balanced(14, 10'000, 0));
  EXPECT_LE(t.nodes.size(), 15u);
  EXPECT_EQ(t.forks(t.runs[0].task), (1u << 14) - 1);
}

TEST(fork_tree, folds_noise) {
  for (double const leaf : {50.0, 1'000.0, 100'000.0}) {
    for (double const noise : {0.01, 0.1, 0.5}) {
      SCOPED_TRACE(std::to_string(leaf) + " with noise " + std::to_string(noise));
      program p;
      auto const t = expect_right_tree(p, p.balanced(16, leaf, noise));
      EXPECT_LE(t.nodes.size(), 4'000u);
    }
  }
}

TEST(fork_tree, folds_uneven_trees) {
  program p;
  expect_right_tree(p, p.uneven(1e9, 0.3));
}

TEST(fork_tree, has_no_negative_times_of_noise) {
  program p;
  expect_right_tree(p, p.balanced(15, 20, 4), 0.2);
}

TEST(fork_tree, folds_scopes) {
  for (bool const early : {false, true}) {
    program p;
    figures all = p.scope(3'000, 2'000, 0.2, early);
    all.then(p.join([&] { return p.scope(500, 10'000, 0.2, early); }, [&] { return p.code(1'000, 0); }));
    expect_right_tree(p, all);
  }
}

TEST(fork_tree, folds_a_scope_that_runs_tasks_early) {
  program p;
  expect_right_tree(p, p.scope(1'000'000, 3'000, 0.2, true));
}

TEST(fork_tree, folds_many_scopes) {
  for (int const tasks : {1'000, 4'000}) {
    for (bool const is_nested : {false, true}) {
      SCOPED_TRACE(std::to_string(tasks) + (is_nested ? " tasks, nested" : " tasks, in a row"));
      program p;
      figures all;
      if (is_nested) {
        all = p.nested_scopes(10, tasks);
      } else {
        for (int i = 0; i < 100'000 / tasks; ++i) all.then(p.scope(tasks, 100'000, 0.2, false));
      }
      auto const t = expect_right_tree(p, all, 0.02, 0.02);
      EXPECT_EQ(t.coarse, 0u);
    }
  }
}

TEST(fork_tree, says_where_scopes_are_too_long_for_its_memory) {
  program p;
  p.nested_scopes(10, 20'000);
  p.tree.run_ended();
  fork_tree t;
  p.tree.add_to(t, 0, 2.0, std::vector<unsigned>(256, 0));
  EXPECT_GT(t.coarse, 1'000u);
  EXPECT_LE(t.nodes.size(), node_table::k_most_nodes);
}

TEST(fork_tree, folds_many_joins_in_a_row) {
  program p;
  figures all;
  for (int i = 0; i < 20'000; ++i) {
    all.then(p.code(500, 0.2));
    int const depth = 2 + i / 3'000;
    all.then(
        p.join([&] { return p.balanced(depth, 1'000, 0.2); }, [&] { return p.balanced(depth + i % 2, 900, 0.2); }));
  }
  auto const t = expect_right_tree(p, all);
  EXPECT_LE(t.nodes[t.runs[0].task.node].joins, node_table::k_most_in_a_row);
}

TEST(fork_tree, folds_joins_of_no_time) {
  // As a coarse clock measures them.
  program p;
  for (unsigned i = 0; i < 10'000; ++i) {
    p.join([&] { return p.code(0, 0); }, [&] { return p.code(0, 0); }, i % 256);
  }
  p.tree.run_ended();
  fork_tree t;
  std::vector<unsigned> const places(256, 0);
  p.tree.add_to(t, 0, 2.0, places);
  for (auto const& n : t.nodes) EXPECT_LE(n.joins, node_table::k_most_in_a_row);
}

TEST(fork_tree, folds_many_runs) {
  program p;
  figures all;
  for (int i = 0; i < 20'000; ++i) {
    all.then(p.balanced(i % 7, 1'000 + i, 0.1));
    p.tree.run_ended();
  }
  figures const last = p.balanced(3, 1'000, 0);
  all.then(last);
  auto const t = expect_right_tree(p, all, 0.02);
  EXPECT_LE(t.runs.size(), folding::k_most_runs);
}

TEST(fork_tree, keeps_to_its_memory_where_no_two_tasks_are_alike) {
  program p;
  figures all;
  for (int i = 0; i < 150'000; ++i) {
    double const f = 10'000 * (1 + std::abs(p.any()) * 1e3);
    double const g = 10'000 * (1 + std::abs(p.any()) * 1e3);
    all.then(p.join([&] { return p.balanced(i % 5, f, 0.9); }, [&] { return p.balanced(i % 3, g, 0.9); },
                    static_cast<unsigned>(i % 256)));
  }
  expect_right_tree(p, all, 0.05, 0.2);
}

}  // namespace
}  // namespace filch_test
