// matmul and strassen in doubles: C = A B of n x n matrices, n a power of two. Cut-offs, published with the Cilk-5
// examples: the recursion ends at blocks of k_block, which a plain triple loop multiplies; strassen becomes the
// eight-way recursion below k_strassen_below.
// Answer: entries are small integers, so every product is exact; checked by Freivalds' test with ten vectors.
#pragma once

#include "../workload.hpp"

#include <algorithm>
#include <filch/join.hpp>
#include <memory>

namespace bench {

/// A square part of a matrix in row-major order.
struct square {
  double* at;
  std::ptrdiff_t stride;
  square part(std::ptrdiff_t half, int row, int column) const {
    return {at + row * half * stride + column * half, stride};
  }
};

struct matrices {
  std::ptrdiff_t n;
  std::unique_ptr<double[]> a, b, c;
  square whole(std::unique_ptr<double[]> const& m) const { return {m.get(), n}; }
};

inline long matrix_side(std::string_view name, std::string_view size) {
  long const n = parse_size(name, size, 32, 8192);
  if ((n & (n - 1)) != 0)
    throw bad_request(std::string(name) + "=" + std::string(size) + ": expected a power of two");
  return n;
}

inline matrices make_matrices(long n) {
  auto const cells = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  matrices m{n, std::make_unique<double[]>(cells), std::make_unique<double[]>(cells),
             std::make_unique<double[]>(cells)};
  std::uint32_t x = 1;
  auto const random = [&x] {
    return static_cast<double>(static_cast<int>((x = x * 1664525u + 1013904223u) >> 29) - 4);
  };
  for (std::size_t i = 0; i < cells; ++i) {
    m.a[i] = random();
    m.b[i] = random();
  }
  return m;
}

inline bool is_product(matrices const& m) {
  auto const n = static_cast<std::size_t>(m.n);
  auto const times = [n](double const* x, std::vector<double> const& v) {
    std::vector<double> r(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) r[i] += x[i * n + k] * v[k];
    }
    return r;
  };
  std::uint32_t x = 99;
  for (int test = 0; test < 10; ++test) {
    std::vector<double> v(n);
    for (double& e : v) e = static_cast<double>((x = x * 1664525u + 1013904223u) >> 31);
    if (times(m.c.get(), v) != times(m.a.get(), times(m.b.get(), v))) return false;
  }
  return true;
}

inline constexpr std::ptrdiff_t k_block = 32;

/// c += a b for one block, or c = a b. Not inlined: every contender runs the same code, at the same place.
template <bool Add> [[gnu::noinline]] inline void multiply_block(square a, square b, square c) {
  for (std::ptrdiff_t i = 0; i < k_block; ++i) {
    double* const row = c.at + i * c.stride;
    if constexpr (!Add) std::fill_n(row, k_block, 0.0);
    for (std::ptrdiff_t k = 0; k < k_block; ++k) {
      double const x = a.at[i * a.stride + k];
      double const* const from = b.at + k * b.stride;
      for (std::ptrdiff_t j = 0; j < k_block; ++j) row[j] += x * from[j];
    }
  }
}

/// c (+)= a b: four quarters of c side by side, each from two products one after the other.
template <class S, bool Add> void multiply(square a, square b, square c, std::ptrdiff_t n) {
  if (n == k_block) {
    multiply_block<Add>(a, b, c);
    return;
  }
  std::ptrdiff_t const h = n / 2;
  auto const quarter = [=](int i, int j) {
    multiply<S, Add>(a.part(h, i, 0), b.part(h, 0, j), c.part(h, i, j), h);
    multiply<S, true>(a.part(h, i, 1), b.part(h, 1, j), c.part(h, i, j), h);
  };
  filch::invoke<S>([&] { quarter(0, 0); }, [&] { quarter(0, 1); }, [&] { quarter(1, 0); }, [&] { quarter(1, 1); });
}

template <bool Add> void multiply_sequential(square a, square b, square c, std::ptrdiff_t n) {
  if (n == k_block) {
    multiply_block<Add>(a, b, c);
    return;
  }
  std::ptrdiff_t const h = n / 2;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      multiply_sequential<Add>(a.part(h, i, 0), b.part(h, 0, j), c.part(h, i, j), h);
      multiply_sequential<true>(a.part(h, i, 1), b.part(h, 1, j), c.part(h, i, j), h);
    }
  }
}

struct matmul {
  static constexpr std::string_view name = "matmul";
  static constexpr std::string_view about = "matrix product in doubles, recursive quarters";
  static constexpr std::string_view quick_size = "1024";
  static std::vector<std::string_view> sizes() { return {"1024", "512", "2048"}; }
  static std::vector<std::string_view> published_sizes() { return {"1024", "2048"}; }
  using input = matrices;
  using answer = bool;
  static long size_of(std::string_view size) { return matrix_side(name, size); }
  static input prepare(std::string_view size) { return make_matrices(size_of(size)); }
  template <class S> static answer run(input& m) {
    multiply<S, false>(m.whole(m.a), m.whole(m.b), m.whole(m.c), opaque(m.n));
    return true;
  }
  static answer plain(input& m) {
    multiply_sequential<false>(m.whole(m.a), m.whole(m.b), m.whole(m.c), opaque(m.n));
    return true;
  }
  static void reset(input& m) { std::fill_n(m.c.get(), m.n * m.n, -1.0); }
  static bool verify(input const& m, answer ran) { return ran && is_product(m); }
};

struct strassen {
  static constexpr std::string_view name = "strassen";
  static constexpr std::string_view about = "matrix product in doubles, Strassen's seven products";
  static constexpr std::string_view quick_size = "1024";
  static std::vector<std::string_view> sizes() { return {"1024", "512", "2048", "4096"}; }
  static std::vector<std::string_view> published_sizes() { return {"4096"}; }
  static constexpr std::ptrdiff_t k_strassen_below = 128;

  using input = matrices;
  using answer = bool;
  static long size_of(std::string_view size) { return matrix_side(name, size); }
  static input prepare(std::string_view size) { return make_matrices(size_of(size)); }

  // x + sign y into out.
  [[gnu::noinline]] static void combine(square x, double sign, square y, square out, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      double const* const p = x.at + i * x.stride;
      double const* const q = y.at + i * y.stride;
      double* const r = out.at + i * out.stride;
      for (std::ptrdiff_t j = 0; j < n; ++j) r[j] = p[j] + sign * q[j];
    }
  }

  // Seven products of half the size, each of sums that it makes itself in scratch memory of its own.
  struct halves {
    square a, b, c;
    std::ptrdiff_t h;
    std::unique_ptr<double[]> memory = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(17 * h * h));
    square scratch(int i) const { return {memory.get() + i * h * h, h}; }
    square product(int i) const { return scratch(10 + i); }
    square sum(int i, square x, double sign, square y) const {
      combine(x, sign, y, scratch(i), h);
      return scratch(i);
    }
    template <class Multiply> void one(int i, Multiply times) const {
      square const a11 = a.part(h, 0, 0), a12 = a.part(h, 0, 1), a21 = a.part(h, 1, 0), a22 = a.part(h, 1, 1);
      square const b11 = b.part(h, 0, 0), b12 = b.part(h, 0, 1), b21 = b.part(h, 1, 0), b22 = b.part(h, 1, 1);
      switch (i) {
        case 0: return times(sum(0, a11, 1, a22), sum(1, b11, 1, b22), product(0), h);
        case 1: return times(sum(2, a21, 1, a22), b11, product(1), h);
        case 2: return times(a11, sum(3, b12, -1, b22), product(2), h);
        case 3: return times(a22, sum(4, b21, -1, b11), product(3), h);
        case 4: return times(sum(5, a11, 1, a12), b22, product(4), h);
        case 5: return times(sum(6, a21, -1, a11), sum(7, b11, 1, b12), product(5), h);
        default: return times(sum(8, a12, -1, a22), sum(9, b21, 1, b22), product(6), h);
      }
    }
    [[gnu::noinline]] void gather() const {
      for (std::ptrdiff_t i = 0; i < h; ++i) {
        auto const m = [&](int k) { return product(k).at + i * h; };
        double* const c11 = c.at + i * c.stride;
        double* const c12 = c11 + h;
        double* const c21 = c11 + h * c.stride;
        double* const c22 = c21 + h;
        for (std::ptrdiff_t j = 0; j < h; ++j) {
          c11[j] = m(0)[j] + m(3)[j] - m(4)[j] + m(6)[j];
          c12[j] = m(2)[j] + m(4)[j];
          c21[j] = m(1)[j] + m(3)[j];
          c22[j] = m(0)[j] - m(1)[j] + m(2)[j] + m(5)[j];
        }
      }
    }
  };

  template <class S> static void forked(square a, square b, square c, std::ptrdiff_t n) {
    if (n <= k_strassen_below) {
      multiply<S, false>(a, b, c, n);
      return;
    }
    halves const p{a, b, c, n / 2};
    auto const one = [&p](int i) {
      p.one(i, [](square x, square y, square z, std::ptrdiff_t k) { forked<S>(x, y, z, k); });
    };
    filch::invoke<S>([&] { one(0); }, [&] { one(1); }, [&] { one(2); }, [&] { one(3); }, [&] { one(4); },
                     [&] { one(5); }, [&] { one(6); });
    p.gather();
  }
  static void sequential(square a, square b, square c, std::ptrdiff_t n) {
    if (n <= k_strassen_below) {
      multiply_sequential<false>(a, b, c, n);
      return;
    }
    halves const p{a, b, c, n / 2};
    for (int i = 0; i < 7; ++i) p.one(i, sequential);
    p.gather();
  }

  template <class S> static answer run(input& m) {
    forked<S>(m.whole(m.a), m.whole(m.b), m.whole(m.c), opaque(m.n));
    return true;
  }
  static answer plain(input& m) {
    sequential(m.whole(m.a), m.whole(m.b), m.whole(m.c), opaque(m.n));
    return true;
  }
  static void reset(input& m) { std::fill_n(m.c.get(), m.n * m.n, -1.0); }
  static bool verify(input const& m, answer ran) { return ran && is_product(m); }
};

}  // namespace bench
