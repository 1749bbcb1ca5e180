// skynet: a tree of ten children a node, each leaf returning its number; the sum. Published by: A. Temerev's skynet
// benchmark (10^6 leaves: 499,999,500,000). Every child is forked, halved by joins, no cut-off.
#pragma once

#include "../workload.hpp"

#include <filch/join.hpp>

namespace bench {

struct skynet {
  static constexpr std::string_view name = "skynet";
  static constexpr std::string_view about = "ten children a node, sum of the leaves' numbers";
  static constexpr std::string_view quick_size = "1000000";
  static std::vector<std::string_view> sizes() { return {"1000000", "100000000"}; }

  using input = long;
  using answer = long;
  static input prepare(std::string_view size) {
    long const leaves = parse_size(name, size, 1, 1'000'000'000);
    long power = 1;
    while (power < leaves) power *= 10;
    if (power != leaves) throw bad_request("skynet=" + std::string(size) + ": expected a power of ten");
    return leaves;
  }

  template <class S> static long range(long first, long step, int from, int to) {
    if (to - from == 1) return node<S>(first + from * step, step);
    int const middle = (from + to) / 2;
    auto [a, b] = filch::join<S>([=] { return range<S>(first, step, from, middle); },
                                 [=] { return range<S>(first, step, middle, to); });
    return a + b;
  }
  template <class S> static long node(long first, long leaves) {
    return leaves == 1 ? first : range<S>(first, leaves / 10, 0, 10);
  }
  static long sequential(long first, long leaves) {
    if (leaves == 1) return first;
    long sum = 0;
    for (int i = 0; i < 10; ++i) sum += sequential(first + i * (leaves / 10), leaves / 10);
    return sum;
  }

  template <class S> static answer run(input& leaves) { return node<S>(0, opaque(leaves)); }
  static answer plain(input& leaves) { return sequential(0, opaque(leaves)); }
  static bool verify(input leaves, answer found) { return found == leaves * (leaves - 1) / 2; }
};

}  // namespace bench
