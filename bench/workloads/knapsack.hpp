// knapsack: 0-1 knapsack, exhaustive: with or without each item that fits, both forked, no cut-off. The Cilk-5
// example without its bound, so that every run searches the same tree whatever the order. Items come from a fixed
// generator; the answer is checked against dynamic programming outside the timing.
#pragma once

#include "../workload.hpp"

#include <algorithm>
#include <filch/join.hpp>
#include <vector>

namespace bench {

struct knapsack {
  static constexpr std::string_view name = "knapsack";
  static constexpr std::string_view about = "0-1 knapsack, exhaustive, size is the number of items";
  static constexpr std::string_view quick_size = "26";
  static std::vector<std::string_view> sizes() { return {"26", "24", "28"}; }

  struct item {
    int value;
    int weight;
  };
  struct input {
    std::vector<item> items;
    int capacity = 0;
    int best = 0;  // by dynamic programming
  };
  using answer = int;

  static input prepare(std::string_view size) {
    long const n = parse_size(name, size, 1, 40);
    input in;
    std::uint32_t x = 12345;
    auto const random = [&x](std::uint32_t most) {
      x = x * 1103515245u + 12345u;
      return static_cast<int>((x >> 16) % most) + 1;
    };
    for (long i = 0; i < n; ++i) {
      in.items.push_back({random(1000), random(100)});
      in.capacity += in.items.back().weight;
    }
    in.capacity /= 2;
    std::vector<int> best(static_cast<std::size_t>(in.capacity) + 1, 0);
    for (item const& it : in.items) {
      for (int c = in.capacity; c >= it.weight; --c) {
        int& here = best[static_cast<std::size_t>(c)];
        here = std::max(here, best[static_cast<std::size_t>(c - it.weight)] + it.value);
      }
    }
    in.best = best.back();
    return in;
  }

  template <class S> static int forked(item const* i, item const* end, int room, int value) {
    for (; i != end && i->weight > room; ++i) {
    }
    if (i == end) return value;
    auto [with, without] = filch::join<S>([=] { return forked<S>(i + 1, end, room - i->weight, value + i->value); },
                                          [=] { return forked<S>(i + 1, end, room, value); });
    return std::max(with, without);
  }
  static int sequential(item const* i, item const* end, int room, int value) {
    for (; i != end && i->weight > room; ++i) {
    }
    if (i == end) return value;
    int const with = sequential(i + 1, end, room - i->weight, value + i->value);
    return std::max(with, sequential(i + 1, end, room, value));
  }

  template <class S> static answer run(input& in) {
    return forked<S>(opaque(in.items.data()), in.items.data() + in.items.size(), in.capacity, 0);
  }
  static answer plain(input& in) {
    return sequential(opaque(in.items.data()), in.items.data() + in.items.size(), in.capacity, 0);
  }
  static bool verify(input const& in, answer found) { return found == in.best; }
};

}  // namespace bench
