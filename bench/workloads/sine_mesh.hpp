// The meshes of jacobi and heat: two copies with a border of zeros, that steps read and write in turn. A mesh begins
// as a product of sines, an eigenvector of both programs' steps.
#pragma once

#include "bits.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace bench {

struct sine_mesh {
  static constexpr double k_row_waves = 3;  // half waves
  static constexpr double k_column_waves = 5;

  std::size_t rows, columns;  // without the border
  std::vector<double> original;
  std::vector<double> copies[2];

  sine_mesh(std::size_t number_of_rows, std::size_t number_of_columns)
      : rows(number_of_rows), columns(number_of_columns), original((rows + 2) * (columns + 2)) {
    for (std::size_t i = 1; i <= rows; ++i) {
      double const by_row = std::sin(row_angle() * static_cast<double>(i));
      for (std::size_t j = 1; j <= columns; ++j)
        original[i * stride() + j] = by_row * std::sin(column_angle() * static_cast<double>(j));
    }
    reset();
  }
  void reset() {
    copies[0] = original;
    copies[1].assign(original.size(), 0.0);
  }

  std::size_t stride() const { return columns + 2; }
  double row_angle() const { return k_row_waves * std::numbers::pi / static_cast<double>(rows + 1); }
  double column_angle() const { return k_column_waves * std::numbers::pi / static_cast<double>(columns + 1); }
  /// The first inner cell after so many steps.
  double* inner(std::size_t steps) { return copies[steps % 2].data() + stride() + 1; }
  std::uint64_t bits(std::size_t steps) const { return bits_of(copies[steps % 2].data(), original.size()); }

  /// Did each step multiply each cell by `factor`? A step adds a few roundings of cells that are at most 1.
  bool is_scaled(std::size_t steps, double factor) const {
    double const scale = std::pow(factor, static_cast<double>(steps));
    double const most = 2e-15 * static_cast<double>(steps + 1);
    for (std::size_t i = 0; i < original.size(); ++i) {
      if (!(std::abs(copies[steps % 2][i] - scale * original[i]) <= most)) return false;
    }
    return true;
  }
};

}  // namespace bench
