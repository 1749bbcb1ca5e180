// bpc: bouncing producer and consumers: each producer spawns the next producer, then nine consumers, which run for
// some microseconds. A thief takes the oldest task, the producer, so work comes from another worker each time.
// Published by: A. Prell, T. Rauber, Channel-based Work Stealing, 2014, depth 10,000; 10, 100 and 1000 microseconds.
// Size is DEPTH:MICROSECONDS; with :poll consumers poll. Here each producer waits for what it spawned, so waits are
// nested DEPTH deep. Answer: each consumer's result. No cut-off.
#pragma once

#include "timed_work.hpp"

#include <filch/scope.hpp>

namespace bench {

struct bpc {
  static constexpr std::string_view name = "bpc";
  static constexpr std::string_view about =
      "producers that spawn a producer and nine consumers, DEPTH:MICROSECONDS[:poll]";
  static constexpr bool k_can_poll = true;
  static constexpr std::string_view quick_size = "1000:10";
  static std::vector<std::string_view> sizes() {
    return {"10000:10", "10000:100", "10000:1000", "10000:10:poll", "10000:100:poll", "10000:1000:poll"};
  }
  static std::vector<std::string_view> published_sizes() { return {"10000:10", "10000:100", "10000:1000"}; }
  static constexpr std::size_t k_consumers = 9;

  using input = timed_tasks;
  using answer = bool;
  static timed_size size_of(std::string_view text) {
    return timed_size::parse(name, text, 50'000);  // as deep as the stack of the serial program is
  }
  static input prepare(std::string_view text) {
    timed_size const size = size_of(text);
    return {size.work, std::vector<std::uint64_t>(static_cast<std::size_t>(size.number) * k_consumers)};
  }
  static void reset(input& tasks) { tasks.reset(); }

  template <class S> static void produce(input& tasks, std::size_t first) {
    filch::scope<S>([&tasks, first](auto& s) {
      std::size_t const next = first + k_consumers;
      if (next < tasks.results.size()) s.spawn([&tasks, next] { produce<S>(tasks, next); });
      for (std::size_t i = first; i < next; ++i) s.spawn([&tasks, i] { tasks.template run<S>(i); });
    });
  }
  template <class S> static answer run(input& tasks) {
    produce<S>(tasks, 0);
    return true;
  }
  static answer plain(input& tasks) {
    tasks.run_all();
    return true;
  }
  static bool verify(input const& tasks, answer ran) { return ran && tasks.all_ran_once(); }
};

}  // namespace bench
