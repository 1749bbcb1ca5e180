// The recorder of recording.hpp, and the papers' workloads compiled for it.
#include "recording.hpp"

#include "../measure.hpp"
#include "../workloads.hpp"

#include <chrono>
#include <cmath>

namespace bench {
namespace {

/// The middle of the time's bucket.
double rounded(double ns) { return ns < 1 ? 0 : std::exp2(std::round(8 * std::log2(ns)) / 8); }
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

}  // namespace

void tree_recorder::begins() { began_ = clock::now(); }
double tree_recorder::segment_ends() {
  return std::chrono::duration<double, std::nano>(clock::now() - began_).count();
}

void tree_recorder::task_begins() {
  open_.emplace_back();
  begins();
}

tree_recorder::part tree_recorder::task_ends() {
  double const after = segment_ends();
  part const p = node_of(open_.back(), after);
  open_.pop_back();
  return p;
}

void tree_recorder::joined(double before_ns, part const& f, part const& g) {
  auto& joins = open_.back();
  double const before = rounded(before_ns);
  auto const same = [](part const& a, part const& b) { return a.node == b.node && a.scale == b.scale; };
  if (!joins.empty() && joins.back().before_ns == before && same(joins.back().f, f) && same(joins.back().g, g)) {
    ++joins.back().times;
  } else {
    joins.push_back({before, f, g, 1});
  }
}

tree_recorder::part tree_recorder::node_of(std::vector<fork_tree::join> const& joins, double after_ns) {
  double const after = rounded(after_ns);
  if (joins.empty()) return {fork_tree::k_leaf, std::max(after, 1e-3)};
  std::vector<std::uint64_t> key{bits(after)};
  for (auto const& j : joins) {
    key.insert(key.end(), {bits(j.before_ns), j.f.node, bits(j.f.scale), j.g.node, bits(j.g.scale), j.times});
  }
  auto const [at, is_new] = known_.try_emplace(std::move(key), static_cast<fork_tree::index>(tree_.nodes.size()));
  if (is_new) {
    fork_tree::node n{static_cast<fork_tree::index>(tree_.joins.size()),
                      static_cast<fork_tree::index>(joins.size()),
                      after,
                      after,
                      after,
                      0};
    for (auto const& j : joins) {
      auto const times = static_cast<double>(j.times);
      n.work_ns += times * (j.before_ns + tree_.work_ns(j.f) + tree_.work_ns(j.g));
      n.span_ns += times * (j.before_ns + std::max(tree_.span_ns(j.f), tree_.span_ns(j.g)));
      n.forks += j.times * (1 + tree_.forks(j.f) + tree_.forks(j.g));
    }
    tree_.joins.insert(tree_.joins.end(), joins.begin(), joins.end());
    tree_.nodes.push_back(n);
  }
  return {at->second, 1};
}

bool tree_recorder::is_fine() const {
  mean const& m = tasks_[std::min(depth_, tasks_.size() - 1)];
  return m.count >= k_samples && m.sum < k_fine_ns * static_cast<double>(m.count);
}

void tree_recorder::goes_up(double task_ns) {
  mean& m = tasks_[std::min(--depth_, tasks_.size() - 1)];
  m.sum += task_ns;
  ++m.count;
}

fork_tree tree_recorder::take() {
  part const root = task_ends();
  tree_.runs = {{root, 1, 0}};
  known_.clear();
  return std::move(tree_);
}

namespace {

template <class... Ws> struct each_of {
  static fork_tree record(std::string_view name, std::string_view size) {
    fork_tree tree;
    if (!((W_is<Ws>(name) && (tree = run<Ws>(size), true)) || ...))
      throw bad_request(std::string(name) + " is a workload of no paper");
    return tree;
  }

 private:
  template <class W> static bool W_is(std::string_view name) { return W::name == name; }
  template <class W> static fork_tree run(std::string_view size) {
    job_of<W> job(size);
    job.reset();
    tree_recorder r;
    recording::into = &r;
    r.task_begins();
    job.answer = W::template run<recording>(job.input);
    fork_tree tree = r.take();
    recording::into = nullptr;
    if (!job.verify()) throw wrong_answer(std::string(W::name) + " while it was recorded: wrong answer");
    return tree;
  }
};

using workloads_of_papers =
    each_of<fib, integrate, jacobi, matmul, nqueens, nqueens_array, quicksort, lu, heat, cholesky, fft, knapsack,
            rectmul, strassen, stress, mm, ssf, spc, bpc, treerec, sparselu, uts>;

}  // namespace

fork_tree recorded_tree(std::string_view workload, std::string_view size) {
  return workloads_of_papers::record(workload, size);
}

}  // namespace bench
