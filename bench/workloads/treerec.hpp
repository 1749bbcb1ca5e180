// treerec: fib's tree of forks, whose leaves run for some microseconds. Published by: A. Prell, T. Rauber,
// Channel-based Work Stealing, 2014, n = 25: 242,784 tasks; 10, 100 and 1000 microseconds. Size is N:MICROSECONDS;
// with :poll leaves poll. Answer: the sum of the leaves' results. No cut-off.
#pragma once

#include "timed_work.hpp"

#include <filch/join.hpp>
#include <filch/serial.hpp>

namespace bench {

struct treerec {
  static constexpr std::string_view name = "treerec";
  static constexpr std::string_view about = "fib's tree with timed leaves, N:MICROSECONDS[:poll]";
  static constexpr bool k_can_poll = true;
  static constexpr std::string_view quick_size = "20:10";
  static std::vector<std::string_view> sizes() {
    return {"25:10", "25:100", "25:1000", "25:10:poll", "25:100:poll", "25:1000:poll"};
  }
  static std::vector<std::string_view> published_sizes() { return {"25:10", "25:100", "25:1000"}; }

  using input = timed_size;
  using answer = std::uint64_t;
  static input prepare(std::string_view size) { return timed_size::parse(name, size, 40); }

  template <class S> static std::uint64_t tree(timed_work const& work, long n) {
    if (n < 2) return work.run<S>(static_cast<std::uint64_t>(n));
    auto [a, b] = filch::join<S>([&work, n] { return tree<S>(work, n - 1); },  //
                                 [&work, n] { return tree<S>(work, n - 2); });
    return a + b;
  }
  static std::uint64_t sequential(timed_work const& work, long n) {
    if (n < 2) return work.run<filch::serial>(static_cast<std::uint64_t>(n));
    return sequential(work, n - 1) + sequential(work, n - 2);
  }

  template <class S> static answer run(input& in) { return tree<S>(in.work, opaque(in.number)); }
  static answer plain(input& in) { return sequential(in.work, opaque(in.number)); }
  static bool verify(input const& in, answer found) {
    std::uint64_t sum = in.work.result_of(0);
    std::uint64_t next = in.work.result_of(1);
    for (long n = 0; n < in.number; ++n) sum = std::exchange(next, sum + next);
    return found == sum;
  }
};

}  // namespace bench
