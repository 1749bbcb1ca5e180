// integrate: area under x^3 + x for 0 <= x <= 10000 by recursive halving, every halving forked.
// Published by: V. Kumar et al., OOPSLA 2012 (try-catch work stealing), section 5. Answer: x^4/4 + x^2/2 at 10000.
#pragma once

#include "../workload.hpp"

#include <cmath>
#include <filch/join.hpp>

namespace bench {

struct integrate {
  static constexpr std::string_view name = "integrate";
  static constexpr std::string_view about = "recursive adaptive integration of x^3 + x up to the size";
  static constexpr std::string_view quick_size = "1000";
  static std::vector<std::string_view> sizes() { return {"10000"}; }
  static std::vector<std::string_view> published_sizes() { return {"10000"}; }
  /// The recursion ends where halving changes an area by less than this part of it: the program's accuracy.
  static constexpr double k_epsilon = 1e-14;

  using input = double;
  using answer = double;
  static input prepare(std::string_view size) { return static_cast<double>(parse_size(name, size, 1, 100'000)); }

  static double f(double x) { return (x * x + 1.0) * x; }

  template <class S> static double forked(double x1, double y1, double x2, double y2, double area) {
    double const half = (x2 - x1) / 2;
    double const x0 = x1 + half;
    double const y0 = f(x0);
    double const left = (y1 + y0) / 2 * half;
    double const right = (y0 + y2) / 2 * half;
    double const both = left + right;
    if (std::fabs(both - area) <= k_epsilon * both) return both;
    auto [a, b] = filch::join<S>([=] { return forked<S>(x1, y1, x0, y0, left); },
                                 [=] { return forked<S>(x0, y0, x2, y2, right); });
    return a + b;
  }
  static double sequential(double x1, double y1, double x2, double y2, double area) {
    double const half = (x2 - x1) / 2;
    double const x0 = x1 + half;
    double const y0 = f(x0);
    double const left = (y1 + y0) / 2 * half;
    double const right = (y0 + y2) / 2 * half;
    double const both = left + right;
    if (std::fabs(both - area) <= k_epsilon * both) return both;
    return sequential(x1, y1, x0, y0, left) + sequential(x0, y0, x2, y2, right);
  }

  template <class S> static answer run(input& to) {
    double x = to;
    asm volatile("" : "+m"(x));
    return forked<S>(0, f(0), x, f(x), 0);
  }
  static answer plain(input& to) {
    double x = to;
    asm volatile("" : "+m"(x));
    return sequential(0, f(0), x, f(x), 0);
  }
  static bool verify(input to, answer found) {
    double const exact = to * to * to * to / 4 + to * to / 2;
    return std::fabs(found - exact) < 1e-9 * exact;
  }
};

}  // namespace bench
