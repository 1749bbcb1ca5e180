// Loops over grids of two and three dimensions. A row is cut into segments of at most 64 indices. The grid of
// segments is halved along its longer side until a tile has at most 16 of them. The positions of the loop run through
// one segment, one tile and one half after the other, so a part of them is a compact part of the grid.
#pragma once

#include <filch/detail/body.hpp>
#include <filch/detail/lengths.hpp>
#include <filch/detail/pieces.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>

namespace filch::inline FILCH_ABI::detail {

inline constexpr std::size_t k_segment = 64;        // most indices of a segment
inline constexpr std::size_t k_tile_segments = 16;  // most segments of a tile

/// A grid of planes, rows and columns, and how its rows are cut.
struct tiled_grid {
  std::size_t planes;
  std::size_t rows;
  std::size_t columns;
  std::size_t segments;  // number in a row
  std::size_t length;    // length of a segment; the last one of a row may be shorter

  tiled_grid(std::size_t p, std::size_t r, std::size_t c) noexcept
      : planes(p),
        rows(r),
        columns(c),
        segments((c + k_segment - 1) / k_segment),
        length(segments == 0 ? 1 : (c + segments - 1) / segments) {
    segments = (c + length - 1) / length;
  }
  std::size_t positions() const noexcept { return planes * rows * segments * length; }
};

/// A part of a grid: planes, rows and segments from `begin` on.
struct grid_tile {
  std::array<std::size_t, 3> begin;
  std::array<std::size_t, 3> size;
  std::size_t first;  // number of its first segment in the order of the loop

  std::size_t segments() const noexcept { return size[0] * size[1] * size[2]; }
  /// Becomes the half that has the segment of this number.
  void halve(std::size_t length, std::size_t segment) noexcept {
    std::size_t longest = size[2] > 1 ? 2 : size[1] > 1 ? 1 : 0;
    for (std::size_t d : {std::size_t{1}, std::size_t{0}}) {
      if (size[d] > size[longest] * (longest == 2 ? length : 1)) longest = d;
    }
    std::size_t const half = size[longest] / 2;
    std::size_t const below = segments() / size[longest] * half;
    if (segment - first < below) {
      size[longest] = half;
    } else {
      first += below;
      begin[longest] += half;
      size[longest] -= half;
    }
  }
};
/// The tile that has the segment of this number.
inline grid_tile tile_of(tiled_grid const& grid, std::size_t segment) noexcept {
  grid_tile tile{{0, 0, 0}, {grid.planes, grid.rows, grid.segments}, 0};
  while (tile.segments() > k_tile_segments) tile.halve(grid.length, segment);
  return tile;
}

/// Calls f with the indices of each position.
template <std::size_t Dimensions, class Index, class Body> struct tile_piece {
  tiled_grid grid;
  Body f;
  grid_tile tile{};
  std::array<std::size_t, 3> at{};  // plane, row and segment of `next`, in the tile
  std::size_t next = ~std::size_t{0};
  std::size_t offset = 0;  // place of `next` in its segment

  void run(std::size_t first, std::size_t last) {
    if (first != next) seek(first);
    while (first != last) {
      std::size_t const n = std::min(last - first, grid.length - offset);
      run_row(tile.begin[0] + at[0], tile.begin[1] + at[1], (tile.begin[2] + at[2]) * grid.length + offset, n);
      first += n;
      next = first;
      offset += n;
      if (offset == grid.length) next_segment();
    }
  }
  tile_piece split(std::size_t, std::size_t) const { return {grid, f}; }
  void merge(tile_piece&) const noexcept {}

 private:
  FILCH_INLINE void run_row(std::size_t plane, std::size_t row, std::size_t column, std::size_t n) const {
    auto const end = static_cast<Index>(std::min(column + n, grid.columns));
    for (auto c = static_cast<Index>(column); c < end; ++c) {
      if constexpr (Dimensions == 2) {
        static_cast<void>(f(static_cast<Index>(row), Index{c}));
      } else {
        static_cast<void>(f(static_cast<Index>(plane), static_cast<Index>(row), Index{c}));
      }
    }
  }
  /// Goes to a position.
  void seek(std::size_t position) noexcept {
    std::size_t const segment = position / grid.length;
    tile = detail::tile_of(grid, segment);
    std::size_t const n = segment - tile.first;
    at = {n / tile.size[2] / tile.size[1], n / tile.size[2] % tile.size[1], n % tile.size[2]};
    offset = position % grid.length;
  }
  void next_segment() noexcept {
    offset = 0;
    if (++at[2] != tile.size[2]) return;
    at[2] = 0;
    if (++at[1] != tile.size[1]) return;
    at[1] = 0;
    if (++at[0] != tile.size[0]) return;
    if (next != grid.positions()) seek(next);
  }
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
    tiled_grid const grid(1, size(0), size(1));
    tile_piece<2, Index, body_of<Fn, Index, Index>> piece{grid, {f}};
    detail::run_pieces<Sched>(0, grid.positions(), piece, stop);
  } else {
    tiled_grid const grid(size(0), size(1), size(2));
    tile_piece<3, Index, body_of<Fn, Index, Index, Index>> piece{grid, {f}};
    detail::run_pieces<Sched>(0, grid.positions(), piece, stop);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
