// Loops: a function for each element.
#pragma once

#include "../workloads/timed_work.hpp"
#include "inputs.hpp"

#include <filch/for_each.hpp>
#include <filch/for_index.hpp>
#include <filch/transform.hpp>

#include <cmath>

namespace bench::algorithms {

/// Counts its calls in each element, so that an iteration that ran twice shows.
struct for_each {
  static constexpr std::string_view name = "for_each";
  using input = std::vector<float>;
  static constexpr auto add_one = [](float& x) { x += 1; };
  static input prepare(std::size_t n) { return input(n); }
  static void reset(input& in) { std::fill(in.begin(), in.end(), 0.0f); }
  static void plain(input& in) {
    for (float& x : in) x += 1;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    std::for_each(std::forward<Par>(par)..., in.begin(), in.end(), add_one);
  }
  template <class S> static void on(input& in) { filch::for_each<S>(in.begin(), in.end(), add_one); }
  template <class P> static void on_peer(input& in) {
    P::for_index(std::size_t{0}, in.size(), [x = in.data()](std::size_t i) { x[i] += 1; });
  }
  static bool verify(input const& in, std::size_t calls) {
    return std::all_of(in.begin(), in.end(), [calls](float x) { return x == static_cast<float>(calls); });
  }
};

/// The same by indices.
struct for_index : for_each {
  static constexpr std::string_view name = "for_index";
  static constexpr auto table = algorithm_table::tiny;
  template <class S> static void on(input& in) {
    filch::for_index<S>(std::size_t{0}, in.size(), [x = in.data()](std::size_t i) { x[i] += 1; });
  }
};

struct saxpy {
  static constexpr std::string_view name = "transform";
  static constexpr double most_on_one = 1.02;
  struct input {
    std::vector<float> x, y, out;
  };
  static constexpr auto f = [](float x, float y) { return 2 * x + y; };
  static input prepare(std::size_t n) {
    return {small_numbers<float>(n), small_numbers<float>(n), std::vector<float>(n)};
  }
  static void reset(input& in) { std::fill(in.out.begin(), in.out.end(), -1.0f); }
  static void plain(input& in) {
    float const* const x = in.x.data();
    float const* const y = in.y.data();
    float* const out = in.out.data();
    std::size_t const n = in.x.size();
    for (std::size_t i = 0; i < n; ++i) out[i] = 2 * x[i] + y[i];
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    std::transform(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.y.begin(), in.out.begin(), f);
  }
  template <class S> static void on(input& in) {
    filch::transform<S>(in.x.begin(), in.x.end(), in.y.begin(), in.out.begin(), f);
  }
  template <class P> static void on_peer(input& in) {
    P::for_index(std::size_t{0}, in.x.size(), [x = in.x.data(), y = in.y.data(), out = in.out.data()](std::size_t i) {
      out[i] = 2 * x[i] + y[i];
    });
  }
  static bool verify(input const& in) {
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      if (in.out[i] != f(in.x[i], in.y[i])) return false;
    }
    return true;
  }
};

/// A loop over timed iterations; Which tells how long each is.
template <class Which> struct timed_loop {
  static constexpr std::string_view name = Which::name;
  static constexpr auto table = Which::table;
  static constexpr std::size_t least_with_limit = 0;
  static std::vector<std::size_t> sizes() { return {Which::k_iterations}; }
  static std::vector<std::size_t> quick_sizes() { return {std::min<std::size_t>(Which::k_iterations, 1000)}; }
  struct input {
    std::vector<timed_work> work;
    std::vector<std::uint64_t> results;
    /// Adds, so that an iteration that ran twice shows.
    template <class S> void run(std::size_t i) { results[i] += work[i].template run<S>(i); }
  };
  static input prepare(std::size_t n) {
    input in;
    for (double const us : Which::microseconds(n)) in.work.emplace_back(us, false);
    in.results.resize(n);
    return in;
  }
  static void reset(input& in) { std::fill(in.results.begin(), in.results.end(), 0); }
  static void plain(input& in) {
    for (std::size_t i = 0; i < in.results.size(); ++i) in.template run<filch::serial>(i);
  }
  template <class S> static void on(input& in) {
    filch::for_index<S>(std::size_t{0}, in.results.size(), [&in](std::size_t i) { in.template run<S>(i); });
  }
  template <class P> static void on_peer(input& in) {
    auto const body = [&in](std::size_t i) { in.template run<filch::serial>(i); };
    if constexpr (requires { P::for_index_as_scheduled(std::size_t{0}, in.results.size(), body); }) {
      if (table == algorithm_table::tails) return P::for_index_as_scheduled(std::size_t{0}, in.results.size(), body);
    }
    P::for_index(std::size_t{0}, in.results.size(), body);
  }
  static bool verify(input const& in, std::size_t calls) {
    for (std::size_t i = 0; i < in.results.size(); ++i) {
      if (in.results[i] != calls * in.work[i].result_of(i)) return false;
    }
    return true;
  }
};

/// All iterations of about the same length, 20 ms together.
template <long Nanoseconds> struct bodies {
  static constexpr std::string_view name = Nanoseconds == 1        ? "body-1ns"
                                           : Nanoseconds == 100    ? "body-100ns"
                                           : Nanoseconds == 10'000 ? "body-10us"
                                                                   : "body-1ms";
  static constexpr auto table = algorithm_table::sizes;
  static constexpr std::size_t k_iterations = 20'000'000 / std::max(2l, Nanoseconds);
  static std::vector<double> microseconds(std::size_t n) { return std::vector<double>(n, Nanoseconds * 1e-3); }
};

constexpr double k_microseconds_of_tails = 100'000;  // of k_iterations

/// Iterations by the law of Pareto with exponent 1.1: one of a hundred takes 66 times the least one. None takes more
/// than a tenth of all.
struct pareto {
  static constexpr std::string_view name = "pareto";
  static constexpr auto table = algorithm_table::tails;
  static constexpr std::size_t k_iterations = 100'000;
  static std::vector<double> microseconds(std::size_t n) {
    std::vector<double> us(n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      double const u = (static_cast<double>(scrambled(i) >> 11) + 0.5) * 0x1p-53;
      us[i] = std::min(std::pow(u, -1 / 1.1), static_cast<double>(n) / 2);
      sum += us[i];
    }
    double const all = k_microseconds_of_tails * static_cast<double>(n) / static_cast<double>(k_iterations);
    for (double& x : us) x = std::min(x * all / sum, all / 10);
    return us;
  }
};

/// One iteration in a hundred takes 900 times as long as the others.
template <bool Together> struct dear {
  static constexpr std::string_view name = Together ? "together" : "spread";
  static constexpr auto table = algorithm_table::tails;
  static constexpr std::size_t k_iterations = 100'000;
  static std::vector<double> microseconds(std::size_t n) {
    std::size_t const each = 100;
    double const cheap = k_microseconds_of_tails / 10 / static_cast<double>(k_iterations);
    std::vector<double> us(n, cheap);
    for (std::size_t k = 0; k < n / each; ++k) us[Together ? n / 5 + k : k * each] = 900 * cheap;
    return us;
  }
};

}  // namespace bench::algorithms
