// sparselu: the LU decomposition of a sparse matrix of dense blocks, step by step: the diagonal block; the rest of
// its row and column, a task a block; the blocks right below, a task each. Published by: the Barcelona OpenMP Tasks
// Suite; A. Prell, T. Rauber, Channel-based Work Stealing, 2014, 4096 rows. The pattern and blocks of k_side rows are
// the suite's. Elements are random, diagonals dominant, as there is no pivoting; blocks that fill in are known before
// and start as zeros. Answer: the bits of the serial program's, and LUx = Ax for a random vector.
#pragma once

#include "../workload.hpp"
#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <filch/scope.hpp>
#include <filch/serial.hpp>

namespace bench {

struct sparselu {
  static constexpr std::string_view name = "sparselu";
  static constexpr std::string_view about = "LU decomposition of a sparse matrix in doubles, by blocks of 64";
  static constexpr std::string_view quick_size = "2048";
  static std::vector<std::string_view> sizes() { return {"4096", "2048", "1024"}; }
  static std::vector<std::string_view> published_sizes() { return {"4096"}; }
  static constexpr std::size_t k_side = 64;

  using block = block_of<k_side>;
  using vector = std::vector<double>;

  struct input {
    std::size_t side;                 // in blocks
    std::vector<std::size_t> places;  // of each block, row by row, in those below; k_zero: not there
    std::vector<block> original;
    std::vector<block> decomposed;  // by the serial program
    std::vector<block> data;

    static constexpr auto k_zero = static_cast<std::size_t>(-1);
    std::size_t place(std::size_t i, std::size_t j) const { return places[i * side + j]; }
    bool has(std::size_t i, std::size_t j) const { return place(i, j) != k_zero; }
    block& operator()(std::size_t i, std::size_t j) { return data[place(i, j)]; }
  };
  using answer = bool;

  static long size_of(std::string_view size) {
    long const rows = parse_size(name, size, k_side, 16384);
    if (rows % static_cast<long>(k_side) != 0) {
      throw bad_request("sparselu=" + std::string(size) + ": expected a multiple of " + std::to_string(k_side));
    }
    return rows;
  }
  static input prepare(std::string_view size) {
    long const rows = size_of(size);
    input in{static_cast<std::size_t>(rows) / k_side, {}, {}, {}, {}};
    in.places.assign(in.side * in.side, input::k_zero);
    std::uint64_t x = 1325;
    for (std::size_t i = 0; i < in.side; ++i) {
      for (std::size_t j = 0; j < in.side; ++j) {
        if (is_zero(i, j)) continue;
        block& b = add_block(in, i, j);
        b.fill_random(x);
        if (i == j) b.add_to_diagonal(static_cast<double>(rows));
      }
    }
    add_fill_in(in);
    in.data = in.original;
    plain(in);
    in.decomposed = in.data;
    return in;
  }
  static void reset(input& in) { in.data = in.original; }

  // The suite's pattern.
  static bool is_zero(std::size_t i, std::size_t j) {
    if (i == j || i == j + 1 || i + 1 == j) return false;
    return std::min(i, j) % 3 != 0 || i % 2 == 1 || j % 2 == 1;
  }
  static block& add_block(input& in, std::size_t i, std::size_t j) {
    in.places[i * in.side + j] = in.original.size();
    return in.original.emplace_back();
  }
  static void add_fill_in(input& in) {
    for (std::size_t k = 0; k < in.side; ++k) {
      for (std::size_t i = k + 1; i < in.side; ++i) {
        for (std::size_t j = k + 1; j < in.side && in.has(i, k); ++j) {
          if (in.has(k, j) && !in.has(i, j)) add_block(in, i, j);
        }
      }
    }
  }

  template <class S> static answer run(input& a) {
    for (std::size_t k = 0; k < a.side; ++k) {
      block::decompose(a(k, k));
      filch::scope<S>([&a, k](auto& s) {
        for (std::size_t j = k + 1; j < a.side; ++j) {
          if (a.has(k, j)) s.spawn([&a, k, j] { block::forward(a(k, k), a(k, j)); });
          if (a.has(j, k)) s.spawn([&a, k, j] { block::divide(a(k, k), a(j, k)); });
        }
      });
      filch::scope<S>([&a, k](auto& s) {
        for (std::size_t i = k + 1; i < a.side; ++i) {
          for (std::size_t j = k + 1; j < a.side && a.has(i, k); ++j) {
            if (a.has(k, j)) s.spawn([&a, k, i, j] { block::update(a(i, k), a(k, j), a(i, j)); });
          }
        }
      });
    }
    return true;
  }
  static answer plain(input& a) { return run<filch::serial>(a); }

  static bool verify(input const& in, answer ran) {
    return ran && in.data.size() == in.decomposed.size() &&
           std::equal(in.data.begin(), in.data.end(), in.decomposed.begin(), have_equal_bits) &&
           has_small_residual(in);
  }
  static bool have_equal_bits(block const& a, block const& b) {
    return std::equal(&a.at[0][0], &a.at[0][0] + k_side * k_side, &b.at[0][0]);
  }
  enum class part { all, upper, lower };  // lower: with ones in the diagonal
  static vector times(input const& in, std::vector<block> const& blocks, part p, vector const& v) {
    vector r(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (p == part::lower) r[i] = v[i];
      std::size_t const first = p == part::upper ? i : 0;
      std::size_t const last = p == part::lower ? i : v.size();
      for (std::size_t j = first; j < last; ++j) {
        if (!in.has(i / k_side, j / k_side)) continue;
        r[i] += blocks[in.place(i / k_side, j / k_side)].at[i % k_side][j % k_side] * v[j];
      }
    }
    return r;
  }
  static bool has_small_residual(input const& in) {
    vector v(in.side * k_side);
    std::uint32_t x = 99;
    for (double& e : v) e = static_cast<double>((x = x * 1664525u + 1013904223u) >> 31) * 2 - 1;
    vector const wanted = times(in, in.original, part::all, v);
    vector const found = times(in, in.data, part::lower, times(in, in.data, part::upper, v));
    // Elements of both are as large as the diagonal, the number of rows.
    double const most = 1e-11 * static_cast<double>(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (!(std::abs(found[i] - wanted[i]) <= most)) return false;
    }
    return true;
  }
};

}  // namespace bench
