// Merges of filch::std_par. C++17.
#pragma once

#include <filch/detail/std_par/loops.hpp>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {

/// Shorter merges are not split. They take some microseconds.
inline constexpr std::size_t k_longest_merge = 2048;

/// The first of [first, first + n) for which is_above() is true; it is false for those before.
template <class Iterator, class Predicate>
Iterator first_above(Iterator first, std::size_t n, Predicate const& is_above) {
  while (n != 0) {
    std::size_t const half = n / 2;
    Iterator const middle = std_par::advanced(first, half);
    if (is_above(*middle)) {
      n = half;
    } else {
      first = std_par::advanced(middle, 1);
      n -= half + 1;
    }
  }
  return first;
}

/// Merges two sorted ranges: each piece by leaf(first1, last1, first2, last2, out). Stable.
template <class First, class Second, class Out, class Compare, class Leaf>
void merge_ranges(scheduler_calls const& calls, First first1, First last1, Second first2, Second last2, Out out,
                  Compare& less, Leaf const& leaf) noexcept {
  std::size_t const n1 = std_par::distance_of(first1, last1);
  std::size_t const n2 = std_par::distance_of(first2, last2);
  if (n1 + n2 <= k_longest_merge) {
    leaf(first1, last1, first2, last2, out);
    return;
  }
  First middle1 = first1;
  Second middle2 = first2;
  // Equal elements of the first range come before those of the second one.
  if (n1 < n2) {
    middle2 = std_par::advanced(first2, n2 / 2);
    middle1 = std_par::first_above(first1, n1, [&](auto&& x) -> bool { return less(*middle2, x); });
  } else {
    middle1 = std_par::advanced(first1, n1 / 2);
    middle2 = std_par::first_above(first2, n2, [&](auto&& x) -> bool { return !less(x, *middle1); });
  }
  Out const middle =
      std_par::advanced(out, std_par::distance_of(first1, middle1) + std_par::distance_of(first2, middle2));
  std_par::fork(
      calls, [&] { std_par::merge_ranges(calls, first1, middle1, first2, middle2, out, less, leaf); },
      [&] { std_par::merge_ranges(calls, middle1, last1, middle2, last2, middle, less, leaf); });
}

/// Moves sorted elements from two ranges: `put(out, in)` moves one. Stable.
template <class In, class Out, class Compare, class Put>
void move_merged(In first1, In last1, In first2, In last2, Out out, Compare& less, Put const& put) {
  while (first1 != last1 && first2 != last2) {
    if (less(*first2, *first1)) {
      put(out, first2);
      ++first2;
    } else {
      put(out, first1);
      ++first1;
    }
    ++out;
  }
  for (; first1 != last1; ++first1, ++out) put(out, first1);
  for (; first2 != last2; ++first2, ++out) put(out, first2);
}

}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch
