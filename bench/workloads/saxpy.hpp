// saxpy: y[i] += a x[i] over arrays of floats, as one parallel loop a pass, again and again: iterations of half a
// nanosecond. Published by: BLAS, level 1. Size is the number of elements; 2^29 iterations a run. No cut-off.
// Answer: small whole numbers, so each sum is exact.
#pragma once

#include "../parallel_loop.hpp"
#include "../workload.hpp"

#include <algorithm>
#include <vector>

namespace bench {

struct saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr std::string_view about = "a loop over arrays of floats, again and again";
  static constexpr std::string_view quick_size = "100000";
  static std::vector<std::string_view> sizes() { return {"100000", "1000000", "10000000"}; }

  static constexpr std::size_t k_iterations = 1u << 29;  // iterations of a run
  static constexpr std::size_t k_different = 8;          // x is 0 to 7, again and again
  static constexpr float k_factor = 2;

  struct input {
    std::size_t passes;
    std::vector<float> x, y;
  };
  using answer = bool;
  // From 1,000 elements on the greatest sum, 1 + 14 a pass, stays below 2^24: floats hold it exactly.
  static std::size_t size_of(std::string_view size) {
    return static_cast<std::size_t>(parse_size(name, size, 1000, 1'000'000'000));
  }
  static input prepare(std::string_view size) {
    std::size_t const n = size_of(size);
    input in{std::max<std::size_t>(1, k_iterations / n), std::vector<float>(n), std::vector<float>(n)};
    for (std::size_t i = 0; i < n; ++i) in.x[i] = static_cast<float>(i % k_different);
    return in;
  }
  static void reset(input& in) { std::fill(in.y.begin(), in.y.end(), 1.0f); }

  template <class S> static answer run(input& in) {
    float const* const x = in.x.data();
    float* const y = in.y.data();
    for (std::size_t pass = 0; pass < in.passes; ++pass)
      parallel_loop<S>(0, in.x.size(), [x, y](std::size_t i) { y[i] += k_factor * x[i]; });
    return true;
  }
  static answer plain(input& in) {
    float const* const x = in.x.data();
    float* const y = in.y.data();
    std::size_t const n = in.x.size();
    for (std::size_t pass = 0; pass < in.passes; ++pass) {
      for (std::size_t i = 0; i < n; ++i) y[i] += k_factor * x[i];
    }
    return true;
  }
  static bool verify(input const& in, answer ran) {
    float const each = k_factor * static_cast<float>(in.passes);
    for (std::size_t i = 0; i < in.y.size(); ++i) {
      if (in.y[i] != 1 + each * static_cast<float>(i % k_different)) return false;
    }
    return ran;
  }
};

}  // namespace bench
