// lu: the LU decomposition of a dense matrix without pivoting, by recursive quarters of a matrix of blocks, after the
// Cilk-5 example. Published by: V. Kumar et al., OOPSLA 2012 and VEE 2014, 1024 rows; C. Yang, J. Mellor-Crummey,
// SPAA 2016, 4096. Published cut-off: blocks of k_side rows. Elements are random, the diagonal is dominant.
// Answer: the bits of the sequential program's, which decomposes block by block; and LUx = Ax for a random vector.
#pragma once

#include "../workload.hpp"
#include "bits.hpp"
#include "blocks.hpp"
#include "matrix.hpp"

#include <cmath>
#include <filch/join.hpp>

namespace bench {

struct lu {
  static constexpr std::string_view name = "lu";
  static constexpr std::string_view about = "LU decomposition of a dense matrix in doubles, recursive quarters";
  static constexpr std::string_view quick_size = "1024";
  static std::vector<std::string_view> sizes() { return {"1024", "512", "2048", "4096"}; }
  static std::vector<std::string_view> published_sizes() { return {"1024", "4096"}; }
  static constexpr std::size_t k_side = 16;

  using block = block_of<k_side>;
  using blocks = block_range<block>;
  using vector = std::vector<double>;
  struct input {
    std::size_t side;  // in blocks
    std::vector<block> original;
    std::vector<block> data;
    std::uint64_t expected_bits;
    blocks whole() { return {data.data(), side}; }
  };
  using answer = bool;

  static long size_of(std::string_view size) { return matrix_side(name, size); }
  static input prepare(std::string_view size) {
    long const rows = size_of(size);
    auto const side = static_cast<std::size_t>(rows) / k_side;
    input in{side, std::vector<block>(side * side), {}, 0};
    std::uint64_t x = 1325;
    for (block& b : in.original) b.fill_random(x);
    for (std::size_t i = 0; i < side; ++i) in.original[i * side + i].add_to_diagonal(static_cast<double>(rows));
    in.data = in.original;
    plain(in);
    in.expected_bits = bits(in);
    return in;
  }
  static void reset(input& in) { in.data = in.original; }
  static std::uint64_t bits(input const& in) {
    return bits_of(&in.data[0].at[0][0], in.data.size() * k_side * k_side);
  }

  // Each takes ranges of n x n blocks.
  template <class S> static void decompose(blocks m, std::size_t n) {
    if (n == 1) return block::decompose(m(0, 0));
    std::size_t const h = n / 2;
    blocks const above = m.from(0, h), left = m.from(h, 0), rest = m.from(h, h);
    decompose<S>(m, h);
    filch::join<S>([=] { forward<S>(m, above, h); }, [=] { divide<S>(m, left, h); });
    update<S>(left, above, rest, h);
    decompose<S>(rest, h);
  }
  // Solves L x = b: the left half of b beside the right one.
  template <class S> static void forward(blocks l, blocks b, std::size_t n) {
    if (n == 1) return block::forward(l(0, 0), b(0, 0));
    std::size_t const h = n / 2;
    auto const half = [=](std::size_t j) {
      forward<S>(l, b.from(0, j), h);
      update<S>(l.from(h, 0), b.from(0, j), b.from(h, j), h);
      forward<S>(l.from(h, h), b.from(h, j), h);
    };
    filch::join<S>([=] { half(0); }, [=] { half(h); });
  }
  // Solves x U = b: the upper half of b beside the lower one.
  template <class S> static void divide(blocks u, blocks b, std::size_t n) {
    if (n == 1) return block::divide(u(0, 0), b(0, 0));
    std::size_t const h = n / 2;
    auto const half = [=](std::size_t i) {
      divide<S>(u, b.from(i, 0), h);
      update<S>(b.from(i, 0), u.from(0, h), b.from(i, h), h);
      divide<S>(u.from(h, h), b.from(i, h), h);
    };
    filch::join<S>([=] { half(0); }, [=] { half(h); });
  }
  // c -= a b: four quarters of c side by side.
  template <class S> static void update(blocks a, blocks b, blocks c, std::size_t n) {
    if (n == 1) return block::update(a(0, 0), b(0, 0), c(0, 0));
    std::size_t const h = n / 2;
    auto const quarter = [=](std::size_t i, std::size_t j) {
      update<S>(a.from(i, 0), b.from(0, j), c.from(i, j), h);
      update<S>(a.from(i, h), b.from(h, j), c.from(i, j), h);
    };
    filch::invoke<S>([&] { quarter(0, 0); }, [&] { quarter(0, h); }, [&] { quarter(h, 0); }, [&] { quarter(h, h); });
  }

  template <class S> static answer run(input& in) {
    decompose<S>(in.whole(), opaque(in.side));
    return true;
  }
  // Step by step. Each block takes its updates in the order in which the recursion makes them.
  static answer plain(input& in) {
    blocks const m = in.whole();
    for (std::size_t k = 0; k < in.side; ++k) {
      block::decompose(m(k, k));
      for (std::size_t j = k + 1; j < in.side; ++j) block::forward(m(k, k), m(k, j));
      for (std::size_t i = k + 1; i < in.side; ++i) {
        block::divide(m(k, k), m(i, k));
        for (std::size_t j = k + 1; j < in.side; ++j) block::update(m(i, k), m(k, j), m(i, j));
      }
    }
    return true;
  }

  static bool verify(input const& in, answer ran) {
    return ran && bits(in) == in.expected_bits && has_small_residual(in);
  }
  static double element(std::vector<block> const& m, std::size_t side, std::size_t i, std::size_t j) {
    return m[i / k_side * side + j / k_side].at[i % k_side][j % k_side];
  }
  static bool has_small_residual(input const& in) {
    std::size_t const rows = in.side * k_side;
    vector v(rows), upper(rows);
    std::uint32_t x = 99;
    for (double& e : v) e = static_cast<double>((x = x * 1664525u + 1013904223u) >> 31) * 2 - 1;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = i; j < rows; ++j) upper[i] += element(in.data, in.side, i, j) * v[j];
    }
    // Elements of both sides are as large as the diagonal, the number of rows.
    double const most = 1e-11 * static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      double difference = upper[i];
      for (std::size_t j = 0; j < i; ++j) difference += element(in.data, in.side, i, j) * upper[j];
      for (std::size_t j = 0; j < rows; ++j) difference -= element(in.original, in.side, i, j) * v[j];
      if (!(std::abs(difference) <= most)) return false;
    }
    return true;
  }
};

}  // namespace bench
