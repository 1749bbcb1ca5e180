// Square blocks of doubles, and the kernels on them that sparselu, lu and rectmul share. Kernels are not inlined:
// every contender runs the same code, at the same place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

template <std::size_t Side> struct block_of {
  static constexpr std::size_t k_side = Side;
  double at[Side][Side];

  // From -1 to 1.
  void fill_random(std::uint64_t& x) {
    for (auto& row : at) {
      for (double& e : row) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        e = static_cast<double>(x >> 11) * 0x1p-52 - 1;
      }
    }
  }
  void add_to_diagonal(double by) {
    for (std::size_t i = 0; i < Side; ++i) at[i][i] += by;
  }

  // row += x other
  static void add(double* __restrict row, double x, double const* __restrict other) {
    for (std::size_t j = 0; j < Side; ++j) row[j] += x * other[j];
  }
  static void subtract(double* __restrict row, double x, double const* __restrict other) {
    for (std::size_t j = 0; j < Side; ++j) row[j] -= x * other[j];
  }

  /// d = LU, in place; the ones in L's diagonal are not stored.
  [[gnu::noinline]] static void decompose(block_of& d) {
    for (std::size_t k = 0; k < Side; ++k) {
      for (std::size_t i = k + 1; i < Side; ++i) {
        double const x = d.at[i][k] /= d.at[k][k];
        for (std::size_t j = k + 1; j < Side; ++j) d.at[i][j] -= x * d.at[k][j];
      }
    }
  }
  /// Solves L x = of_row, in place.
  [[gnu::noinline]] static void forward(block_of const& diagonal, block_of& of_row) {
    for (std::size_t k = 0; k < Side; ++k) {
      for (std::size_t i = k + 1; i < Side; ++i) subtract(of_row.at[i], diagonal.at[i][k], of_row.at[k]);
    }
  }
  /// Solves x U = of_column, in place.
  [[gnu::noinline]] static void divide(block_of const& diagonal, block_of& of_column) {
    for (auto& row : of_column.at) {
      for (std::size_t k = 0; k < Side; ++k) {
        double const x = row[k] /= diagonal.at[k][k];
        for (std::size_t j = k + 1; j < Side; ++j) row[j] -= x * diagonal.at[k][j];
      }
    }
  }
  /// inner -= of_column of_row
  [[gnu::noinline]] static void update(block_of const& of_column, block_of const& of_row, block_of& inner) {
    for (std::size_t i = 0; i < Side; ++i) {
      for (std::size_t k = 0; k < Side; ++k) subtract(inner.at[i], of_column.at[i][k], of_row.at[k]);
    }
  }
  /// c += a b
  [[gnu::noinline]] static void add_product(block_of const& a, block_of const& b, block_of& c) {
    for (std::size_t i = 0; i < Side; ++i) {
      for (std::size_t k = 0; k < Side; ++k) add(c.at[i], a.at[i][k], b.at[k]);
    }
  }
};

/// Blocks of a matrix, stored row by row.
template <class Block> struct block_range {
  Block* first;
  std::size_t stride;
  Block& operator()(std::size_t i, std::size_t j) const { return first[i * stride + j]; }
  block_range from(std::size_t i, std::size_t j) const { return {first + i * stride + j, stride}; }
};

}  // namespace bench
