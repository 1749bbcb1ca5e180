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
  bool is_ordered = false;  // so far, mostly several elements of one input in a row

  FILCH_INLINE void run(std::size_t first, std::size_t last) {
    Out to = detail::iterator_after(out, first);
    std::size_t left = last - first;
    while (left != 0 && i != end && j != end2) {
      std::size_t const steps = std::min({left, end - i, end2 - j});  // neither input ends within them
      if constexpr (is_branchless && AsksForBlocks) {
        if (steps < k_few && left >= k_many) {
          if (std::size_t const n = std::min(left, end - i); n >= k_many) {
            left -= take_many_of_first(to, n);
            continue;
          }
          if (std::size_t const n = std::min(left, end2 - j); n >= k_many) {
            left -= take_many_of_second(to, n);
            continue;
          }
        }
      }
      merge_some(to, steps);
      left -= steps;
    }
    if (left == 0) return;
    if (i != end) {
      Iterator from = detail::iterator_after(begin, i);
      take_some(from, to, left);
      i += left;
    } else {
      Iterator2 from2 = detail::iterator_after(begin2, j);
      take_some(from2, to, left);
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
  // A merge without branches that depend on elements: those cost more than a move where they are predicted wrong.
  static constexpr bool is_branchless = moves_always<Iterator> && moves_always<Iterator2> && points_to_values<Out> &&
                                        std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Iterator2>> &&
                                        std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Out>>;
  static constexpr std::size_t k_many = 32;
  static constexpr std::size_t k_few = 8;
  static constexpr std::size_t k_in_a_row = 4;  // on average, in an order that branches predict

  /// The next element of each input, and its place in the output.
  struct front {
    Iterator from;
    Iterator2 from2;
    Out to;
  };
  template <class From> FILCH_INLINE static void take(From& from, Out& to) {
    if constexpr (Moves) {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(std::ranges::iter_move(from));
    } else {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(*from);
    }
    ++to;
    ++from;
  }
  template <class From> static void take_some(From& from, Out& to, std::size_t n) {
    if constexpr (points_to_values<From> && points_to_values<Out> &&
                  std::is_same_v<std::iter_value_t<From>, std::iter_value_t<Out>> &&
                  std::is_trivially_copyable_v<std::iter_value_t<From>>) {
      From const end = detail::iterator_after(from, n);
      if constexpr (Moves) {
        to = std::move(from, end, to);
      } else {
        to = std::copy(from, end, to);
      }
      from = end;
    } else {
      for (; n != 0; --n) take(from, to);
    }
  }

  /// An input of few elements beside one of many, as in an almost sorted range: takes up to n of the many, as far as
  /// the next of the few, and that one. Returns how many it took.
  template <class Many, class Few, class IsBefore>
  FILCH_INLINE static std::size_t take_many(Many from, Few few, Out& to, std::size_t n, std::size_t& of_many,
                                            std::size_t& of_few, IsBefore const& is_before) {
    std::size_t low = 0;
    for (std::size_t high = n; low < high;) {  // those at the end first: mostly all are before
      std::size_t const middle = high == n ? n - 1 : low + (high - low) / 2;
      if (is_before(detail::iterator_after(from, middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    take_some(from, to, low);
    of_many += low;
    if (low == n) return n;
    take(few, to);
    ++of_few;
    return low + 1;
  }
  FILCH_OUTLINE std::size_t take_many_of_first(Out& to, std::size_t n) {
    Iterator2 const few = detail::iterator_after(begin2, j);
    return take_many(detail::iterator_after(begin, i), few, to, n, i, j,
                     [&](Iterator const& x) { return !less.second_is_less(x, few); });
  }
  FILCH_OUTLINE std::size_t take_many_of_second(Out& to, std::size_t n) {
    Iterator const few = detail::iterator_after(begin, i);
    return take_many(detail::iterator_after(begin2, j), few, to, n, j, i,
                     [&](Iterator2 const& y) { return less.second_is_less(few, y); });
  }

  /// Returns whether the element was of the second input.
  FILCH_INLINE bool step_without_branch(front& at) const {
    bool const is_second = less.second_is_less(at.from, at.from2);
    auto const* const source = is_second ? std::to_address(at.from2) : std::to_address(at.from);
    *at.to = *source;
    at.from2 += is_second;
    at.from += !is_second;
    ++at.to;
    return is_second;
  }
  FILCH_INLINE void merge_without_branches(front& at, std::size_t n) const {
    for (; n != 0; --n) static_cast<void>(step_without_branch(at));
  }
  /// Merges 2 * half elements as two merges at once: a step waits for the one before in the same merge alone. Returns
  /// false, and `at` is as it was, if the comparator contradicts itself.
  FILCH_INLINE bool merge_two_halves(front& at, std::size_t half) {
    std::size_t const n = detail::elements_of_first(half, at.from, half, at.from2, half, less);
    front lower = at;
    front upper{detail::iterator_after(at.from, n), detail::iterator_after(at.from2, half - n),
                detail::iterator_after(at.to, half)};
    Iterator const middle = upper.from;
    std::size_t changes = 0;
    bool was_second = false;
    for (std::size_t left = half; left != 0; --left) {
      bool const is_second = step_without_branch(lower);
      changes += is_second != was_second;
      was_second = is_second;
      static_cast<void>(step_without_branch(upper));
    }
    if (lower.from != middle) return false;
    at = upper;
    is_ordered = changes * k_in_a_row < half;
    return true;
  }
  FILCH_INLINE void merge_with_branches(front& at, std::size_t n) {
    std::size_t changes = 0;
    bool was_second = false;
    for (std::size_t left = n; left != 0; --left) {
      bool const is_second = less.second_is_less(at.from, at.from2);
      if (is_second) {
        take(at.from2, at.to);
      } else {
        take(at.from, at.to);
      }
      changes += is_second != was_second;
      was_second = is_second;
    }
    is_ordered = changes * k_in_a_row < n;
  }
  /// Neither input ends within n elements.
  FILCH_INLINE void merge_some(Out& to, std::size_t steps) {
    front at{detail::iterator_after(begin, i), detail::iterator_after(begin2, j), to};
    if constexpr (!is_branchless) {
      for (; steps != 0; --steps) {
        if (less.second_is_less(at.from, at.from2)) {
          take(at.from2, at.to);
        } else {
          take(at.from, at.to);
        }
      }
    } else if constexpr (!AsksForBlocks) {
      merge_without_branches(at, steps);
    } else {
      while (steps != 0) {
        std::size_t const n = std::min(steps, 2 * k_many);
        steps -= n;
        if (!is_ordered) {
          std::size_t const half = n < k_many ? 0 : n / 2;
          bool const is_done = half != 0 && merge_two_halves(at, half);
          merge_without_branches(at, is_done ? n % 2 : n);
        } else if (n >= k_few && !less.second_is_less(detail::iterator_after(at.from, n - 1), at.from2)) {
          take_some(at.from, at.to, n);
        } else if (n >= k_few && less.second_is_less(at.from, detail::iterator_after(at.from2, n - 1))) {
          take_some(at.from2, at.to, n);
        } else {
          merge_with_branches(at, n);
        }
      }
    }
    i = detail::length_of(begin, at.from);
    j = detail::length_of(begin2, at.from2);
    to = at.to;
  }
};

/// Merges in parallel, unless there are so few elements that the loop engine would cost more.
template <class Sched, bool Moves, bool AsksForBlocks, class Stop, class Iterator, class Iterator2, class Out,
          class Less>
void merge_to(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Out const& out, std::size_t room,
              Less const& less, bool is_ordered = false) {
  constexpr std::size_t k_few = 1024;
  merging_piece<Iterator, Iterator2, Out, Less, Moves, AsksForBlocks> piece{
      in.first, in2.first, out, less, 0, in.length, 0, in2.length, is_ordered};
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
