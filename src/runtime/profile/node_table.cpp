// Finds the node of a task by what it has in common with others, or makes one. folding.cpp calls it when a task ends.
// See node_table.hpp.
#include "runtime/profile/node_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace filch::runtime::profile {
namespace {

constexpr double k_least_scale = 1e-6;  // where noise is all that was measured
constexpr unsigned k_coarsest = 8;

/// The exponent and so many bits of the mantissa: equal for numbers that differ by less than 2^-bits of them.
std::uint64_t leading_bits(double x, unsigned bits) noexcept {
  return std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> (23 - bits);
}

double positive(cycles c) noexcept { return static_cast<double>(std::max<cycles>(c, 0)); }

/// The part of its work that is span.
double part_in_span(ended_task const& t) noexcept {
  if (t.work <= 0) return 1;
  return std::clamp(static_cast<double>(t.span) / static_cast<double>(t.work), 1e-6, 1.0);
}

}  // namespace

node_table::index node_table::fold(ended_task const& t, std::span<joins_in_a_row const> joins, cycles after,
                                   task_kind kind) {
  if (4 * entries_ >= 3 * table_.size()) [[unlikely]]
    grow();
  std::uint64_t const key = key_of(t, joins, kind);
  entry& its = find(key);
  if (its.key == 0) {
    if (is_full()) {
      ++tree_.coarse;
      return last_;
    }
    ++entries_;
    its = {key, make_node(t, joins, after)};
  }
  // Keys that are coarse leave out rests between others.
  if (4 * tree_.nodes[its.node].forks < 3 * t.forks) ++tree_.coarse;
  return last_ = its.node;
}

/// Tasks of one key are alike: about the same parallelism and number of forks, at the same place.
std::uint64_t node_table::key_of(ended_task const& t, std::span<joins_in_a_row const> joins,
                                 task_kind kind) const noexcept {
  constexpr cycles k_small = cycles{1} << 13;
  constexpr cycles k_large = cycles{1} << 22;
  constexpr unsigned k_bits[] = {5, 8, 10};  // differences of 3%, 0.4%, 0.1%
  constexpr unsigned k_fewest_bits[] = {1, 7, 7};
  constexpr unsigned k_bits_of_rest = 7;
  constexpr unsigned k_is_rest = 15;  // no number of bits
  unsigned const size = (t.work >= k_small ? 1u : 0u) + (t.work >= k_large ? 1u : 0u);
  unsigned bits = std::max(k_bits[size] - std::min(k_bits[size], coarser_), k_fewest_bits[size]);
  unsigned bits_of_forks = coarser_ == 0 ? 12 : 4 - std::min(4u, coarser_ / 2);
  unsigned version = coarser_;
  // A rest of a scope's body is in the one before, so their forks differ by one, and are exact below 32,768.
  if (kind == task_kind::rest_of_body && coarser_ < k_coarsest) {
    bits = std::min(bits, k_bits_of_rest);
    bits_of_forks = 14;
    version = k_is_rest;
  }
  std::uint64_t key =
      leading_bits(part_in_span(t), bits) << 20 |
      (leading_bits(static_cast<double>(t.forks), bits_of_forks) - (std::uint64_t{127} << bits_of_forks)) << 38 |
      std::uint64_t{size} << 58 | std::uint64_t{version} << 60;
  // There are few of the coarsest keys, so the table hardly gets full.
  if (coarser_ < k_coarsest)
    key |= std::uint64_t{joins.back().place} << 4 | std::min<std::uint64_t>(joins.size(), 15);
  return key;
}

node_table::entry& node_table::find(std::uint64_t key) noexcept {
  std::size_t const mask = table_.size() - 1;
  std::size_t i = (key * 0x9E3779B97F4A7C15u) >> 40 & mask;
  while (table_[i].key != key && table_[i].key != 0) i = (i + 1) & mask;
  return table_[i];
}

void node_table::grow() {
  std::vector<entry> const before =
      std::exchange(table_, std::vector<entry>(std::max<std::size_t>(256, 2 * table_.size())));
  for (entry const& each : before) {
    if (each.key != 0) find(each.key) = each;
  }
}

bool node_table::is_full() const noexcept {
  return tree_.nodes.size() == k_most_nodes || tree_.joins.size() + k_most_in_a_row > k_most_joins;
}

/// The more nodes there are, the fewer kinds of tasks are told apart.
void node_table::make_keys_coarser() noexcept {
  std::size_t const eighths = std::max(8 * tree_.nodes.size() / k_most_nodes, 8 * tree_.joins.size() / k_most_joins);
  if (eighths >= 3) coarser_ = std::max(coarser_, std::min(k_coarsest, 2 * static_cast<unsigned>(eighths) - 4));
}

// ---- a new node ----------------------------------------------------------------------------------

node_table::index node_table::make_node(ended_task const& t, std::span<joins_in_a_row const> joins, cycles after) {
  cycles own = after;
  double all_positive = positive(after);
  for (auto const& j : joins) {
    own += j.before;
    all_positive += positive(j.before);
  }
  // Where noise made parts negative, the others are shorter by that.
  double const kept = own > 0 ? static_cast<double>(own) / all_positive : 0;
  fork_tree::node n;
  n.first_join = static_cast<index>(tree_.joins.size());
  n.joins = static_cast<index>(joins.size());
  n.after_ns = kept * positive(after);
  for (auto const& j : joins) {
    auto const times = static_cast<double>(j.times);
    fork_tree::join to{kept * positive(j.before) / times, part_of(j.f, times), part_of(j.g, times), j.times};
    lengthen_longer(to, static_cast<double>(j.longer) / times);
    tree_.joins.push_back(to);
    tree_.join_places.push_back(j.place);
  }
  sum_up(n);
  correct_span(n, part_in_span(t));
  tree_.nodes.push_back(n);
  make_keys_coarser();
  return static_cast<index>(tree_.nodes.size() - 1);
}

fork_tree::part node_table::part_of(joins_in_a_row::side const& s, double times) const noexcept {
  double const scale = static_cast<double>(s.work) / times / tree_.nodes[s.node].work_ns;
  return {s.node, std::max(scale, k_least_scale)};
}

/// The mean of the longer sides of several joins is more than the mean of either side.
void node_table::lengthen_longer(fork_tree::join& j, double longer) const noexcept {
  if (j.times == 1) return;
  bool const is_f = tree_.span_ns(j.f) >= tree_.span_ns(j.g);
  fork_tree::part& a = is_f ? j.f : j.g;
  fork_tree::part& b = is_f ? j.g : j.f;
  double const factor = longer / tree_.span_ns(a);
  double const moved = tree_.work_ns(a) * (factor - 1);
  double const left = tree_.work_ns(b) - moved;
  if (moved <= 0 || left <= 0 || tree_.span_ns(b) > longer) return;
  a.scale *= factor;
  b.scale *= left / tree_.work_ns(b);
}

void node_table::sum_up(fork_tree::node& n) const noexcept {
  n.work_ns = n.span_ns = n.after_ns;
  for (index i = n.first_join; i < n.first_join + n.joins; ++i) {
    fork_tree::join const& j = tree_.joins[i];
    auto const times = static_cast<double>(j.times);
    n.work_ns += times * (j.before_ns + tree_.work_ns(j.f) + tree_.work_ns(j.g));
    n.span_ns += times * (j.before_ns + std::max(tree_.span_ns(j.f), tree_.span_ns(j.g)));
    n.forks += j.times * (tree_.forks(j.f) + tree_.forks(j.g) + 1);
  }
}

/// Makes `part` of the work span, as it was measured: the nodes of the sides are only like the task's own. The code
/// outside of the joins takes the difference.
void node_table::correct_span(fork_tree::node& n, double part) {
  constexpr double k_near = 0.001;
  if (n.work_ns <= 0 || part > 0.999 || std::abs(n.span_ns / n.work_ns / part - 1) < k_near) return;
  double own = n.after_ns;
  for (index i = n.first_join; i < n.first_join + n.joins; ++i)
    own += static_cast<double>(tree_.joins[i].times) * tree_.joins[i].before_ns;
  double const needed = std::max(0.0, (part * (n.work_ns - own) - (n.span_ns - own)) / (1 - part));
  if (own > 0) {
    n.after_ns *= needed / own;
    for (index i = n.first_join; i < n.first_join + n.joins; ++i) tree_.joins[i].before_ns *= needed / own;
  } else {
    n.after_ns = needed;
  }
  n.work_ns += needed - own;
  n.span_ns += needed - own;
}

}  // namespace filch::runtime::profile
