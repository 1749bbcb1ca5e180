// nqueens: how many ways to place n queens on an n x n board, every placement forked, no cut-off.
//   nqueens        the board as three bit masks (columns, two diagonals)
//   nqueens-array  the board as an array that each branch copies (Barcelona OpenMP Tasks Suite; V. Kumar et al.,
//                  OOPSLA 2012)
// Answers: the known numbers of solutions, https://oeis.org/A000170.
#pragma once

#include "../workload.hpp"

#include <array>
#include <filch/join.hpp>

namespace bench {

inline constexpr std::array<long, 17> k_queens_solutions = {
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

struct nqueens {
  static constexpr std::string_view name = "nqueens";
  static constexpr std::string_view about = "n queens, board as bit masks";
  static constexpr std::string_view quick_size = "14";
  static std::vector<std::string_view> sizes() { return {"13", "12", "14"}; }
  static std::vector<std::string_view> published_sizes() { return {"14"}; }

  using input = unsigned;
  using answer = long;
  static input prepare(std::string_view size) { return static_cast<unsigned>(parse_size(name, size, 1, 16)); }

  // The free places of a row one after the other: one beside all the others.
  template <class S>
  static long places(unsigned all, unsigned columns, unsigned left, unsigned right, unsigned free) {
    unsigned const place = free & (0 - free);
    unsigned const others = free ^ place;
    if (others == 0) return row<S>(all, columns | place, (left | place) << 1, (right | place) >> 1);
    auto [a, b] =
        filch::join<S>([=] { return row<S>(all, columns | place, (left | place) << 1, (right | place) >> 1); },
                       [=] { return places<S>(all, columns, left, right, others); });
    return a + b;
  }
  template <class S> static long row(unsigned all, unsigned columns, unsigned left, unsigned right) {
    if (columns == all) return 1;
    unsigned const free = all & ~(columns | left | right);
    return free == 0 ? 0 : places<S>(all, columns, left, right, free);
  }
  static long sequential(unsigned all, unsigned columns, unsigned left, unsigned right) {
    if (columns == all) return 1;
    long sum = 0;
    for (unsigned free = all & ~(columns | left | right); free != 0;) {
      unsigned const place = free & (0 - free);
      free ^= place;
      sum += sequential(all, columns | place, (left | place) << 1, (right | place) >> 1);
    }
    return sum;
  }

  template <class S> static answer run(input& n) { return row<S>((1u << opaque(n)) - 1, 0, 0, 0); }
  static answer plain(input& n) { return sequential((1u << opaque(n)) - 1, 0, 0, 0); }
  static bool verify(input n, answer found) { return found == k_queens_solutions[n]; }
};

struct nqueens_array {
  static constexpr std::string_view name = "nqueens-array";
  static constexpr std::string_view about = "n queens, board copied at each branch";
  static constexpr std::string_view quick_size = "12";
  static std::vector<std::string_view> sizes() { return {"11", "12"}; }
  static std::vector<std::string_view> published_sizes() { return {"12"}; }

  struct board {
    std::array<signed char, 16> column_of_row;
  };
  using input = int;
  using answer = long;
  static input prepare(std::string_view size) { return static_cast<int>(parse_size(name, size, 1, 16)); }

  static bool safe(board const& b, int row, int column) {
    for (int i = 0; i < row; ++i) {
      int const d = b.column_of_row[static_cast<std::size_t>(i)] - column;
      if (d == 0 || d == row - i || d == i - row) return false;
    }
    return true;
  }
  static board with(board b, int row, int column) {
    b.column_of_row[static_cast<std::size_t>(row)] = static_cast<signed char>(column);
    return b;
  }

  // The columns [first, last) of a row, halved by joins.
  template <class S> static long columns(board const& b, int n, int row, int first, int last) {
    if (last - first == 1) {
      if (!safe(b, row, first)) return 0;
      if (row + 1 == n) return 1;
      board const next = with(b, row, first);
      return columns<S>(next, n, row + 1, 0, n);
    }
    int const middle = (first + last) / 2;
    auto [x, y] = filch::join<S>([&b, n, row, first, middle] { return columns<S>(b, n, row, first, middle); },
                                 [&b, n, row, middle, last] { return columns<S>(b, n, row, middle, last); });
    return x + y;
  }
  static long sequential(board const& b, int n, int row) {
    if (row == n) return 1;
    long sum = 0;
    for (int c = 0; c < n; ++c) {
      if (safe(b, row, c)) sum += sequential(with(b, row, c), n, row + 1);
    }
    return sum;
  }

  template <class S> static answer run(input& n) {
    board const empty{};
    return columns<S>(empty, opaque(n), 0, 0, n);
  }
  static answer plain(input& n) { return sequential(board{}, opaque(n), 0); }
  static bool verify(input n, answer found) { return found == k_queens_solutions[static_cast<std::size_t>(n)]; }
};

}  // namespace bench
