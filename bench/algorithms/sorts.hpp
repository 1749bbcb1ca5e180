// Sorts of numbers and strings, in no order at first.
#pragma once

#include "inputs.hpp"

#include <filch/integer_sort.hpp>
#include <filch/sort.hpp>

#include <string>

namespace bench::algorithms {

/// The base of sorts: each call begins with the source.
template <class T> struct sorting {
  struct input {
    std::vector<T> source, x;
  };
  static T value_of(std::uint64_t random) {
    if constexpr (std::is_same_v<T, std::string>) {
      return std::to_string(random);
    } else {
      return static_cast<T>(random >> 33);
    }
  }
  static input prepare(std::size_t n) {
    std::vector<T> source(n);
    for (std::size_t i = 0; i < n; ++i) source[i] = value_of(scrambled(i));
    return {source, source};
  }
  static void reset(input&) {}
  static void restore(input& in) { std::copy(in.source.begin(), in.source.end(), in.x.begin()); }
  static bool verify(input const& in) {
    auto expected = in.source;
    std::sort(expected.begin(), expected.end());
    return in.x == expected;
  }
  /// Strings take ten times as long, and as much memory.
  static std::vector<std::size_t> sizes() {
    if constexpr (std::is_same_v<T, std::string>) return {1'000, 1'000'000};
    return {10'000, 10'000'000};
  }
  static constexpr std::size_t least_with_limit = std::is_same_v<T, std::string> ? 1'000'000 : 10'000'000;
  static constexpr double most_on_one = 1.0;
};
template <class T> struct sort : sorting<T> {
  using input = typename sorting<T>::input;
  static constexpr std::string_view name = std::is_same_v<T, double>        ? "sort-doubles"
                                           : std::is_same_v<T, std::string> ? "sort-strings"
                                                                            : "sort-ints";
  static void plain(input& in) { std::sort(in.x.begin(), in.x.end()); }
  template <class S> static void on(input& in) { filch::sort<S>(in.x.begin(), in.x.end()); }
  template <class P> static void on_peer(input& in) { P::sort(in.x.begin(), in.x.end()); }
};

struct stable_sort : sorting<double> {
  static constexpr std::string_view name = "stable_sort";
  static void plain(input& in) { std::stable_sort(in.x.begin(), in.x.end()); }
  template <class S> static void on(input& in) { filch::stable_sort<S>(in.x.begin(), in.x.end()); }
};

struct integer_sort : sorting<std::uint32_t> {
  static constexpr std::string_view name = "integer_sort";
  static void plain(input& in) { std::sort(in.x.begin(), in.x.end()); }
  template <class S> static void on(input& in) { filch::integer_sort<S>(in.x.begin(), in.x.end()); }
};

}  // namespace bench::algorithms
