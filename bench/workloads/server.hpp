// server: threads outside the pool call it at once, each call after the other: 200 ms of work in all. A call is a
// tree of joins over ten timed leaves (server_call.hpp). Size is CALLERS:MICROSECONDS, of a call. The serial program
// makes all calls from one thread. Answer: each call's result. No cut-off. Latencies: --server.
#pragma once

#include "../server_call.hpp"
#include "../workload.hpp"

#include <algorithm>
#include <filch/serial.hpp>
#include <thread>
#include <vector>

namespace bench {

struct server {
  static constexpr std::string_view name = "server";
  static constexpr std::string_view about = "threads that call the pool at once, CALLERS:MICROSECONDS";
  static constexpr std::string_view quick_size = "8:200";
  static std::vector<std::string_view> sizes() { return {"8:200", "8:20", "64:200"}; }

  static constexpr unsigned k_leaves = 10;
  static constexpr long k_microseconds = 200'000;  // work of all calls

  struct input {
    std::size_t callers;
    server_call call;
    std::vector<std::uint64_t> results;  // results of the calls
  };
  using answer = bool;
  static input prepare(std::string_view size) {
    two_part_size const parts(name, size, size, "CALLERS:MICROSECONDS, such as 8:200");
    long const callers = parts.first("CALLERS", 1, 1024);
    long const microseconds = parts.second("MICROSECONDS", 10, k_microseconds);
    return {static_cast<std::size_t>(callers), server_call(k_leaves, static_cast<double>(microseconds) / k_leaves),
            std::vector<std::uint64_t>(static_cast<std::size_t>(k_microseconds / microseconds))};
  }
  static void reset(input& in) { std::fill(in.results.begin(), in.results.end(), 0); }

  static constexpr bool k_from_outside = true;
  /// `serve` makes a call and returns its answer. Results are added, so that a call that ran twice shows.
  template <class Serve> static answer call_all(input& in, bool from_threads, Serve serve) {
    std::size_t const callers = from_threads ? in.callers : 1;
    auto const call = [&](std::size_t first) {
      for (std::size_t k = first; k < in.results.size(); k += callers) in.results[k] += serve(in.call);
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < callers; ++i) others.emplace_back(call, i);
    call(0);
    for (auto& t : others) t.join();
    return true;
  }
  static answer plain(input& in) {
    return call_all(in, false, [](server_call const& c) { return c.run<filch::serial>(); });
  }
  static bool verify(input const& in, answer ran) {
    for (std::uint64_t const r : in.results) {
      if (r != in.call.answer()) return false;
    }
    return ran;
  }
};

}  // namespace bench
