// for_index over two and three dimensions.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/tiles.hpp>

#include <type_traits>

namespace filch::inline FILCH_ABI {

/// The sizes of a grid of indices, the slowest dimension first: `extents{rows, columns}`, `extents{planes, rows,
/// columns}`. Sizes are integers; those of several types get their common one. A negative one is 0.
template <detail::loop_index Index, std::size_t Dimensions> struct extents {
  static_assert(Dimensions == 2 || Dimensions == 3);
  Index sizes[Dimensions]{};

  constexpr extents() noexcept = default;
  template <detail::loop_index... Sizes>
    requires(sizeof...(Sizes) == Dimensions &&
             (std::is_same_v<Index, std::common_type_t<Sizes...>> || ((sizeof(Sizes) <= sizeof(Index)) && ...)))
  constexpr extents(Sizes... n) noexcept : sizes{(n > Sizes{0} ? static_cast<Index>(n) : Index{0})...} {}
};
template <detail::loop_index Index, detail::loop_index... More>
extents(Index, More...) -> extents<std::common_type_t<Index, More...>, 1 + sizeof...(More)>;

/// Calls f(row, column), or f(plane, row, column), for every index of a grid: each from 0 to below its size.
///
/// The grid is halved along its longer side until a tile has at most 32768 indices. So a part of the loop is a
/// compact part of the grid, and a large cache holds some tiles (a cache-oblivious order: M. Frigo et al., FOCS
/// 1999). Rows of up to 4096 indices are not cut: memory is read fastest in long rows. In a row of a tile the last
/// index ascends. The order of tiles is unspecified. A negative size counts as 0.
///
/// Exceptions, pool, thread and f: as in `for_index`; "lowest" means the earliest in the order of tiles. Throws
/// std::length_error if the sizes multiplied are 2^63 or more. Cost: that of `for_index`, and a search of the next
/// tile for each tile.
template <scheduler Sched = default_scheduler, detail::loop_index Index, std::size_t Dimensions, class Fn>
void for_index(extents<Index, Dimensions> const& grid, Fn&& f) {
  detail::never_stopped never;
  detail::run_tiles<Sched>(never, grid.sizes, f);
}
/// The same until a stop is requested of `token`. Returns true if every iteration ran.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, detail::loop_index Index,
          std::size_t Dimensions, class Fn>
bool for_index(Token const& token, extents<Index, Dimensions> const& grid, Fn&& f) {
  detail::stop_request stop(token);
  detail::run_tiles<Sched>(stop, grid.sizes, f);
  return !stop.was_seen();
}

}  // namespace filch::inline FILCH_ABI
