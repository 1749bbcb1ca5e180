// rounds: a serial part of 10 us, then a loop of uneven iterations, again and again, as time steps and incremental
// algorithms do: 50 ms of work in all. An iteration takes up to twice the microseconds that the size tells, by a hash
// of its index and the round. Size is ITERATIONS:MICROSECONDS; with :joins a tree of joins runs the iterations, in
// place of the loop. Answer: the serial parts' results and each iteration's. No cut-off.
#pragma once

#include "../parallel_loop.hpp"
#include "timed_work.hpp"

#include <filch/join.hpp>

namespace bench {

struct rounds {
  static constexpr std::string_view name = "rounds";
  static constexpr std::string_view about = "serial parts and loops in turn, ITERATIONS:MICROSECONDS[:joins]";
  static constexpr std::string_view quick_size = "256:1";
  static std::vector<std::string_view> sizes() {
    return {"256:1", "256:1:joins", "64:1", "64:1:joins", "64:5", "64:5:joins", "16:20", "16:20:joins"};
  }

  static constexpr double k_serial_microseconds = 10;
  static constexpr double k_microseconds = 50'000;  // work of a run
  static constexpr std::size_t k_lengths = 100;     // different lengths of iterations

  struct input {
    std::size_t number;  // number of rounds
    bool joins;
    timed_work serial;
    std::vector<timed_work> lengths;
    std::vector<std::uint64_t> results;  // results of iterations

    std::size_t length_of(std::size_t round, std::size_t i) const { return hash(round + i) % k_lengths; }
    /// Adds, so that an iteration that ran twice shows.
    template <class S> void run(std::size_t round, std::size_t i) {
      std::size_t const k = length_of(round, i);
      results[i] += lengths[k].run<S>(k);
    }
  };
  using answer = std::uint64_t;
  static input prepare(std::string_view size) {
    std::string_view numbers = size;
    bool const joins = numbers.ends_with(":joins");
    if (joins) numbers.remove_suffix(std::string_view(":joins").size());
    two_part_size const parts(name, size, numbers, "ITERATIONS:MICROSECONDS or ITERATIONS:MICROSECONDS:joins");
    auto const iterations = static_cast<std::size_t>(parts.first("ITERATIONS", 1, 1'000'000));
    auto const microseconds = static_cast<double>(parts.second("MICROSECONDS", 1, 1000));
    double const round = k_serial_microseconds + static_cast<double>(iterations) * microseconds;
    input in{static_cast<std::size_t>(std::max(1.0, k_microseconds / round)),
             joins,
             timed_work(k_serial_microseconds, false),
             {},
             std::vector<std::uint64_t>(iterations)};
    for (std::size_t k = 0; k < k_lengths; ++k)
      in.lengths.emplace_back(2 * microseconds * static_cast<double>(k) / k_lengths, false);
    return in;
  }
  static void reset(input& in) { std::fill(in.results.begin(), in.results.end(), 0); }

  static std::uint32_t hash(std::size_t i) {
    auto x = static_cast<std::uint32_t>(i);
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
  }

  template <class S> static void tree(input& in, std::size_t round, std::size_t first, std::size_t last) {
    if (last - first == 1) {
      in.run<S>(round, first);
      return;
    }
    std::size_t const middle = first + (last - first) / 2;
    filch::join<S>([&in, round, first, middle] { tree<S>(in, round, first, middle); },
                   [&in, round, middle, last] { tree<S>(in, round, middle, last); });
  }

  template <class S> static answer run(input& in) {
    std::uint64_t sum = 0;
    for (std::size_t round = 0; round < in.number; ++round) {
      sum += in.serial.template run<S>(round);
      if (in.joins) {
        tree<S>(in, round, 0, in.results.size());
      } else {
        parallel_loop<S>(0, in.results.size(), [&in, round](std::size_t i) { in.template run<S>(round, i); });
      }
    }
    return sum;
  }
  static answer plain(input& in) {
    std::uint64_t sum = 0;
    for (std::size_t round = 0; round < in.number; ++round) {
      sum += in.serial.run<filch::serial>(round);
      for (std::size_t i = 0; i < in.results.size(); ++i) in.run<filch::serial>(round, i);
    }
    return sum;
  }
  static bool verify(input const& in, answer found) {
    std::vector<std::uint64_t> result_of_length;
    for (std::size_t k = 0; k < k_lengths; ++k) result_of_length.push_back(in.lengths[k].result_of(k));
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> results(in.results.size());
    for (std::size_t round = 0; round < in.number; ++round) {
      sum += in.serial.result_of(round);
      for (std::size_t i = 0; i < results.size(); ++i) results[i] += result_of_length[in.length_of(round, i)];
    }
    return found == sum && in.results == results;
  }
};

}  // namespace bench
