// Searches: the lowest position that satisfies a condition.
#pragma once

#include "inputs.hpp"

#include <filch/find.hpp>

namespace bench::algorithms {

/// The hit is at a per cent of the elements; 100: there is none.
template <int Percent> struct find_if {
  static constexpr std::string_view name = Percent == 1    ? "find_if-1%"
                                           : Percent == 50 ? "find_if-50%"
                                           : Percent == 99 ? "find_if-99%"
                                                           : "find_if-none";
  static constexpr double most_on_one = 1.05;
  struct input {
    std::vector<std::uint32_t> x;
    std::size_t answer;
  };
  static constexpr auto is_hit = [](std::uint32_t x) { return x == 8; };
  static input prepare(std::size_t n) {
    input in{small_numbers<std::uint32_t>(n), n + 1};
    if (hit(n) < n) in.x[hit(n)] = 8;
    return in;
  }
  static void reset(input& in) { in.answer = in.x.size() + 1; }
  static void plain(input& in) {
    std::size_t const n = in.x.size();
    std::uint32_t const* const x = in.x.data();
    std::size_t i = 0;
    while (i < n && x[i] != 8) ++i;
    in.answer = i;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    auto const found = std::find_if(std::forward<Par>(par)..., in.x.begin(), in.x.end(), is_hit);
    in.answer = static_cast<std::size_t>(found - in.x.begin());
  }
  template <class S> static void on(input& in) {
    in.answer = static_cast<std::size_t>(filch::find_if<S>(in.x.begin(), in.x.end(), is_hit) - in.x.begin());
  }
  template <class P> static void on_peer(input& in) {
    in.answer = find_on_peer<P>(in.x.size(), [x = in.x.data()](std::size_t i) { return is_hit(x[i]); });
  }
  static bool verify(input const& in) { return in.answer == hit(in.x.size()); }

 private:
  static std::size_t hit(std::size_t n) { return n * Percent / 100; }
};

struct is_sorted {
  static constexpr std::string_view name = "is_sorted";
  struct input {
    std::vector<std::uint32_t> x;
    bool answer;
  };
  static input prepare(std::size_t n) {
    return {filled<std::uint32_t>(n, [](std::size_t i) { return i / 2; }), false};
  }
  static void reset(input& in) { in.answer = false; }
  static void plain(input& in) {
    std::size_t const n = in.x.size();
    std::uint32_t const* const x = in.x.data();
    std::size_t i = 1;
    while (i < n && x[i - 1] <= x[i]) ++i;
    in.answer = i >= n;
  }
  template <class... Par> static void standard(input& in, Par&&... par) {
    in.answer = std::is_sorted(std::forward<Par>(par)..., in.x.begin(), in.x.end());
  }
  template <class S> static void on(input& in) { in.answer = filch::is_sorted<S>(in.x.begin(), in.x.end()); }
  template <class P> static void on_peer(input& in) {
    std::size_t const pairs = in.x.empty() ? 0 : in.x.size() - 1;
    in.answer = find_on_peer<P>(pairs, [x = in.x.data()](std::size_t i) { return x[i + 1] < x[i]; }) == pairs;
  }
  static bool verify(input const& in) { return in.answer; }
};

}  // namespace bench::algorithms
