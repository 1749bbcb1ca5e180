// How many iterations a loop has: integers of any width as indices, and lengths that do not fit in a word.
#pragma once

#include <filch/detail/platform.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

// std::integral says no to integers of 128 bits unless the compiler's extensions are on.
template <class Index> inline constexpr bool is_wide_index = false;
template <class Index> struct unsigned_index : std::make_unsigned<Index> {};
#if defined(__SIZEOF_INT128__)
__extension__ using wide_index = __int128;
__extension__ using unsigned_wide_index = unsigned __int128;
template <> inline constexpr bool is_wide_index<wide_index> = true;
template <> inline constexpr bool is_wide_index<unsigned_wide_index> = true;
template <> struct unsigned_index<wide_index> : std::type_identity<unsigned_wide_index> {};
template <> struct unsigned_index<unsigned_wide_index> : std::type_identity<unsigned_wide_index> {};
#endif

/// An integer that a loop can count.
template <class Index>
concept loop_index = (std::integral<Index> && !std::same_as<Index, bool>) || is_wide_index<Index>;

/// The type of the positions of a loop over indices: std::size_t, or wider if the index is.
template <loop_index Index>
using position_of_index =
    std::conditional_t<(sizeof(Index) > sizeof(std::size_t)), typename unsigned_index<Index>::type, std::size_t>;

/// The number of iterations of [first, last), which is not reversed.
template <loop_index Index> FILCH_INLINE position_of_index<Index> iterations_in(Index first, Index last) noexcept {
  using Unsigned = typename unsigned_index<Index>::type;
  return static_cast<position_of_index<Index>>(
      static_cast<Unsigned>(static_cast<Unsigned>(last) - static_cast<Unsigned>(first)));
}
template <loop_index Index> FILCH_INLINE Index iteration_after(Index first, position_of_index<Index> n) noexcept {
  using Unsigned = typename unsigned_index<Index>::type;
  return static_cast<Index>(static_cast<Unsigned>(static_cast<Unsigned>(first) + static_cast<Unsigned>(n)));
}

[[noreturn]] FILCH_COLD inline void throw_too_long() {
  throw std::length_error(
      "filch: a range or grid has more elements than std::size_t counts: use for_index, with indices of 128 bits");
}
/// A size of a range, which must fit in a word. Throws std::length_error.
template <class Size> FILCH_INLINE constexpr std::size_t checked_length(Size size) {
  if constexpr (sizeof(Size) > sizeof(std::size_t)) {
    if (size > static_cast<Size>(std::numeric_limits<std::size_t>::max())) [[unlikely]]
      detail::throw_too_long();
  }
  return static_cast<std::size_t>(size);
}
/// The number of elements of two ranges, or the greatest one that a word counts: no loop comes so far.
FILCH_INLINE constexpr std::size_t sum_of_lengths(std::size_t n, std::size_t n2) noexcept {
  constexpr std::size_t k_most = std::numeric_limits<std::size_t>::max();
  return n2 < k_most - n ? n + n2 : k_most;
}

}  // namespace filch::inline FILCH_ABI::detail
