// spc: a single producer: one worker spawns all tasks, each runs for some microseconds. Published by: A. Prell, T.
// Rauber, Channel-based Work Stealing, 2014, 100,000 tasks of 10, 100 and 1000 microseconds. Size is
// TASKS:MICROSECONDS; with :poll tasks poll. Answer: each task's result. Cut-off: a scope of Filch holds 4096 tasks
// that wait; past them its worker runs some.
#pragma once

#include "timed_work.hpp"

#include <filch/scope.hpp>

namespace bench {

struct spc {
  static constexpr std::string_view name = "spc";
  static constexpr std::string_view about = "one producer of timed tasks, TASKS:MICROSECONDS[:poll]";
  static constexpr bool k_can_poll = true;
  static constexpr std::string_view quick_size = "10000:10";
  static std::vector<std::string_view> sizes() {
    return {"100000:10", "100000:100", "100000:1000", "100000:10:poll", "100000:100:poll", "100000:1000:poll"};
  }
  static std::vector<std::string_view> published_sizes() { return {"100000:10", "100000:100", "100000:1000"}; }

  using input = timed_tasks;
  using answer = bool;
  static timed_size size_of(std::string_view text) { return timed_size::parse(name, text, 10'000'000); }
  static input prepare(std::string_view text) {
    timed_size const size = size_of(text);
    return {size.work, std::vector<std::uint64_t>(static_cast<std::size_t>(size.number))};
  }
  static void reset(input& tasks) { tasks.reset(); }

  template <class S> static answer run(input& tasks) {
    filch::scope<S>([&tasks](auto& s) {
      for (std::size_t i = 0; i < tasks.results.size(); ++i) s.spawn([&tasks, i] { tasks.template run<S>(i); });
    });
    return true;
  }
  static answer plain(input& tasks) {
    tasks.run_all();
    return true;
  }
  static bool verify(input const& tasks, answer ran) { return ran && tasks.all_ran_once(); }
};

}  // namespace bench
