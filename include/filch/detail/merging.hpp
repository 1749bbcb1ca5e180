// A merge is a loop over the positions of its output. A split finds by binary search how many elements of each input
// are below the position.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/ordering.hpp>
#include <filch/detail/raw_buffer.hpp>
#include <filch/detail/shifting.hpp>

#include <algorithm>
#include <cstring>

namespace filch::inline FILCH_ABI::detail {

/// comp(proj(x), proj(y)) where x and y may be elements of two ranges, each with a projection: less(x, y) for an x of
/// the first range, and less.swapped(y, x) for a y of the second one.
template <class Iterator, class Iterator2, class Comp, class Proj, class Proj2> struct order_of_two {
  using projected = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  using projected2 = std::invoke_result_t<Proj2&, std::iter_reference_t<Iterator2>>;
  [[no_unique_address]] body_of<Comp, projected, projected2> comp;
  [[no_unique_address]] body_of<Proj, std::iter_reference_t<Iterator>> proj;
  [[no_unique_address]] body_of<Proj2, std::iter_reference_t<Iterator2>> proj2;

  /// Is the element at i less than that at j?
  FILCH_INLINE bool operator()(Iterator const& i, Iterator2 const& j) const {
    return static_cast<bool>(comp(proj(*i), proj2(*j)));
  }
  /// Is the element at j less than that at i?
  FILCH_INLINE bool second_is_less(Iterator const& i, Iterator2 const& j) const {
    return static_cast<bool>(comp(proj2(*j), proj(*i)));
  }
  FILCH_INLINE bool is_less(Iterator const& i, Iterator const& j) const {
    return static_cast<bool>(comp(proj(*i), proj(*j)));
  }
  FILCH_INLINE bool both_second(Iterator2 const& i, Iterator2 const& j) const {
    return static_cast<bool>(comp(proj2(*i), proj2(*j)));
  }
};

/// Do calls of the comparator cost nothing but time? More of them than the caller was promised are not seen then.
template <class Less> inline constexpr bool is_silent_order = false;
template <class Iterator, class Iterator2, class Comp>
  requires points_to_numbers<Iterator> && points_to_numbers<Iterator2> &&
               std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Iterator2>>
inline constexpr bool is_silent_order<order_of_two<Iterator, Iterator2, Comp, std::identity, std::identity>> =
    is_order_of_numbers<std::remove_const_t<Comp>, std::iter_value_t<Iterator>>;

/// How many of the first k elements of a merge are of the first input. It is a number that both inputs have room for,
/// also if comp lies.
template <class Iterator, class Iterator2, class Less>
std::size_t elements_of_first(std::size_t k, Iterator const& first, std::size_t n, Iterator2 const& first2,
                              std::size_t n2, Less const& less) {
  std::size_t low = k > n2 ? k - n2 : 0;
  std::size_t high = std::min(k, n);
  while (low < high) {
    std::size_t const i = low + (high - low) / 2;
    if (less.second_is_less(detail::iterator_after(first, i), detail::iterator_after(first2, k - i - 1))) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  return low;
}

/// Merges two inputs to `out`: copies the elements, or moves them. It may ask for whole blocks of an input, so that
/// there are up to a quarter more calls of the comparator than elements.
template <class Iterator, class Iterator2, class Out, class Less, bool Moves, bool AsksForBlocks>
struct merging_piece {
  Iterator begin;
  Iterator2 begin2;
  Out out;
  [[no_unique_address]] Less less;
  // The elements that are left of each input. Those before them are in the output: i + j is the next position.
  std::size_t i;
  std::size_t end;
  std::size_t j;
  std::size_t end2;

  FILCH_INLINE void run(std::size_t first, std::size_t last) {
    Out to = detail::iterator_after(out, first);
    std::size_t left = last - first;
    while (left != 0 && i != end && j != end2) {
      std::size_t const steps = std::min({left, end - i, end2 - j});  // neither input ends within them
      merge_some(to, steps);
      left -= steps;
    }
    if (left == 0) return;
    if (i != end) {
      take_some(detail::iterator_after(begin, i), to, left);
      i += left;
    } else {
      take_some(detail::iterator_after(begin2, j), to, left);
      j += left;
    }
  }
  merging_piece split(std::size_t middle, std::size_t) {
    std::size_t const k = middle - (i + j);
    std::size_t const n = detail::elements_of_first(k, detail::iterator_after(begin, i), end - i,
                                                    detail::iterator_after(begin2, j), end2 - j, less);
    merging_piece upper(*this);
    upper.i = end = i + n;
    upper.j = end2 = j + (k - n);
    return upper;
  }
  void merge(merging_piece const& upper) noexcept {
    end = upper.end;
    end2 = upper.end2;
  }

 private:
  static constexpr bool is_branchless = moves_always<Iterator> && moves_always<Iterator2> && points_to_values<Out> &&
                                        std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Iterator2>> &&
                                        std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Out>>;
  template <class From> FILCH_INLINE static void take(From const& from, Out& to) {
    if constexpr (Moves) {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(std::ranges::iter_move(from));
    } else {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(*from);
    }
    ++to;
  }
  template <class From> static void take_some(From from, Out& to, std::size_t n) {
    for (; n != 0; --n, static_cast<void>(++from)) take(from, to);
  }
  template <class From> FILCH_INLINE static void take_block(From& from, Out& to, std::size_t n) {
    std::copy_n(from, n, to);
    from += static_cast<std::iter_difference_t<From>>(n);
    to += static_cast<std::iter_difference_t<Out>>(n);
  }
  FILCH_INLINE void merge_some(Out& to, std::size_t steps) {
    Iterator from = detail::iterator_after(begin, i);
    Iterator2 from2 = detail::iterator_after(begin2, j);
    std::size_t const all = steps;
    std::size_t of_second = 0;
    if constexpr (is_branchless) {
      auto const merge_without_branches = [&](std::size_t n) {
        for (; n != 0; --n, static_cast<void>(++to)) {
          bool const is_second = less.second_is_less(from, from2);
          auto const* const source = is_second ? std::to_address(from2) : std::to_address(from);
          *to = *source;
          from2 += is_second;
          from += !is_second;
          of_second += is_second;
        }
      };
      // Inputs of which one lies below the other for long, as those of an almost sorted range, go in blocks.
      constexpr std::size_t k_block = 8;
      for (; AsksForBlocks && steps >= k_block; steps -= k_block) {
        if (!less.second_is_less(from + (k_block - 1), from2)) {
          take_block(from, to, k_block);
        } else if (less.second_is_less(from, from2 + (k_block - 1))) {
          take_block(from2, to, k_block);
          of_second += k_block;
        } else {
          merge_without_branches(k_block);
        }
      }
      merge_without_branches(steps);
    } else {
      for (; steps != 0; --steps) {
        if (less.second_is_less(from, from2)) {
          take(from2, to);
          ++from2;
          ++of_second;
        } else {
          take(from, to);
          ++from;
        }
      }
    }
    i += all - of_second;
    j += of_second;
  }
};

/// Merges in parallel, unless there are so few elements that the loop engine would cost more.
template <class Sched, bool Moves, bool AsksForBlocks, class Stop, class Iterator, class Iterator2, class Out,
          class Less>
void merge_to(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Out const& out, std::size_t room,
              Less const& less) {
  constexpr std::size_t k_few = 1024;
  merging_piece<Iterator, Iterator2, Out, Less, Moves, AsksForBlocks> piece{in.first, in2.first, out, less,
                                                                            0,        in.length, 0,   in2.length};
  std::size_t const n = std::min(room, detail::sum_of_lengths(in.length, in2.length));
  if (n <= k_few && !detail::splits_all()) return stop.is_requested() ? void() : piece.run(0, n);
  detail::run_pieces<Sched>(0, n, piece, stop);
}

/// Moves the elements of a range into a buffer.
template <class Iterator, class Value> struct making_piece {
  Iterator begin;
  raw_buffer<Value> const* buffer;
  void run(std::size_t first, std::size_t last) const {
    for (Iterator i = detail::iterator_after(begin, first); first != last; ++first, static_cast<void>(++i))
      buffer->make(first, std::ranges::iter_move(i));
  }
  making_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(making_piece&) const noexcept {}
};

/// Exchanges [first, middle) and [middle, last), and so on, until both halves are merged. Without memory.
template <class Sched, class Stop, class Iterator, class Less>
void merge_by_rotations(Stop& stop, Iterator const& first, std::size_t n, std::size_t n2, Less const& less) {
  if (n == 0 || n2 == 0 || stop.is_requested()) return;
  Iterator const first2 = detail::iterator_after(first, n);
  if (n + n2 == 2) {
    if (less(*first2, *first)) std::ranges::iter_swap(first, first2);
    return;
  }
  // The halves of the longer part, and what belongs to them of the other one.
  std::size_t low = n / 2;
  std::size_t low2 = n2 / 2;
  auto const lower_bound = [&](Iterator from, std::size_t size, auto const& is_below) {
    while (size != 0) {
      std::size_t const half = size / 2;
      Iterator const at = detail::iterator_after(from, half);
      if (is_below(*at)) {
        from = at + 1;
        size -= half + 1;
      } else {
        size = half;
      }
    }
    return from;
  };
  if (n >= n2) {
    Iterator const cut = detail::iterator_after(first, low);
    low2 = static_cast<std::size_t>(lower_bound(first2, n2, [&](auto&& x) { return less(x, *cut); }) - first2);
  } else {
    Iterator const cut = detail::iterator_after(first2, low2);
    low = static_cast<std::size_t>(lower_bound(first, n, [&](auto&& x) { return !less(*cut, x); }) - first);
  }
  detail::rotate(detail::iterator_after(first, low), first2, detail::iterator_after(first2, low2));
  auto const lower = [&] { detail::merge_by_rotations<Sched>(stop, first, low, low2, less); };
  auto const upper = [&] {
    detail::merge_by_rotations<Sched>(stop, detail::iterator_after(first, low + low2), n - low, n2 - low2, less);
  };
  if (n + n2 < 512 && !detail::splits_all()) return lower(), upper();
  Sched::join(lower, upper);
}

}  // namespace filch::inline FILCH_ABI::detail
