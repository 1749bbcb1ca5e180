// Moves elements within a range, whether they are objects in memory or not. For filters in place and for merges.
#pragma once

#include <filch/detail/ranges.hpp>
#include <filch/detail/standard.hpp>
#include <filch/detail/stopping.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// Are elements objects in memory, and no tuples of references, and can std::rotate use the iterator?
template <class Iterator>
inline constexpr bool has_elements_in_memory =
    std::is_lvalue_reference_v<std::iter_reference_t<Iterator>> && requires {
      requires std::derived_from<typename std::iterator_traits<Iterator>::iterator_category,
                                 std::forward_iterator_tag>;
    };

/// Moves [first, last) to `to`, which is below.
template <class Iterator> void move_down(Iterator first, Iterator const& last, Iterator to) {
  if constexpr (has_elements_in_memory<Iterator>) {
    std::move(first, last, to);
  } else {
    for (; first != last; ++first, static_cast<void>(++to)) *to = std::ranges::iter_move(first);
  }
}
/// The same until a stop is requested.
template <class Stop, class Iterator>
void move_down_unless_stopped(Stop& stop, Iterator first, Iterator const& last, Iterator to) {
  constexpr std::size_t k_between_looks = 1024;
  if constexpr (std::is_same_v<Stop, never_stopped>) {
    detail::move_down(first, last, to);
  } else {
    while (first != last && !stop.is_requested()) {
      std::size_t const n = std::min(k_between_looks, detail::length_of(first, last));
      Iterator const next = detail::iterator_after(first, n);
      detail::move_down(first, next, to);
      to = detail::iterator_after(to, n);
      first = next;
    }
  }
}
/// Exchanges [first, middle) and [middle, last), and keeps the order in both.
template <class Iterator> void rotate(Iterator const& first, Iterator const& middle, Iterator const& last) {
  if constexpr (has_elements_in_memory<Iterator>) {
    std::rotate(first, middle, last);
  } else {
    auto const reverse = [](Iterator i, Iterator j) {
      while (i < j && i < --j) std::ranges::iter_swap(i++, j);
    };
    reverse(first, middle);
    reverse(middle, last);
    reverse(first, last);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
