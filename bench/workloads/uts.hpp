// uts: Unbalanced Tree Search (Olivier et al., LCPC 2006): counts the nodes of a tree whose shape depends on a chain
// of SHA-1 digests. A node's random state is the digest of its parent's and its number among its siblings.
// Sizes are the published trees with their published numbers of nodes. Every child is forked, no cut-off: the
// children of a node are halved by joins, which costs a fork less than there are children.
#pragma once

#include "../workload.hpp"
#include "sha1.hpp"

#include <array>
#include <cmath>
#include <filch/join.hpp>

namespace bench {

struct uts {
  static constexpr std::string_view name = "uts";
  static constexpr std::string_view about = "unbalanced tree search, the published trees";
  static constexpr std::string_view quick_size = "T1";
  static std::vector<std::string_view> sizes() { return {"T1L", "T1", "T3", "T2L", "T3L"}; }
  static std::vector<std::string_view> published_sizes() { return {"T1L", "T2L", "T3L"}; }

  enum class shape { binomial, geometric_cyclic, geometric_fixed };
  struct tree {
    std::string_view name;
    shape kind;
    double root_children;  // b_0
    std::uint32_t seed;    // r
    int depth;             // d: geometric trees end there
    double q;              // binomial: probability of having
    int m;                 // this many children
    long nodes;            // published
  };
  // Geometric trees have the fixed shape (-a 3) but T2L, whose shape is cyclic (-a 2).
  static constexpr std::array<tree, 5> k_trees = {{
      {"T1", shape::geometric_fixed, 4, 19, 10, 0, 0, 4'130'071},
      {"T3", shape::binomial, 2000, 42, 0, 0.124875, 8, 4'112'897},
      {"T1L", shape::geometric_fixed, 4, 29, 13, 0, 0, 102'181'082},
      {"T2L", shape::geometric_cyclic, 7, 220, 23, 0, 0, 96'793'510},
      {"T3L", shape::binomial, 2000, 7, 0, 0.200014, 5, 111'345'631},
  }};
  static constexpr int k_most_children =
      100;  // of the published program: MAXNUMCHILDREN; not the root's, if binomial

  struct node {
    sha1_digest state;
    int height;
  };

  using input = tree const*;
  using answer = long;
  static input prepare(std::string_view size) {
    for (tree const& t : k_trees) {
      if (t.name == size) return &t;
    }
    throw bad_request("uts=" + std::string(size) + ": expected one of T1, T3, T1L, T2L, T3L");
  }

  static node root_of(tree const& t) {
    // 16 zero bytes, then the seed.
    return {sha1<5>({0, 0, 0, 0, t.seed}), 0};
  }
  static node child_of(node const& n, std::uint32_t number) {
    return {sha1<6>({n.state[0], n.state[1], n.state[2], n.state[3], n.state[4], number}), n.height + 1};
  }
  static double probability(node const& n) { return (n.state[4] & 0x7fffffffu) / 2147483648.0; }

  static int children(tree const& t, node const& n) {
    if (t.kind == shape::binomial) {
      if (n.height == 0) return static_cast<int>(t.root_children);
      return probability(n) < t.q ? t.m : 0;
    }
    double expected = t.root_children;
    if (n.height > 0 && t.kind == shape::geometric_cyclic) {
      if (n.height > 5 * t.depth) return 0;
      expected = std::pow(t.root_children, std::sin(2.0 * 3.141592653589793 * n.height / t.depth));
    } else if (n.height > 0) {
      expected = n.height < t.depth ? t.root_children : 0;
    }
    double const p = 1.0 / (1.0 + expected);
    int const count = static_cast<int>(std::floor(std::log(1 - probability(n)) / std::log(1 - p)));
    return count < k_most_children ? count : k_most_children;
  }

  template <class S> static long visit_range(tree const& t, node const& n, int first, int last) {
    if (last - first == 1) return visit<S>(t, child_of(n, static_cast<std::uint32_t>(first)));
    int const middle = (first + last) / 2;
    auto [a, b] = filch::join<S>([&t, &n, first, middle] { return visit_range<S>(t, n, first, middle); },
                                 [&t, &n, middle, last] { return visit_range<S>(t, n, middle, last); });
    return a + b;
  }
  template <class S> static long visit(tree const& t, node const& n) {
    int const count = children(t, n);
    return count == 0 ? 1 : 1 + visit_range<S>(t, n, 0, count);
  }
  static long sequential(tree const& t, node const& n) {
    long sum = 1;
    int const count = children(t, n);
    for (int i = 0; i < count; ++i) sum += sequential(t, child_of(n, static_cast<std::uint32_t>(i)));
    return sum;
  }

  template <class S> static answer run(input& t) { return visit<S>(*t, root_of(*t)); }
  static answer plain(input& t) { return sequential(*t, root_of(*t)); }
  static bool verify(input const& t, answer found) { return found == t->nodes; }
};

}  // namespace bench
