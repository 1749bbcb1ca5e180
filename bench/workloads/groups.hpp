// groups: a tree of tasks of one task group, as in a search whose tasks find more tasks. Each task works for about a
// microsecond and adds three: one below a join, two in a loop. Size is the tree's HEIGHT, or HEIGHT:STEPS with the
// steps of a task's work. Answer: the number of tasks, and the sum of their results. No cut-off.
#pragma once

#include "../parallel_loop.hpp"
#include "../workload.hpp"

#include <filch/join.hpp>
#include <filch/task_group.hpp>

#include <atomic>
#include <cstdint>

namespace bench {

struct groups {
  static constexpr std::string_view name = "groups";
  static constexpr std::string_view about =
      "a task group whose tasks add tasks below joins and in loops, HEIGHT[:STEPS]";
  static constexpr std::string_view quick_size = "10";
  static std::vector<std::string_view> sizes() { return {"11", "12:100", "8:50000"}; }

  struct input {
    int height;
    unsigned steps;
  };
  struct answer {
    std::uint64_t tasks = 0;
    std::uint64_t sum = 0;
  };
  static input prepare(std::string_view size) {
    auto const numbers = parse_size_parts(name, size, "HEIGHT or HEIGHT:STEPS, such as 11", 1,
                                          {{"HEIGHT", 0, 16}, {"STEPS", 1, 100'000'000}});
    constexpr unsigned k_microsecond = 1000;  // one dependent multiplication and addition each
    return {static_cast<int>(numbers[0]), numbers.size() > 1 ? static_cast<unsigned>(numbers[1]) : k_microsecond};
  }

  [[gnu::noinline]] static std::uint64_t work(std::uint64_t x, unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
    return x >> 40;
  }

  struct totals {
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::uint64_t> sum{0};
    void add(std::uint64_t result) {
      tasks.fetch_add(1, std::memory_order_relaxed);
      sum.fetch_add(result, std::memory_order_relaxed);
    }
  };
  template <class S, class Group> static void visit(Group& group, totals& all, int height, unsigned steps) {
    all.add(work(static_cast<std::uint64_t>(height), steps));
    if (height == 0) return;
    auto const add = [&group, &all, height, steps] {
      group.run([&group, &all, height, steps] { visit<S>(group, all, height - 1, steps); });
    };
    filch::join<S>(add, [&add] { parallel_loop<S>(0, 2, [&add](std::size_t) { add(); }); });
  }
  static void sequential(answer& all, int height, unsigned steps) {
    ++all.tasks;
    all.sum += work(static_cast<std::uint64_t>(height), steps);
    for (int i = 0; i < (height == 0 ? 0 : 3); ++i) sequential(all, height - 1, steps);
  }

  template <class S> static answer run(input& in) {
    totals all;
    auto const body = [&](auto& group) { group.run([&] { visit<S>(group, all, opaque(in.height), in.steps); }); };
    if constexpr (requires { S::in_group(body); }) {
      S::in_group(body);
    } else {
      filch::task_group<S> group;
      body(group);
      group.wait();
    }
    return {all.tasks.load(std::memory_order_relaxed), all.sum.load(std::memory_order_relaxed)};
  }
  static answer plain(input& in) {
    answer all;
    sequential(all, opaque(in.height), in.steps);
    return all;
  }
  static bool verify(input const& in, answer const& found) {
    std::uint64_t tasks = 0;
    std::uint64_t sum = 0;
    std::uint64_t on_level = 1;
    for (int height = in.height; height >= 0; --height, on_level *= 3) {
      tasks += on_level;
      sum += on_level * work(static_cast<std::uint64_t>(height), in.steps);
    }
    return found.tasks == tasks && found.sum == sum;
  }
};

}  // namespace bench
