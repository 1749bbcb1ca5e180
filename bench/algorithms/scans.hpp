// Scans: running sums.
#pragma once

#include "inputs.hpp"

#include <filch/scan.hpp>

#include <functional>
#include <numeric>

namespace bench::algorithms {

template <class T> struct scanned {
  std::vector<T> x, out;
};

template <class T> struct inclusive_scan {
  static constexpr std::string_view name = std::is_integral_v<T> ? "inclusive_scan" : "inclusive_scan-double";
  using input = scanned<T>;
  static input prepare(std::size_t n) { return {small_numbers<T>(n), std::vector<T>(n)}; }
  static void reset(input& in) { std::fill(in.out.begin(), in.out.end(), T{}); }
  static void plain(input& in) {
    T const* const x = in.x.data();
    T* const out = in.out.data();
    std::size_t const n = in.x.size();
    T sum{};
    for (std::size_t i = 0; i < n; ++i) out[i] = sum += x[i];
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    std::inclusive_scan(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.out.begin());
  }
  template <class S> static void on(input& in) { filch::inclusive_scan<S>(in.x.begin(), in.x.end(), in.out.begin()); }
  template <class P> static void on_peer(input& in) {
    T const* const x = in.x.data();
    P::sums(
        in.x.size(), T{}, [x](std::size_t i) { return x[i]; },
        [x, out = in.out.data()](std::size_t i, T before) { out[i] = before + x[i]; });
  }
  static bool verify(input const& in) {
    T sum{};
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      if (in.out[i] != (sum += in.x[i])) return false;
    }
    return true;
  }
};

struct exclusive_scan {
  static constexpr std::string_view name = "exclusive_scan";
  using input = scanned<long>;
  static input prepare(std::size_t n) { return {small_numbers<long>(n), std::vector<long>(n)}; }
  static void reset(input& in) { std::fill(in.out.begin(), in.out.end(), -1); }
  static void plain(input& in) {
    long const* const x = in.x.data();
    long* const out = in.out.data();
    std::size_t const n = in.x.size();
    long sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = sum;
      sum += x[i];
    }
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    std::exclusive_scan(std::forward<Par>(par)..., in.x.begin(), in.x.end(), in.out.begin(), 0l);
  }
  template <class S> static void on(input& in) {
    filch::exclusive_scan<S>(in.x.begin(), in.x.end(), in.out.begin(), 0l);
  }
  template <class P> static void on_peer(input& in) {
    P::sums(
        in.x.size(), 0l, [x = in.x.data()](std::size_t i) { return x[i]; },
        [out = in.out.data()](std::size_t i, long before) { out[i] = before; });
  }
  static bool verify(input const& in) {
    long sum = 0;
    for (std::size_t i = 0; i < in.x.size(); ++i) {
      if (in.out[i] != sum) return false;
      sum += in.x[i];
    }
    return true;
  }
};

}  // namespace bench::algorithms
