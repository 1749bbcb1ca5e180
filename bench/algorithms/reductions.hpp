// Reductions: one value of all elements.
#pragma once

#include "inputs.hpp"

#include <filch/reduce.hpp>

#include <functional>
#include <numeric>

namespace bench::algorithms {

struct reduce {
  static constexpr std::string_view name = "reduce";
  struct input {
    std::vector<double> x;
    double answer;
  };
  static input prepare(std::size_t n) { return {small_numbers<double>(n), -1}; }
  static void reset(input& in) { in.answer = -1; }
  static void plain(input& in) {
    double sum = 0;
    for (double const x : in.x) sum += x;
    in.answer = sum;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    in.answer = std::reduce(std::forward<Par>(par)..., in.x.begin(), in.x.end(), 0.0);
  }
  template <class S> static void on(input& in) { in.answer = filch::reduce<S>(in.x.begin(), in.x.end(), 0.0); }
  template <class P> static void on_peer(input& in) {
    in.answer = P::reduce(
        in.x.size(), 0.0, [x = in.x.data()](double& sum, std::size_t i) { sum += x[i]; },
        [](double& sum, double other) { sum += other; });
  }
  static bool verify(input const& in) { return in.answer == std::accumulate(in.x.begin(), in.x.end(), 0.0); }
};

struct transform_reduce {
  static constexpr std::string_view name = "transform_reduce";
  struct input {
    std::vector<double> x, y;
    double answer;
  };
  static input prepare(std::size_t n) { return {small_numbers<double>(n), small_numbers<double>(n), -1}; }
  static void reset(input& in) { in.answer = -1; }
  static void plain(input& in) {
    double sum = 0;
    for (std::size_t i = 0; i < in.x.size(); ++i) sum += in.x[i] * in.y[i];
    in.answer = sum;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    in.answer = std::transform_reduce(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.y.begin(), 0.0);
  }
  template <class S> static void on(input& in) {
    in.answer = filch::transform_reduce<S>(in.x.begin(), in.x.end(), in.y.begin(), 0.0);
  }
  template <class P> static void on_peer(input& in) {
    in.answer = P::reduce(
        in.x.size(), 0.0, [x = in.x.data(), y = in.y.data()](double& sum, std::size_t i) { sum += x[i] * y[i]; },
        [](double& sum, double other) { sum += other; });
  }
  static bool verify(input const& in) {
    return in.answer == std::inner_product(in.x.begin(), in.x.end(), in.y.begin(), 0.0);
  }
};

struct count_if {
  static constexpr std::string_view name = "count_if";
  struct input {
    std::vector<std::uint32_t> x;
    std::ptrdiff_t answer;
  };
  static input prepare(std::size_t n) { return {random_numbers(n), -1}; }
  static void reset(input& in) { in.answer = -1; }
  static void plain(input& in) {
    std::ptrdiff_t count = 0;
    for (std::uint32_t const x : in.x) count += is_chosen(x);
    in.answer = count;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    in.answer = std::count_if(std::forward<Par>(par)..., in.x.begin(), in.x.end(), is_chosen);
  }
  template <class S> static void on(input& in) {
    in.answer = filch::count_if<S>(in.x.begin(), in.x.end(), is_chosen);
  }
  template <class P> static void on_peer(input& in) {
    in.answer = P::reduce(
        in.x.size(), std::ptrdiff_t{0},
        [x = in.x.data()](std::ptrdiff_t& count, std::size_t i) { count += is_chosen(x[i]); },
        [](std::ptrdiff_t& count, std::ptrdiff_t other) { count += other; });
  }
  static bool verify(input const& in) { return in.answer == std::count_if(in.x.begin(), in.x.end(), is_chosen); }
};

struct min_element {
  static constexpr std::string_view name = "min_element";
  struct input {
    std::vector<std::uint32_t> x;
    std::size_t answer;
  };
  static input prepare(std::size_t n) { return {random_numbers(n), n + 1}; }
  static void reset(input& in) { in.answer = in.x.size() + 1; }
  static void plain(input& in) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < in.x.size(); ++i) {
      if (in.x[i] < in.x[best]) best = i;
    }
    in.answer = best;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    in.answer = position(in, std::min_element(std::forward<Par>(par)..., in.x.begin(), in.x.end()));
  }
  template <class S> static void on(input& in) {
    in.answer = position(in, filch::min_element<S>(in.x.begin(), in.x.end()));
  }
  template <class P> static void on_peer(input& in) {
    struct least {
      std::uint32_t value;
      std::size_t at;
      void see(std::uint32_t x, std::size_t i) {
        if (x < value || (x == value && i < at)) *this = {x, i};
      }
    };
    in.answer = P::reduce(
                    in.x.size(), least{~0u, in.x.size()},
                    [x = in.x.data()](least& best, std::size_t i) { best.see(x[i], i); },
                    [](least& best, least const& other) { best.see(other.value, other.at); })
                    .at;
  }
  static bool verify(input const& in) {
    return in.answer == position(in, std::min_element(in.x.begin(), in.x.end()));
  }

 private:
  template <class Iterator> static std::size_t position(input const& in, Iterator i) {
    return static_cast<std::size_t>(std::vector<std::uint32_t>::const_iterator(i) - in.x.begin());
  }
};

}  // namespace bench::algorithms
