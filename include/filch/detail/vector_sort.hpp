// Parts of sorts of numbers by Highway's vqsort, in programs that link filch::highway_sort.
#pragma once

#include <filch/detail/ordering.hpp>

#if defined(FILCH_WITH_HIGHWAY)
#if !__has_include(<hwy/contrib/sort/vqsort.h>)
#error "filch: filch::highway_sort (FILCH_WITH_HIGHWAY) needs Highway's headers, Debian's libhwy-dev for example"
#endif
#include <hwy/contrib/sort/vqsort.h>

#include <cstdint>
#endif

namespace filch::inline FILCH_ABI::detail {

template <class Iterator, class Less> inline constexpr bool has_vector_sort = false;
template <class Less> inline constexpr bool is_order_descending = false;
template <class Type, class Comp, class Proj>
bool sort_vectors(Type* first, std::size_t n, order<Type*, Comp, Proj> const&, bool may_have_nan);

#if defined(FILCH_WITH_HIGHWAY)
template <class Type, class... Types> inline constexpr bool is_one_of = (std::is_same_v<Type, Types> || ...);
template <class Comp, class Type>
inline constexpr bool is_ascending = is_one_of<Comp, std::ranges::less, std::less<>, std::less<Type>>;
template <class Comp, class Type>
inline constexpr bool is_descending = is_one_of<Comp, std::ranges::greater, std::greater<>, std::greater<Type>>;

/// Its keys, in an order that it has.
template <class Type, class Comp>
inline constexpr bool has_vector_sort<Type*, order<Type*, Comp, std::identity>> =
    is_one_of<Type, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float,
              double> &&
    (is_ascending<std::remove_const_t<Comp>, Type> || is_descending<std::remove_const_t<Comp>, Type>);

template <class Type, class Comp>
inline constexpr bool is_order_descending<order<Type*, Comp, std::identity>> =
    is_descending<std::remove_const_t<Comp>, Type>;

/// Sorts n numbers. Does nothing and returns false if a NaN is among them: vqsort would leave its range.
template <class Type, class Comp, class Proj>
bool sort_vectors(Type* first, std::size_t n, order<Type*, Comp, Proj> const&, bool may_have_nan) {
  if constexpr (std::is_floating_point_v<Type>) {
    bool has_nan = false;
    for (std::size_t i = 0; may_have_nan && i != n; ++i) has_nan |= first[i] != first[i];
    if (has_nan) return false;
  }
  hwy::Sorter const sorter;
  if constexpr (is_ascending<std::remove_const_t<Comp>, Type>) {
    sorter(first, n, hwy::SortAscending());
  } else {
    sorter(first, n, hwy::SortDescending());
  }
  return true;
}
#endif

}  // namespace filch::inline FILCH_ABI::detail
