// rows: a loop over 100,000 rows, of which a few are long and the others take nanoseconds. The long ones, 400 ms of
// work, are together in one stretch or spread over the loop. Size is MICROSECONDS:together or MICROSECONDS:spread, of
// a long row. Answer: each row's result. No cut-off.
#pragma once

#include "../parallel_loop.hpp"
#include "timed_work.hpp"

namespace bench {

struct rows {
  static constexpr std::string_view name = "rows";
  static constexpr std::string_view about = "a loop with few long iterations, MICROSECONDS:together or :spread";
  static constexpr std::string_view quick_size = "100:together";
  static std::vector<std::string_view> sizes() {
    return {"100:together", "100:spread", "10:together", "10:spread", "1000:together", "1000:spread"};
  }

  static constexpr std::size_t k_rows = 100'000;
  static constexpr std::size_t k_first_together = 20'000;
  static constexpr long k_microseconds = 400'000;  // work of all long rows

  struct input {
    timed_work work;
    std::vector<unsigned char> is_long;
    std::vector<std::uint64_t> results;

    /// Adds, so that a row that ran twice shows.
    template <class S> void run(std::size_t i) { results[i] += is_long[i] ? work.run<S>(i) : 1; }
  };
  using answer = bool;
  static input prepare(std::string_view size) {
    auto const colon = size.find(':');
    std::string_view const place = size.substr(std::min(colon, size.size() - 1) + 1);
    bool const together = place == "together";
    auto const microseconds = whole_number(size.substr(0, colon), 1, k_microseconds);
    if (colon == size.npos || !microseconds || (!together && place != "spread"))
      throw bad_request("rows=" + std::string(size) + ": expected MICROSECONDS from 1 to " +
                        std::to_string(k_microseconds) + ", and :together or :spread");
    input in{timed_work(static_cast<double>(*microseconds), false), std::vector<unsigned char>(k_rows),
             std::vector<std::uint64_t>(k_rows)};
    auto const number = static_cast<std::size_t>(k_microseconds / *microseconds);
    for (std::size_t k = 0; k < number; ++k) in.is_long[together ? k_first_together + k : k * (k_rows / number)] = 1;
    return in;
  }
  static void reset(input& in) { std::fill(in.results.begin(), in.results.end(), 0); }

  template <class S> static answer run(input& in) {
    parallel_loop<S>(0, k_rows, [&in](std::size_t i) { in.template run<S>(i); });
    return true;
  }
  static answer plain(input& in) {
    for (std::size_t i = 0; i < k_rows; ++i) in.run<filch::serial>(i);
    return true;
  }
  static bool verify(input const& in, answer ran) {
    for (std::size_t i = 0; i < k_rows; ++i) {
      if (in.results[i] != (in.is_long[i] ? in.work.result_of(i) : 1)) return false;
    }
    return ran;
  }
};

}  // namespace bench
