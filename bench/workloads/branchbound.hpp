// branchbound: the shortest round trip through cities, by branch and bound with a scope: each node spawns the cities
// that are left, the nearest first, and drops those whose bound is not below the best trip so far. So the number of
// nodes depends on the order. The best trip is checked against dynamic programming outside the timing.
#pragma once

#include "../workload.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filch/scope.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace bench {

struct branchbound {
  static constexpr std::string_view name = "branchbound";
  static constexpr std::string_view about = "shortest round trip, by branch and bound, size is the number of cities";
  static constexpr std::string_view quick_size = "14";
  static std::vector<std::string_view> sizes() { return {"15", "14", "16"}; }

  static constexpr unsigned k_most_cities = 18;
  struct city {
    std::array<int, k_most_cities> to{};
    std::array<unsigned char, k_most_cities> nearest{};  // the others, by distance
    int least = 0;                                       // to any other
  };
  struct problem {
    unsigned cities = 0;
    std::array<city, k_most_cities> at;
    int length = 0;  // length of the shortest trip, by dynamic programming
  };
  /// The shared state of the search. Each worker counts nodes for itself.
  struct search {
    struct alignas(64) count {
      std::atomic<long> nodes{0};
    };
    alignas(64) std::atomic<int> best{std::numeric_limits<int>::max()};
    std::array<count, 64> counts;

    long nodes() const {
      long sum = 0;
      for (auto const& c : counts) sum += c.nodes.load(std::memory_order_relaxed);
      return sum;
    }
    void found(int length) {
      int now = best.load(std::memory_order_relaxed);
      while (length < now && !best.compare_exchange_weak(now, length, std::memory_order_relaxed)) {
      }
    }
  };
  struct input {
    problem of;
    std::unique_ptr<search> shared = std::make_unique<search>();
  };
  using answer = int;

  static problem make(unsigned cities, std::uint32_t seed) {
    problem p;
    p.cities = cities;
    std::uint32_t x = seed;
    auto const random = [&x] { return static_cast<int>(((x = x * 1103515245u + 12345u) >> 16) % 1000); };
    std::vector<std::pair<int, int>> places;
    for (unsigned i = 0; i < cities; ++i) {
      int const across = random();
      places.emplace_back(across, random());
    }
    auto const distance = [&](unsigned a, unsigned b) {
      int const dx = places[a].first - places[b].first;
      int const dy = places[a].second - places[b].second;
      int root = 0;
      while ((root + 1) * (root + 1) <= dx * dx + dy * dy) ++root;
      return root;
    };
    for (unsigned i = 0; i < cities; ++i) {
      city& c = p.at[i];
      unsigned others = 0;
      for (unsigned k = 0; k < cities; ++k) {
        c.to[k] = distance(i, k);
        if (k != i) c.nearest[others++] = static_cast<unsigned char>(k);
      }
      std::sort(c.nearest.begin(), c.nearest.begin() + others,
                [&c](auto a, auto b) { return std::pair(c.to[a], a) < std::pair(c.to[b], b); });
      c.least = c.to[c.nearest[0]];
    }
    return p;
  }

  /// Held and Karp's: the shortest way from city 0 through each set of others to each of them.
  static int shortest(problem const& p) {
    unsigned const others = p.cities - 1;
    constexpr int k_far = std::numeric_limits<int>::max() / 2;
    std::vector<int> way((std::size_t{1} << others) * others, k_far);
    for (unsigned i = 0; i < others; ++i) way[(std::size_t{1} << i) * others + i] = p.at[0].to[i + 1];
    for (std::size_t set = 1; set < std::size_t{1} << others; ++set) {
      for (unsigned last = 0; last < others; ++last) {
        int const here = way[set * others + last];
        for (unsigned next = 0; here < k_far && next < others; ++next) {
          if (set >> next & 1) continue;
          int& there = way[(set | std::size_t{1} << next) * others + next];
          there = std::min(there, here + p.at[last + 1].to[next + 1]);
        }
      }
    }
    int best = k_far;
    for (unsigned i = 0; i < others; ++i) {
      best = std::min(best, way[((std::size_t{1} << others) - 1) * others + i] + p.at[i + 1].to[0]);
    }
    return best;
  }

  static input prepare(std::string_view size) {
    input in;
    in.of = make(static_cast<unsigned>(parse_size(name, size, 3, k_most_cities)), 20);
    in.of.length = shortest(in.of);
    return in;
  }
  static void reset(input& in) { in.shared = std::make_unique<search>(); }

  /// At a city, with `left` cities still to be seen, from each of which, and from here, one goes at least so far.
  struct node {
    unsigned here;
    std::uint32_t left;
    int length;
    int least;
  };
  static node root(problem const& p) {
    int least = 0;
    for (unsigned i = 0; i < p.cities; ++i) least += p.at[i].least;
    return {0, (std::uint32_t{1} << p.cities) - 2, 0, least};
  }
  /// Counts the node, and calls each(child), the nearest first, unless it is the end of a trip, or too long.
  template <class Each> static void expand(problem const& p, search& s, unsigned worker, node n, Each each) {
    s.counts[worker % 64].nodes.fetch_add(1, std::memory_order_relaxed);
    city const& here = p.at[n.here];
    if (n.left == 0) return s.found(n.length + here.to[0]);
    // relaxed: a bound that is a little old costs nodes, not the answer.
    if (n.length + n.least >= s.best.load(std::memory_order_relaxed)) return;
    for (unsigned i = 0; i + 1 < p.cities; ++i) {
      unsigned const next = here.nearest[i];
      if (n.left >> next & 1) {
        each(node{next, n.left & ~(std::uint32_t{1} << next), n.length + here.to[next], n.least - here.least});
      }
    }
  }
  template <class S> static void forked(problem const& p, search& shared, node n) {
    filch::scope<S>([&](auto& s) {
      expand(p, shared, S::worker_index(), n,
             [&](node child) { s.spawn([&p, &shared, child] { forked<S>(p, shared, child); }); });
    });
  }
  static void sequential(problem const& p, search& shared, node n) {
    expand(p, shared, 0, n, [&](node child) { sequential(p, shared, child); });
  }

  template <class S> static answer run(input& in) {
    forked<S>(*opaque(&in.of), *in.shared, root(in.of));
    return in.shared->best.load();
  }
  static answer plain(input& in) {
    sequential(*opaque(&in.of), *in.shared, root(in.of));
    return in.shared->best.load();
  }
  static bool verify(input const& in, answer found) { return found == in.of.length; }
};

}  // namespace bench
