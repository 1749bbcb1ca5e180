// What algorithms take: ranges and iterator pairs that are sized and have random access. A piece reaches the elements
// of its positions through `elements` or `element_pairs`.
#pragma once

#include <filch/detail/body.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {

/// A range that can be split at any position in constant time. All algorithms want it of their inputs. A range
/// without random access, such as a list, can be traversed by one worker only: use the standard's algorithm.
template <class Range>
concept sized_random_access_range = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

/// The end of a pair of iterators that can be split at any position in constant time.
template <class Sentinel, class Iterator>
concept sized_random_access_end =
    std::random_access_iterator<Iterator> && std::sized_sentinel_for<Sentinel, Iterator>;

namespace detail {

/// The iterator `n` positions after `first`.
template <class Iterator> FILCH_INLINE Iterator iterator_after(Iterator const& first, std::size_t n) {
  return first + static_cast<std::iter_difference_t<Iterator>>(n);
}
/// The number of elements of [first, last). None if it is reversed.
template <class Iterator, class Sentinel>
FILCH_INLINE std::size_t length_of(Iterator const& first, Sentinel const& last) {
  auto const n = last - first;
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}
template <class Range> FILCH_INLINE std::size_t length_of(Range& range) {
  return static_cast<std::size_t>(std::ranges::size(range));
}

template <class Range>
concept is_identity = std::same_as<std::remove_cvref_t<Range>, std::identity>;

/// The elements from `begin` on, through a function.
template <class Iterator, class Fn> struct elements {
  using value = std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>>;
  Iterator begin;
  [[no_unique_address]] body_of<Fn, std::iter_reference_t<Iterator>> f;

  elements(Iterator const& i, Fn& fn) : begin(i), f{fn} {}

  FILCH_INLINE decltype(auto) at(std::size_t position) const { return f(*detail::iterator_after(begin, position)); }
  /// Calls g with each value of [first, last), in order.
  template <class G> FILCH_INLINE void each(std::size_t first, std::size_t last, G g) const {
    Iterator const end = detail::iterator_after(begin, last);
    for (Iterator i = detail::iterator_after(begin, first); i != end; ++i) g(f(*i));
  }
  /// The first position of [first, last) whose value pred takes; else last.
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    Iterator i = detail::iterator_after(begin, first);
    for (; first != last; ++first, ++i) {
      if (pred(f(*i))) break;
    }
    return first;
  }
};

/// The pairs of elements of two ranges, through a function of two arguments.
template <class Iterator, class Iterator2, class Fn> struct element_pairs {
  using value = std::invoke_result_t<Fn&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>>;
  Iterator begin;
  Iterator2 begin2;
  [[no_unique_address]] body_of<Fn, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> f;

  element_pairs(Iterator const& i, Iterator2 const& j, Fn& fn) : begin(i), begin2(j), f{fn} {}

  FILCH_INLINE decltype(auto) at(std::size_t position) const {
    return f(*detail::iterator_after(begin, position), *detail::iterator_after(begin2, position));
  }
  template <class G> FILCH_INLINE void each(std::size_t first, std::size_t last, G g) const {
    Iterator const end = detail::iterator_after(begin, last);
    Iterator2 j = detail::iterator_after(begin2, first);
    for (Iterator i = detail::iterator_after(begin, first); i != end; ++i, ++j) g(f(*i, *j));
  }
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    Iterator i = detail::iterator_after(begin, first);
    Iterator2 j = detail::iterator_after(begin2, first);
    for (; first != last; ++first, ++i, ++j) {
      if (pred(f(*i, *j))) break;
    }
    return first;
  }
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
