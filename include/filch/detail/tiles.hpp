// Loops over grids of two and three dimensions. The grid is halved along its longer side until a tile has at most
// 32768 indices. A row is cut only if it is longer than 4096, and at multiples of 64: after each jump to another row
// the processor must begin again to read ahead, and to look for pages (docs/decisions/0011-loops.md). The positions
// of the loop run through one row of a tile, one tile and one half after the other, so a part of them is a compact
// part of the grid.
#pragma once

#include <filch/detail/body.hpp>
#include <filch/detail/lengths.hpp>
#include <filch/detail/pieces.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_segment = 64;          // a row is cut at multiples of it
inline constexpr std::size_t k_row = 4096;            // a row that is no longer is not cut
inline constexpr std::size_t k_tile = 8 * k_row;      // most indices of a tile
inline constexpr std::size_t k_region = 32 * k_tile;  // most indices of a region, in which the next tile is searched

/// Planes, rows and columns from `begin` on to below `end`. Its positions are [first, last).
struct grid_part {
  std::array<std::size_t, 3> begin;
  std::array<std::size_t, 3> end;
  std::size_t first;
  std::size_t last;

  std::size_t size(std::size_t dimension) const noexcept { return end[dimension] - begin[dimension]; }
  /// Becomes the half that has this position.
  void halve(std::size_t position) noexcept {
    std::size_t longest = size(2) > k_row ? 2 : size(1) > 1 ? 1 : 0;
    if (size(1) > size(longest)) longest = 1;
    if (size(0) > size(longest)) longest = 0;
    std::size_t const half =
        longest == 2 ? (size(2) + k_segment - 1) / (2 * k_segment) * k_segment : size(longest) / 2;
    std::size_t const middle = first + half * (longest == 2   ? size(0) * size(1)
                                               : longest == 1 ? size(0) * size(2)
                                                              : size(1) * size(2));
    if (position < middle) {
      end[longest] = begin[longest] + half;
      last = middle;
    } else {
      begin[longest] += half;
      first = middle;
    }
  }
  /// Becomes the part of at most so many positions that has this position.
  void narrow(std::size_t most, std::size_t position) noexcept {
    while (last - first > most) halve(position);
  }
};
inline grid_part grid_of(std::size_t planes, std::size_t rows, std::size_t columns) noexcept {
  return {{0, 0, 0}, {planes, rows, columns}, 0, planes * rows * columns};
}

/// Calls f with the indices of positions that follow each other. Searches from the root only once a region.
template <std::size_t Dimensions, class Index, class Body> class tile_runner {
 public:
  tile_runner(grid_part const& grid, Body const& f, std::size_t position) noexcept
      : f_(f), grid_(grid), region_(grid), tile_(grid) {
    region_.narrow(k_region, position);
    enter_tile(position);
    std::size_t const n = position - tile_.first;
    std::size_t const row = n / tile_.size(2);  // of all planes
    plane_ += row / tile_.size(1);
    row_ += row % tile_.size(1);
    column_ += n % tile_.size(2);
  }
  FILCH_INLINE void run(std::size_t first, std::size_t last) {
    do {
      if (first == tile_.last) next_tile(first);
      std::size_t const bound = std::min(last, tile_.last);
      run_rows(bound - first);
      first = bound;
    } while (first != last);
  }
  /// The positions up to the end of a row of the tile; a segment at its beginning.
  std::size_t lead() const noexcept { return column_ == tile_.begin[2] ? k_segment : tile_.end[2] - column_; }

 private:
  /// Runs n positions of the tile: a part of a row, or whole rows.
  FILCH_INLINE void run_rows(std::size_t n) {
    do {
      std::size_t const end = std::min(column_ + n, tile_.end[2]);
      std::size_t rows = 1;
      if (end - column_ == tile_.size(2)) rows = std::min(whole_rows(n), tile_.end[1] - row_);
      n -= rows * (end - column_);
      auto const last_row = static_cast<Index>(row_ + rows);
      auto const first = static_cast<Index>(column_);
      auto const last = static_cast<Index>(end);
      for (auto r = static_cast<Index>(row_); r != last_row; ++r) {
        FILCH_UNROLL
        for (auto c = first; c != last; ++c) call(r, c);
      }
      go_to(row_ + rows - 1, end);
    } while (n != 0);
  }
  /// n / tile_.size(2), for n up to that of a stretch and no less than a row. A division would cost too much.
  FILCH_INLINE std::size_t whole_rows(std::size_t n) const noexcept { return n * row_parts_ / k_parts; }
  /// f gets copies, which it may take by reference and write.
  FILCH_INLINE void call(Index row, Index column) const {
    if constexpr (Dimensions == 2) {
      static_cast<void>(f_(row, column));
    } else {
      auto plane = static_cast<Index>(plane_);
      static_cast<void>(f_(plane, row, column));
    }
  }
  /// Goes to a column of a row, or to the beginning of the next row.
  FILCH_INLINE void go_to(std::size_t row, std::size_t column) noexcept {
    row_ = row;
    column_ = column;
    if (column != tile_.end[2]) return;
    column_ = tile_.begin[2];
    if (++row_ != tile_.end[1]) return;
    row_ = tile_.begin[1];
    ++plane_;
  }
  FILCH_INLINE void next_tile(std::size_t position) noexcept {
    if (position == region_.last) {
      region_ = grid_;
      region_.narrow(k_region, position);
    }
    enter_tile(position);
  }
  FILCH_INLINE void enter_tile(std::size_t position) noexcept {
    tile_ = region_;
    tile_.narrow(k_tile, position);
    plane_ = tile_.begin[0];
    row_ = tile_.begin[1];
    column_ = tile_.begin[2];
    row_parts_ = k_parts / tile_.size(2) + 1;
  }
  static constexpr std::size_t k_parts = std::size_t{1} << 16;

  Body f_;
  grid_part grid_;
  grid_part region_;  // part of the grid
  grid_part tile_;    // part of the region
  std::size_t plane_ = 0;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t row_parts_ = 0;  // the parts of a row that an index is
};

/// Runs the positions of a grid.
template <std::size_t Dimensions, class Index, class Body> struct tile_piece {
  grid_part grid;
  Body f;

  using runner_type = tile_runner<Dimensions, Index, Body>;
  runner_type runner(std::size_t first) const noexcept { return {grid, f, first}; }
  void ran(runner_type const&, std::size_t) const noexcept {}
  tile_piece split(std::size_t, std::size_t) const noexcept { return *this; }
  void merge(tile_piece&) const noexcept {}
};

/// Throws std::length_error if the sizes multiplied are 2^63 or more.
inline void check_grid(std::size_t planes, std::size_t rows, std::size_t columns) {
  constexpr std::size_t k_most = std::numeric_limits<std::size_t>::max() / 2;
  if (planes == 0 || rows == 0 || columns == 0) return;
  if (rows > k_most / planes || columns > k_most / (planes * rows)) [[unlikely]]
    detail::throw_too_long();
}

template <class Sched, loop_index Index, std::size_t Dimensions, class Stop, class Fn>
void run_tiles(Stop& stop, Index const (&sizes)[Dimensions], Fn& f) {
  auto const size = [&sizes](std::size_t d) {
    return sizes[d] > Index{0} ? detail::checked_length(sizes[d]) : std::size_t{0};
  };
  detail::check_grid(Dimensions == 2 ? 1 : size(0), size(Dimensions - 2), size(Dimensions - 1));
  if constexpr (Dimensions == 2) {
    tile_piece<2, Index, body_of<Fn, Index&, Index&>> piece{detail::grid_of(1, size(0), size(1)), {f}};
    detail::run_pieces<Sched>(0, piece.grid.last, piece, stop);
  } else {
    tile_piece<3, Index, body_of<Fn, Index&, Index&, Index&>> piece{detail::grid_of(size(0), size(1), size(2)), {f}};
    detail::run_pieces<Sched>(0, piece.grid.last, piece, stop);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
