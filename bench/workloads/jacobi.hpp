// jacobi: mesh relaxation with a barrier a step: each cell becomes the mean of its four neighbours; the border is
// zero. Quarters are forked, then halves, as in D. Lea's example of fork and join. Published by: V. Kumar et al.,
// OOPSLA 2012 and VEE 2014, 1024 x 1024 cells, 100 steps. Size is SIDE:STEPS[:LEAF]. Cut-off: parts of LEAF cells or
// fewer; the papers name none, their program stops at k_leaf. Answers: the greatest change of the last step; the bits
// of the sequential program's mesh; the mesh begins as an eigenvector of the step, so each cell is known, but for
// rounding.
#pragma once

#include "../workload.hpp"
#include "bits.hpp"
#include "sine_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <filch/join.hpp>

namespace bench {

struct jacobi {
  static constexpr std::string_view name = "jacobi";
  static constexpr std::string_view about =
      "mesh relaxation, SIDE:STEPS, or SIDE:STEPS:LEAF with leaves of LEAF cells";
  static constexpr std::string_view quick_size = "1024:100:4096";
  static std::vector<std::string_view> sizes() { return {"1024:100", "1024:100:4096", "4096:100:4096"}; }
  static std::vector<std::string_view> published_sizes() { return {"1024:100"}; }
  static constexpr long k_leaf = 2;

  struct input {
    std::size_t steps;
    std::size_t leaf;
    sine_mesh mesh;
    std::uint64_t expected_bits;
    double expected_change;
  };
  using answer = double;

  static std::vector<long> size_of(std::string_view size) {
    return parse_size_parts(name, size, "SIDE:STEPS or SIDE:STEPS:LEAF, such as 1024:100", 2,
                            {{"SIDE", 1, 16384}, {"STEPS", 1, 100'000}, {"LEAF", 1, 1L << 30}});
  }
  static input prepare(std::string_view size) {
    auto const numbers = size_of(size);
    auto const side = static_cast<std::size_t>(numbers[0]);
    input in{static_cast<std::size_t>(numbers[1]), static_cast<std::size_t>(numbers.size() > 2 ? numbers[2] : k_leaf),
             sine_mesh(side, side), 0, 0};
    reset(in);
    in.expected_change = plain(in);
    in.expected_bits = in.mesh.bits(in.steps);
    return in;
  }
  static void reset(input& in) { in.mesh.reset(); }

  // Returns the greatest change. Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static double relax(double const* from, double* to, std::size_t stride, std::size_t rows,
                                        std::size_t columns) {
    double most = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double const* const old = from + i * stride;
      double const* const above = old - stride;
      double const* const below = old + stride;
      double const* const left = old - 1;
      double const* const right = old + 1;
      double* const fresh = to + i * stride;
      for (std::size_t j = 0; j < columns; ++j) {
        fresh[j] = 0.25 * (left[j] + right[j] + above[j] + below[j]);
        most = std::max(most, std::abs(fresh[j] - old[j]));
      }
    }
    return most;
  }

  struct step {
    double const* from;
    double* to;
    std::size_t stride, leaf;
  };
  // The part whose first cell is `at`.
  template <class S> static double forked(step const& s, std::size_t at, std::size_t rows, std::size_t columns) {
    if (rows * columns <= s.leaf) return relax(s.from + at, s.to + at, s.stride, rows, columns);
    if ((rows / 2) * (columns / 2) >= s.leaf) {
      return by_rows<S>(s, at, rows, [&s, columns](std::size_t from, std::size_t number) {
        return by_columns<S>(s, from, number, columns);
      });
    }
    if (columns >= rows) return by_columns<S>(s, at, rows, columns);
    return by_rows<S>(s, at, rows, [&s, columns](std::size_t from, std::size_t number) {
      return forked<S>(s, from, number, columns);
    });
  }
  template <class S, class F> static double by_rows(step const& s, std::size_t at, std::size_t rows, F const& half) {
    std::size_t const upper = rows / 2;
    auto const [a, b] =
        filch::join<S>([&half, at, upper] { return half(at, upper); },
                       [&half, &s, at, rows, upper] { return half(at + upper * s.stride, rows - upper); });
    return std::max(a, b);
  }
  template <class S> static double by_columns(step const& s, std::size_t at, std::size_t rows, std::size_t columns) {
    std::size_t const left = columns / 2;
    auto const [a, b] =
        filch::join<S>([&s, at, rows, left] { return forked<S>(s, at, rows, left); },
                       [&s, at, rows, columns, left] { return forked<S>(s, at + left, rows, columns - left); });
    return std::max(a, b);
  }

  template <class S> static answer run(input& in) {
    double change = 0;
    sine_mesh& m = in.mesh;
    for (std::size_t i = 0; i < in.steps; ++i)
      change = forked<S>({m.inner(i), m.inner(i + 1), m.stride(), in.leaf}, 0, m.rows, m.columns);
    return change;
  }
  static answer plain(input& in) {
    double change = 0;
    sine_mesh& m = in.mesh;
    for (std::size_t i = 0; i < in.steps; ++i)
      change = relax(m.inner(i), m.inner(i + 1), m.stride(), m.rows, m.columns);
    return change;
  }
  static bool verify(input const& in, answer found) {
    double const factor = (std::cos(in.mesh.row_angle()) + std::cos(in.mesh.column_angle())) / 2;
    return found == in.expected_change && in.mesh.bits(in.steps) == in.expected_bits &&
           in.mesh.is_scaled(in.steps, factor);
  }
};

}  // namespace bench
