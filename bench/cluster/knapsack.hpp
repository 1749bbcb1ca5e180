// knapsack-bound: 0-1 knapsack by branch and bound on a cluster. The best value so far is a bound that all ranks
// know; branches that can't beat it, by the fractional relaxation, are cut off. Weights come from a fixed generator;
// a value is its weight and a constant (strongly correlated: D. Pisinger, Where are the hard knapsack problems?,
// 2005). The answer is checked against dynamic programming; the number of visited nodes depends on the order.
// Cut-off: the last 12 items are searched in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filch/rank.hpp>
#include <memory>
#include <vector>

namespace bench::cluster_tasks {

struct knapsack_problem {
  struct item {
    std::int32_t value, weight;
  };
  std::vector<item> items;  // sorted by value for weight, the greatest first
  std::int32_t capacity = 0;
  std::int32_t best = 0;  // the best value, by dynamic programming

  explicit knapsack_problem(long count) {
    std::uint32_t x = 4711;
    for (long i = 0; i < count; ++i) {
      x = x * 1103515245u + 12345u;
      auto const weight = static_cast<std::int32_t>((x >> 16) % 1000) + 10'000;
      items.push_back({weight + 100, weight});
      capacity += weight;
    }
    capacity /= 2;
    std::sort(items.begin(), items.end(), [](item a, item b) { return a.value * b.weight > b.value * a.weight; });
    std::vector<std::int32_t> by_capacity(static_cast<std::size_t>(capacity) + 1);
    for (item const& it : items) {
      for (std::int32_t c = capacity; c >= it.weight; --c) {
        auto& here = by_capacity[static_cast<std::size_t>(c)];
        here = std::max(here, by_capacity[static_cast<std::size_t>(c - it.weight)] + it.value);
      }
    }
    best = by_capacity.back();
  }

  /// An upper bound for the items from i on.
  std::int32_t most(std::size_t i, std::int32_t room) const {
    std::int32_t sum = 0;
    for (; i < items.size() && items[i].weight <= room; ++i) {
      room -= items[i].weight;
      sum += items[i].value;
    }
    return i == items.size() ? sum
                             : sum + static_cast<std::int32_t>(std::int64_t{items[i].value} * room / items[i].weight);
  }

  /// Takes items as long as they fit; leave(i, room, value) is the rest of the search without item i - 1. Calls
  /// found(value) in the end. Returns the number of nodes.
  template <class Best, class Leave, class Found>
  long descend(std::size_t i, std::int32_t room, std::int32_t value, Best best_so_far, Leave leave,
               Found found) const {
    long nodes = 0;
    for (; i < items.size(); ++i) {
      ++nodes;
      if (value + most(i, room) <= best_so_far()) return nodes;
      if (items[i].weight > room) continue;
      leave(i + 1, room, value);
      room -= items[i].weight;
      value += items[i].value;
    }
    found(value);
    return nodes + 1;
  }

  template <class Best, class Found>
  long sequential(std::size_t i, std::int32_t room, std::int32_t value, Best best_so_far, Found found) const {
    long nodes = 0;
    nodes += descend(
        i, room, value, best_so_far,
        [&](std::size_t at, std::int32_t r, std::int32_t v) { nodes += sequential(at, r, v, best_so_far, found); },
        found);
    return nodes;
  }
};

/// The problem of this process: made before a run, the same on all ranks.
inline std::unique_ptr<knapsack_problem const> the_problem;

/// The search from item i on. The best value is the bound; returns the number of nodes that it visited itself.
inline long search(filch::rank& here, filch::bound best, std::uint32_t i, std::int32_t room, std::int32_t value) {
  constexpr std::size_t k_in_place = 12;
  knapsack_problem const& p = *the_problem;
  auto const best_so_far = [&] { return here.value(best); };
  auto const found = [&](std::int32_t v) { here.raise(best, v); };
  long nodes = 0;
  auto const leave = [&](std::size_t at, std::int32_t r, std::int32_t v) {
    if (p.items.size() - at > k_in_place) {
      here.spawn<&search>(best, static_cast<std::uint32_t>(at), r, v);
    } else {
      nodes += p.sequential(at, r, v, best_so_far, found);
    }
  };
  nodes += p.descend(i, room, value, best_so_far, leave, found);
  return nodes;
}

}  // namespace bench::cluster_tasks
