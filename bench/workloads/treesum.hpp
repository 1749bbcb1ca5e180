// treesum: the sum over a binary tree of heap-allocated nodes, every node forked, no cut-off: a few nanoseconds of
// work a node. Published by: chili and Spice (tree sum of 10^7 nodes). The tree is built depth first, as there, so
// neighbours lie close. Answer: n(n+1)/2.
#pragma once

#include "../workload.hpp"

#include <filch/join.hpp>
#include <memory>
#include <vector>

namespace bench {

struct treesum {
  static constexpr std::string_view name = "treesum";
  static constexpr std::string_view about = "sum over a heap-allocated binary tree";
  static constexpr std::string_view quick_size = "1000000";
  static std::vector<std::string_view> sizes() { return {"10000000", "1000000", "100000000"}; }

  struct node {
    long value;
    std::unique_ptr<node> left;
    std::unique_ptr<node> right;
  };
  struct input {
    long count;
    std::unique_ptr<node> root;
  };
  using answer = long;

  // The values [first, last] as a balanced tree.
  static std::unique_ptr<node> build(long first, long last) {
    if (first > last) return nullptr;
    long const middle = first + (last - first) / 2;
    auto n = std::make_unique<node>();
    n->value = middle;
    n->left = build(first, middle - 1);
    n->right = build(middle + 1, last);
    return n;
  }
  static long size_of(std::string_view size) { return parse_size(name, size, 1, 300'000'000); }
  static input prepare(std::string_view size) {
    long const count = size_of(size);
    return {count, build(1, count)};
  }

  template <class S> static long sum(node const* n) {
    if (!n) return 0;
    auto [a, b] = filch::join<S>([=] { return sum<S>(n->left.get()); }, [=] { return sum<S>(n->right.get()); });
    return n->value + a + b;
  }
  static long sequential(node const* n) {
    return n ? n->value + sequential(n->left.get()) + sequential(n->right.get()) : 0;
  }

  template <class S> static answer run(input& in) { return sum<S>(opaque(in.root.get())); }
  static answer plain(input& in) { return sequential(opaque(in.root.get())); }
  static bool verify(input const& in, answer found) { return found == in.count * (in.count + 1) / 2; }
};

}  // namespace bench
