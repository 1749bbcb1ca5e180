// mm: a matrix product that is not blocked: a tree of forks over the rows of the result, each row two plain loops,
// again and again: small parallel regions. Published by: K.-F. Faxen (ICPP 2010), section IV-A and table I. Size is
// ROWS[:REPETITIONS]; without them the published ones divided by k_scale. No cut-off: a row is a leaf.
// Answer: entries are small integers, so every product is exact; checked by Freivalds' test with ten vectors.
#pragma once

#include "../workload.hpp"
#include "halves.hpp"
#include "matrix.hpp"

namespace bench {

struct mm {
  static constexpr std::string_view name = "mm";
  static constexpr std::string_view about = "plain matrix products, forks over the rows, ROWS[:REPETITIONS]";
  static constexpr std::string_view quick_size = "128";
  static std::vector<std::string_view> sizes() { return {"64", "128", "256", "512"}; }
  static std::vector<std::string_view> published_sizes() { return {"64:16384", "128:2048", "256:256", "512:32"}; }
  static constexpr long k_scale = 16;
  static constexpr long k_published_steps = 1L << 32;  // of the innermost loop: 16K products of 64 rows, and so on

  struct input {
    matrices factors;
    std::size_t rows;
    long repetitions;
  };
  using answer = bool;

  static std::vector<long> size_of(std::string_view size) {
    return parse_size_parts(name, size, "ROWS or ROWS:REPETITIONS", 1,
                            {{"ROWS", 1, 8192}, {"REPETITIONS", 1, 100'000'000}});
  }
  static input prepare(std::string_view size) {
    auto const numbers = size_of(size);
    long const rows = numbers[0];
    long const scaled = std::max(1L, k_published_steps / k_scale / (rows * rows * rows));
    return {make_matrices(rows), static_cast<std::size_t>(rows), numbers.size() > 1 ? numbers[1] : scaled};
  }
  static void reset(input& in) { std::fill_n(in.factors.c.get(), in.rows * in.rows, -1.0); }

  // Not inlined: every contender runs the same code, at the same place.
  [[gnu::noinline]] static void multiply_row(double const* row, double const* b, double* result, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += row[k] * b[k * n + j];
      result[j] = sum;
    }
  }
  static void multiply_rows(input& in, std::size_t first, std::size_t last) {
    std::size_t const n = in.rows;
    for (std::size_t i = first; i < last; ++i)
      multiply_row(in.factors.a.get() + i * n, in.factors.b.get(), in.factors.c.get() + i * n, n);
  }

  template <class S> static answer run(input& in) {
    for (long r = 0; r < in.repetitions; ++r)
      run_halves<S>(0, in.rows, 1, [&in](std::size_t first, std::size_t last) { multiply_rows(in, first, last); });
    return true;
  }
  static answer plain(input& in) {
    for (long r = 0; r < in.repetitions; ++r) multiply_rows(in, 0, in.rows);
    return true;
  }
  static bool verify(input const& in, answer ran) { return ran && is_product(in.factors); }
};

}  // namespace bench
