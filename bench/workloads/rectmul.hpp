// rectmul: C = A B of rectangular matrices in doubles: the recursion halves the greatest of the three dimensions;
// halves of the rows of A or of the columns of B are forked, halves of the inner dimension follow each other. After
// the Cilk-5 example. Published by: C. Yang, J. Mellor-Crummey, SPAA 2016, 4096, all three. Size is SIDE or
// ROWS:INNER:COLUMNS. Cut-off, the example's: blocks of k_side x k_side. Answer: entries are small integers, so every
// product is exact; checked by Freivalds' test with ten vectors.
#pragma once

#include "../workload.hpp"
#include "blocks.hpp"

#include <algorithm>
#include <filch/join.hpp>

namespace bench {

struct rectmul {
  static constexpr std::string_view name = "rectmul";
  static constexpr std::string_view about = "rectangular matrix product, SIDE or ROWS:INNER:COLUMNS";
  static constexpr std::string_view quick_size = "1024";
  static std::vector<std::string_view> sizes() { return {"1024", "512:1024:2048", "2048", "4096"}; }
  static std::vector<std::string_view> published_sizes() { return {"4096"}; }
  static constexpr std::size_t k_side = 16;

  using block = block_of<k_side>;
  using vector = std::vector<double>;
  struct matrix {
    std::size_t rows, columns;  // in blocks
    std::vector<block> data;
    matrix(std::size_t r, std::size_t c) : rows(r), columns(c), data(r * c) {}
  };
  struct input {
    matrix a, b, c;
  };
  using answer = bool;

  struct dimensions {
    std::size_t rows, inner, columns;  // in blocks
  };
  static dimensions size_of(std::string_view size) {
    constexpr long k_most = 16384;
    auto numbers = parse_size_parts(name, size, "SIDE or ROWS:INNER:COLUMNS", 1,
                                    {{"ROWS", 1, k_most}, {"INNER", 1, k_most}, {"COLUMNS", 1, k_most}});
    if (numbers.size() == 1) numbers.assign(3, numbers[0]);
    for (long const n : numbers) {
      if (n % static_cast<long>(k_side) != 0 || numbers.size() != 3)
        throw bad_request("rectmul=" + std::string(size) + ": expected one or three multiples of " +
                          std::to_string(k_side));
    }
    auto const in_blocks = [&](std::size_t i) { return static_cast<std::size_t>(numbers[i]) / k_side; };
    return {in_blocks(0), in_blocks(1), in_blocks(2)};
  }
  static input prepare(std::string_view size) {
    dimensions const d = size_of(size);
    input in{{d.rows, d.inner}, {d.inner, d.columns}, {d.rows, d.columns}};
    std::uint32_t x = 1;
    for (matrix* const m : {&in.a, &in.b}) {
      for (block& b : m->data) {
        for (auto& row : b.at) {
          for (double& e : row) e = static_cast<double>(static_cast<int>((x = x * 1664525u + 1013904223u) >> 29) - 4);
        }
      }
    }
    return in;
  }
  static void reset(input& in) { std::fill(in.c.data.begin(), in.c.data.end(), block{}); }

  struct factors {
    block_range<block const> a, b;
    block_range<block> c;
    dimensions d;
  };
  enum class dimension { none, rows, inner, columns };
  static dimension greatest(dimensions const& d) {
    if (d.rows == 1 && d.inner == 1 && d.columns == 1) return dimension::none;
    if (d.rows >= d.inner && d.rows >= d.columns) return dimension::rows;
    return d.inner > d.columns ? dimension::inner : dimension::columns;
  }
  enum half { first, later };
  static std::size_t cut(std::size_t& length, half which) {
    std::size_t const middle = length / 2;
    length = which == first ? middle : length - middle;
    return which == first ? 0 : middle;
  }
  static factors part(factors f, dimension d, half which) {
    if (d == dimension::rows) {
      std::size_t const at = cut(f.d.rows, which);
      return {f.a.from(at, 0), f.b, f.c.from(at, 0), f.d};
    }
    if (d == dimension::inner) {
      std::size_t const at = cut(f.d.inner, which);
      return {f.a.from(0, at), f.b.from(at, 0), f.c, f.d};
    }
    std::size_t const at = cut(f.d.columns, which);
    return {f.a, f.b.from(0, at), f.c.from(0, at), f.d};
  }

  template <class S> static void forked(factors const& f) {
    dimension const d = greatest(f.d);
    if (d == dimension::none) return block::add_product(f.a(0, 0), f.b(0, 0), f.c(0, 0));
    if (d == dimension::inner) {
      forked<S>(part(f, d, first));
      return forked<S>(part(f, d, later));
    }
    filch::join<S>([&f, d] { forked<S>(part(f, d, first)); }, [&f, d] { forked<S>(part(f, d, later)); });
  }
  static void sequential(factors const& f) {
    dimension const d = greatest(f.d);
    if (d == dimension::none) return block::add_product(f.a(0, 0), f.b(0, 0), f.c(0, 0));
    sequential(part(f, d, first));
    sequential(part(f, d, later));
  }
  static factors whole(input& in) {
    return {{in.a.data.data(), in.a.columns},
            {in.b.data.data(), in.b.columns},
            {in.c.data.data(), in.c.columns},
            {in.a.rows, in.a.columns, in.b.columns}};
  }
  template <class S> static answer run(input& in) {
    forked<S>(whole(in));
    return true;
  }
  static answer plain(input& in) {
    sequential(whole(in));
    return true;
  }

  static vector times(matrix const& m, vector const& v) {
    vector r(m.rows * k_side);
    for (std::size_t i = 0; i < r.size(); ++i) {
      for (std::size_t j = 0; j < v.size(); ++j)
        r[i] += m.data[i / k_side * m.columns + j / k_side].at[i % k_side][j % k_side] * v[j];
    }
    return r;
  }
  static bool verify(input const& in, answer ran) {
    std::uint32_t x = 99;
    for (int test = 0; test < 10; ++test) {
      vector v(in.b.columns * k_side);
      for (double& e : v) e = static_cast<double>((x = x * 1664525u + 1013904223u) >> 31);
      if (times(in.c, v) != times(in.a, times(in.b, v))) return false;
    }
    return ran;
  }
};

}  // namespace bench
