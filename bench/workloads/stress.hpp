// stress: balanced binary trees of tasks, one after the other, with a loop that touches no memory in each leaf:
// many small parallel regions, so many steals. Published by: K.-F. Faxen (ICPP 2010), table I and figure 4.
// Size is ITERATIONS:HEIGHT[:REPETITIONS]; without them the published ones divided by k_scale. No cut-off.
// Answer: the number of leaves run.
#pragma once

#include "../workload.hpp"

#include <filch/join.hpp>

namespace bench {

struct stress {
  static constexpr std::string_view name = "stress";
  static constexpr std::string_view about = "small balanced trees of tasks, ITERATIONS:HEIGHT[:REPETITIONS]";
  static constexpr std::string_view quick_size = "512:8";
  static std::vector<std::string_view> sizes() {
    return {"256:7",  "256:8",  "256:9",  "256:10", "256:11", "256:12",
            "4096:3", "4096:4", "4096:5", "4096:6", "4096:7"};
  }
  static std::vector<std::string_view> published_sizes() {
    return {"256:7:131072",  "256:8:65536",  "256:9:32768",  "256:10:16384", "256:11:8192", "256:12:4096",
            "4096:3:131072", "4096:4:65536", "4096:5:32768", "4096:6:16384", "4096:7:8192"};
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
    auto const numbers =
        parse_size_parts(name, size, "ITERATIONS:HEIGHT or ITERATIONS:HEIGHT:REPETITIONS, such as 256:7", 2,
                         {{"ITERATIONS", 1, 10'000'000}, {"HEIGHT", 0, 24}, {"REPETITIONS", 1, k_published_leaves}});
    long const iterations = numbers[0];
    int const height = static_cast<int>(numbers[1]);
    if (numbers.size() > 2) return {iterations, height, numbers[2]};
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
