// Tasks of a given length, as in A. Prell, T. Rauber, Channel-based Work Stealing, 2014: a loop of counted
// rounds, calibrated once a process. A round is a step of a linear congruential generator, so a task's result depends
// on each of its rounds, and can be told without running them.
#pragma once

#include "../workload.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filch/poll.hpp>
#include <filch/serial.hpp>
#include <limits>

namespace bench {

class timed_work {
 public:
  timed_work(double microseconds, bool polls)
      : rounds_(static_cast<long>(microseconds * rounds_of_a_microsecond())), polls_(polls) {}

  template <class S> std::uint64_t run(std::uint64_t x) const {
    long left = rounds_;
    if (polls_) {
      auto const between_polls = static_cast<long>(k_poll_every_microseconds * rounds_of_a_microsecond());
      for (; left > between_polls; left -= between_polls) {
        x = after(x, between_polls);
        filch::poll<S>();
      }
    }
    return after(x, left);
  }
  /// The result of run(x), by squaring the step.
  std::uint64_t result_of(std::uint64_t x) const {
    std::uint64_t factor = k_factor;
    std::uint64_t summand = k_summand;
    for (auto left = static_cast<std::uint64_t>(rounds_); left > 0; left >>= 1) {
      if (left & 1) x = x * factor + summand;
      summand *= factor + 1;
      factor *= factor;
    }
    return x;
  }

 private:
  static constexpr std::uint64_t k_factor = 6364136223846793005u;
  static constexpr std::uint64_t k_summand = 1442695040888963407u;
  static constexpr double k_poll_every_microseconds = 1;

  // Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static std::uint64_t after(std::uint64_t x, long rounds) {
    for (long i = 0; i < rounds; ++i) x = x * k_factor + k_summand;
    return x;
  }
  static double rounds_of_a_microsecond() {
    static double const rounds = [] {
      constexpr long k_rounds = 1L << 20;
      auto least = std::numeric_limits<double>::max();
      for (int i = 0; i < 9; ++i) {
        auto const begin = std::chrono::steady_clock::now();
        opaque(after(opaque(std::uint64_t{1}), k_rounds));
        std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count());
      }
      return k_rounds / least;
    }();
    return rounds;
  }

  long rounds_;
  bool polls_;
};

/// NUMBER:MICROSECONDS or NUMBER:MICROSECONDS:poll.
struct timed_size {
  long number;
  timed_work work;

  static timed_size parse(std::string_view workload, std::string_view size, long most) {
    std::string_view numbers = size;
    bool const polls = numbers.ends_with(":poll");
    if (polls) numbers.remove_suffix(std::string_view(":poll").size());
    two_part_size const parts(workload, size, numbers, "NUMBER:MICROSECONDS or NUMBER:MICROSECONDS:poll");
    long const number = parts.first("NUMBER", 1, most);
    return {number, timed_work(static_cast<double>(parts.second("MICROSECONDS", 1, 1'000'000)), polls)};
  }
};

/// Timed tasks with numbers from 0 on, and a place for each one's result.
struct timed_tasks {
  timed_work work;
  std::vector<std::uint64_t> results;

  /// Adds, so that a task that ran twice shows.
  template <class S> void run(std::size_t i) { results[i] += work.run<S>(i); }
  /// One after the other.
  void run_all() {
    for (std::size_t i = 0; i < results.size(); ++i) run<filch::serial>(i);
  }
  void reset() { std::fill(results.begin(), results.end(), 0); }
  bool all_ran_once() const {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] != work.result_of(i)) return false;
    }
    return true;
  }
};

}  // namespace bench
