// stress: balanced binary trees of tasks, one after the other, with a loop that touches no memory in each leaf:
// many small parallel regions, so many steals. Published by: K.-F. Faxen (ICPP 2010), section IV-A and table I.
// Size is ITERATIONS:HEIGHT. Repetitions are the published ones divided by k_scale. Answer: the number of leaves run.
#pragma once

#include "../workload.hpp"

#include <filch/join.hpp>

namespace bench {

struct stress {
  static constexpr std::string_view name = "stress";
  static constexpr std::string_view about = "small balanced trees of tasks, ITERATIONS:HEIGHT";
  static constexpr std::string_view quick_size = "512:8";
  static std::vector<std::string_view> sizes() {
    return {"256:7", "256:8", "256:9", "256:10", "256:11", "4096:3", "4096:4", "4096:5", "4096:6", "4096:7"};
  }
  static constexpr long k_scale = 16;
  static constexpr long k_published_leaves = 1L << 24;       // 256 iterations: 128K trees of height 7, and so on
  static constexpr long k_published_leaves_4096 = 1L << 20;  // 4096 iterations: 128K trees of height 3, and so on

  struct input {
    long iterations;
    int height;
    long repetitions;
  };
  using answer = long;
  static input prepare(std::string_view size) {
    two_part_size const parts(name, size, size, "ITERATIONS:HEIGHT, such as 256:7");
    long const iterations = parts.first("ITERATIONS", 1, 10'000'000);
    int const height = static_cast<int>(parts.second("HEIGHT", 0, 24));
    long const leaves = (iterations < 4096 ? k_published_leaves : k_published_leaves_4096) / k_scale;
    long const repetitions = leaves >> height;
    return {iterations, height, repetitions > 0 ? repetitions : 1};
  }

  [[gnu::noinline]] static long leaf(long iterations) {
    for (long i = 0; i < iterations; ++i) asm volatile("");
    return 1;
  }
  template <class S> static long tree(int height, long iterations) {
    if (height == 0) return leaf(iterations);
    auto [a, b] = filch::join<S>([=] { return tree<S>(height - 1, iterations); },
                                 [=] { return tree<S>(height - 1, iterations); });
    return a + b;
  }
  static long sequential(int height, long iterations) {
    if (height == 0) return leaf(iterations);
    long const a = sequential(height - 1, iterations);
    return a + sequential(height - 1, iterations);
  }

  template <class S> static answer run(input& in) {
    long sum = 0;
    for (long i = 0; i < in.repetitions; ++i) sum += tree<S>(opaque(in.height), in.iterations);
    return sum;
  }
  static answer plain(input& in) {
    long sum = 0;
    for (long i = 0; i < in.repetitions; ++i) sum += sequential(opaque(in.height), in.iterations);
    return sum;
  }
  static bool verify(input const& in, answer found) { return found == in.repetitions << in.height; }
};

}  // namespace bench
