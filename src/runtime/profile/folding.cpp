// The tasks that are open, from the run to the innermost one, and how they end. record.cpp calls it from the hooks.
// See folding.hpp.
#include "runtime/profile/folding.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace filch::runtime::profile {
namespace {

bool are_alike(double a, double b) noexcept {
  constexpr double k_alike = 1.25;
  return a <= k_alike * b && b <= k_alike * a;
}
double mean(cycles sum, std::uint64_t times) noexcept {
  return static_cast<double>(sum) / static_cast<double>(times);
}

joins_in_a_row::side sum(joins_in_a_row::side const& a, joins_in_a_row::side const& b) noexcept {
  return {b.work > a.work ? b.node : a.node, a.work + b.work};
}
void add(joins_in_a_row& to, joins_in_a_row const& j) noexcept {
  to = {to.before + j.before, sum(to.f, j.f), sum(to.g, j.g), to.longer + j.longer, to.times + j.times, to.place};
}

void add(folding::run& to, folding::run const& r) noexcept {
  if (r.work > to.work) to.node = r.node;
  to.work += r.work;
  to.times += r.times;
}

/// Sorts, and adds up the elements whose keys are equal. Returns their new end.
template <class Iterator, class Key> Iterator merge_equal(Iterator begin, Iterator end, Key const& key) {
  std::sort(begin, end, [&](auto const& a, auto const& b) { return key(a) < key(b); });
  Iterator last = begin;
  for (Iterator i = begin + 1; i != end; ++i) {
    if (key(*last) == key(*i)) {
      add(*last, *i);
    } else {
      *++last = *i;
    }
  }
  return last + 1;
}
/// Sorts, and adds up pairs of neighbours, those whose keys are the nearest. At least one pair, if there are two
/// elements.
template <class Iterator, class Key> Iterator merge_nearest(Iterator begin, Iterator end, Key const& key) {
  std::sort(begin, end, [&](auto const& a, auto const& b) { return key(a) < key(b); });
  std::vector<double> steps;
  for (Iterator i = begin + 1; i < end; ++i) steps.push_back(key(*i) / key(i[-1]));
  std::vector<double> sorted = steps;
  auto const middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  Iterator to = begin;
  for (auto i = begin; i < end; ++to) {
    auto const step = static_cast<std::size_t>(i - begin);
    auto both = *i++;
    if (step < steps.size() && steps[step] <= *middle) profile::add(both, *i++);
    *to = both;
  }
  return to;
}

}  // namespace

// ---- forks ---------------------------------------------------------------------------------------

void folding::begin_task() noexcept {
  now_ = {};
  now_.first_join = joins_.size();
}

folding::fork folding::forked(unsigned place) {
  if (open_.size() >= most_open_) [[unlikely]]
    halve_early_tasks();
  open_.push_back({now_, place});
  begin_task();
  return static_cast<fork>(open_.size() - 1);
}

void folding::f_ended(fork its) {
  close_above(its + std::size_t{1});
  open_[its].f = end_task();
  begin_task();
}

void folding::joined(fork its) {
  close_above(its + std::size_t{1});
  open_[its].g = end_task();
  open_fork const ends = open_[its];
  open_.pop_back();
  now_ = ends.outer;
  join(ends.f, ends.g, ends.place);
}

void folding::task_begins() {
  set_aside_.push_back(now_);
  begin_task();
}

void folding::task_ended(fork its) {
  open_[its].g = end_task();
  open_[its].g_has_ended = true;
  now_ = set_aside_.back();
  set_aside_.pop_back();
}

void folding::scope_ended(fork oldest) {
  close_above(oldest);
  most_open_ = std::max(k_early_tasks, 2 * open_.size());
}

/// Forks of scopes: the rest of the body is f.
void folding::close_above(std::size_t open) {
  while (open_.size() > open) {
    ended_task const rest = end_task(task_kind::rest_of_body);
    open_fork const ends = open_.back();
    open_.pop_back();
    now_ = ends.outer;
    join(rest, ends.g, ends.place);
  }
}

void folding::join(ended_task const& f, ended_task const& g, unsigned place) {
  cycles const before = std::exchange(now_.own, 0);
  cycles const longer = std::max(f.span, g.span);
  now_.work += before + f.work + g.work;
  now_.span += before + longer;
  now_.forks += f.forks + g.forks + 1;
  add({before, {f.node, f.work}, {g.node, g.work}, longer, 1, place});
}

ended_task folding::end_task(task_kind kind) {
  ended_task t{fork_tree::k_leaf, now_.work + now_.own, now_.span + now_.own, now_.forks};
  if (now_.first_join == joins_.size()) return t;
  t.node = nodes_.fold(t, std::span(joins_).subspan(now_.first_join), now_.own, kind);
  joins_.resize(now_.first_join);
  return t;
}

/// Tasks that full scopes ran before their sync. Two neighbours without a join between them become one fork.
/// Its task forks the other.
void folding::halve_early_tasks() {
  std::size_t first = open_.size();
  while (first != 0 && open_[first - 1].g_has_ended) --first;
  std::size_t to = first;
  for (std::size_t i = first; i < open_.size(); ++to) {
    open_fork both = open_[i++];
    if (i != open_.size() && open_[i].outer.forks == 0) {
      open_fork const& next = open_[i++];
      ended_task& g = both.g;
      both.outer.own += next.outer.own;
      joins_in_a_row const j{0, {g.node, g.work}, {next.g.node, next.g.work}, std::max(g.span, next.g.span),
                             1, both.place};
      g = {g.node, g.work + next.g.work, j.longer, g.forks + next.g.forks + 1};
      g.node = nodes_.fold(g, {&j, 1}, 0);
    }
    open_[to] = both;
  }
  open_.resize(to);
  most_open_ = std::max(k_early_tasks, 2 * open_.size());
}

// ---- joins in a row ------------------------------------------------------------------------------

void folding::add(joins_in_a_row const& j) {
  std::size_t const row = joins_.size() - now_.first_join;
  if (row != 0) {
    joins_in_a_row& last = joins_.back();
    auto const is_alike = [&](joins_in_a_row::side const& a, joins_in_a_row::side const& b) {
      return a.node == b.node && are_alike(mean(a.work, last.times), mean(b.work, j.times));
    };
    if (last.place == j.place && is_alike(last.f, j.f) && is_alike(last.g, j.g)) {
      profile::add(last, j);
      return;
    }
  }
  if (row >= node_table::k_most_in_a_row) halve_joins();
  joins_.push_back(j);
}

/// The order of joins in a row is of no account. Those of the same nodes become one, and then those that are the most
/// alike.
void folding::halve_joins() {
  auto const row = joins_.begin() + static_cast<std::ptrdiff_t>(now_.first_join);
  auto const nodes = [](joins_in_a_row const& j) { return std::tuple(j.f.node, j.g.node, j.place); };
  auto const parallelism = [](joins_in_a_row const& j) {
    // At least 1: a coarse clock, or noise, may have measured no work.
    return std::max(1.0,
                    static_cast<double>(j.f.work + j.g.work) / static_cast<double>(std::max<cycles>(j.longer, 1)));
  };
  joins_.erase(merge_equal(row, joins_.end(), nodes), joins_.end());
  if (joins_.size() - now_.first_join > node_table::k_most_in_a_row / 2)
    joins_.erase(merge_nearest(row, joins_.end(), parallelism), joins_.end());
}

// ---- runs ----------------------------------------------------------------------------------------

void folding::run_ended() {
  close_above(0);
  ended_task const t = end_task();
  begin_task();
  if (!runs_.empty()) {
    run& last = runs_.back();
    if (last.node == t.node && are_alike(mean(last.work, last.times), mean(t.work, 1))) {
      last.work += t.work;
      ++last.times;
      return;
    }
  }
  if (runs_.size() == k_most_runs) halve_runs();
  runs_.push_back({t.node, t.work, 1});
}

void folding::halve_runs() {
  auto const node = [](run const& r) { return r.node; };
  auto const part_in_span = [this](run const& r) {
    auto const& n = nodes_.tree().nodes[r.node];
    return n.span_ns / n.work_ns;
  };
  runs_.erase(merge_equal(runs_.begin(), runs_.end(), node), runs_.end());
  if (runs_.size() > k_most_runs / 2)
    runs_.erase(merge_nearest(runs_.begin(), runs_.end(), part_in_span), runs_.end());
}

void folding::add_to(fork_tree& to, unsigned thread, double cycles_per_ns, std::span<unsigned const> places) const {
  constexpr auto k_leaf = fork_tree::k_leaf;
  fork_tree const& mine = nodes_.tree();
  auto const nodes_before = static_cast<fork_tree::index>(to.nodes.size() - 1);  // but for the leaf, which is both's
  auto const joins_before = static_cast<fork_tree::index>(to.joins.size());
  auto const ns = [&](double c) { return c / cycles_per_ns; };
  auto const part = [&](fork_tree::part p) {
    return p.node == k_leaf ? fork_tree::part{k_leaf, ns(p.scale)} : fork_tree::part{nodes_before + p.node, p.scale};
  };
  for (std::size_t i = 1; i < mine.nodes.size(); ++i) {
    fork_tree::node n = mine.nodes[i];
    n.first_join += joins_before;
    n.after_ns = ns(n.after_ns);
    n.work_ns = ns(n.work_ns);
    n.span_ns = ns(n.span_ns);
    to.nodes.push_back(n);
  }
  for (auto const& j : mine.joins) to.joins.push_back({ns(j.before_ns), part(j.f), part(j.g), j.times});
  for (auto const place : mine.join_places) to.join_places.push_back(places[place]);
  for (run const& r : runs_) {
    double const scale = std::max(mean(r.work, r.times), 0.0) / mine.nodes[r.node].work_ns;
    to.runs.push_back({part({r.node, scale}), r.times, thread});
  }
  to.coarse += mine.coarse;
}

}  // namespace filch::runtime::profile
