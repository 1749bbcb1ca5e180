// heat: heat diffusion by explicit steps on a mesh whose border stays at zero; each step halves the columns by forks.
// After the Cilk-5 example. Published by: V. Kumar et al., OOPSLA 2012 and VEE 2014, 4096 x 1024 cells, 200 steps;
// C. Yang, J. Mellor-Crummey, SPAA 2016, 2048 x 500, whose steps are not named (here the example's 100). Size is
// COLUMNS:ROWS:STEPS. Published cut-off: k_leaf columns or fewer. Answers: the bits of the sequential program's mesh,
// which begins as an eigenvector of the step, so each cell is known, but for rounding.
#pragma once

#include "../workload.hpp"
#include "halves.hpp"
#include "sine_mesh.hpp"

namespace bench {

struct heat {
  static constexpr std::string_view name = "heat";
  static constexpr std::string_view about = "heat diffusion on a mesh, COLUMNS:ROWS:STEPS";
  static constexpr std::string_view quick_size = "2048:500:100";
  static std::vector<std::string_view> sizes() { return {"4096:1024:200", "2048:500:100", "1024:512:100"}; }
  static std::vector<std::string_view> published_sizes() { return {"4096:1024:200", "2048:500:100"}; }
  static constexpr std::size_t k_leaf = 10;
  static constexpr double k_along = 0.2;   // of the difference to both neighbours in the row, a step
  static constexpr double k_across = 0.1;  // in the column

  struct input {
    std::size_t steps;
    sine_mesh mesh;  // its rows are the columns of the size, stored one after the other
    std::uint64_t expected_bits;
  };
  using answer = bool;

  static std::vector<long> size_of(std::string_view size) {
    return parse_size_parts(name, size, "COLUMNS:ROWS:STEPS, such as 4096:1024:200", 3,
                            {{"COLUMNS", 1, 65536}, {"ROWS", 1, 16384}, {"STEPS", 1, 100'000}});
  }
  static input prepare(std::string_view size) {
    auto const numbers = size_of(size);
    input in{static_cast<std::size_t>(numbers[2]),
             sine_mesh(static_cast<std::size_t>(numbers[0]), static_cast<std::size_t>(numbers[1])), 0};
    plain(in);
    in.expected_bits = in.mesh.bits(in.steps);
    return in;
  }
  static void reset(input& in) { in.mesh.reset(); }

  // Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static void diffuse(double const* from, double* to, std::size_t columns, std::size_t rows) {
    std::size_t const stride = rows + 2;
    for (std::size_t x = 0; x < columns; ++x) {
      double const* const old = from + x * stride;
      double const* const before = old - stride;
      double const* const after = old + stride;
      double const* const above = old - 1;
      double const* const below = old + 1;
      double* const fresh = to + x * stride;
      for (std::size_t y = 0; y < rows; ++y) {
        double const twice = 2 * old[y];
        fresh[y] = old[y] + k_along * (before[y] + after[y] - twice) + k_across * (above[y] + below[y] - twice);
      }
    }
  }

  template <class S> static answer run(input& in) {
    sine_mesh& m = in.mesh;
    for (std::size_t step = 0; step < in.steps; ++step) {
      double const* const from = m.inner(step);
      double* const to = m.inner(step + 1);
      run_halves<S>(0, m.rows, k_leaf, [&m, from, to](std::size_t first, std::size_t last) {
        diffuse(from + first * m.stride(), to + first * m.stride(), last - first, m.columns);
      });
    }
    return true;
  }
  static answer plain(input& in) {
    sine_mesh& m = in.mesh;
    for (std::size_t step = 0; step < in.steps; ++step) diffuse(m.inner(step), m.inner(step + 1), m.rows, m.columns);
    return true;
  }
  static bool verify(input const& in, answer ran) {
    double const factor =
        1 - 2 * k_along * (1 - std::cos(in.mesh.row_angle())) - 2 * k_across * (1 - std::cos(in.mesh.column_angle()));
    return ran && in.mesh.bits(in.steps) == in.expected_bits && in.mesh.is_scaled(in.steps, factor);
  }
};

}  // namespace bench
