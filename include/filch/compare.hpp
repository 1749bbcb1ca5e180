// is_heap, is_heap_until, lexicographical_compare: the rules of find.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/ordering.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Is the parent of the element behind a position less than it?
template <class Iterator, class Less> struct unordered_child {
  using value = bool;
  Iterator begin;
  Less less;
  template <class Pred> FILCH_INLINE std::size_t first_where(std::size_t first, std::size_t last, Pred pred) const {
    for (; first != last; ++first) {
      if (pred(less(*detail::iterator_after(begin, first / 2), *detail::iterator_after(begin, first + 1)))) break;
    }
    return first;
  }
};
template <class Sched, bool Any, class Stop, class Iterator, class Comp, class Proj>
std::size_t find_unordered_child(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  if (in.length < 2) return k_not_found;
  auto const less = detail::order_of<Iterator>(comp, proj);
  return detail::find_position<Sched, Any>(
      stop, unordered_child<Iterator, std::remove_const_t<decltype(less)>>{in.first, less}, in.length - 1);
}
template <class Sched, class Stop, class Iterator, class Comp = std::less<>, class Proj = std::identity>
std::size_t is_heap_until(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  std::size_t const found = detail::find_unordered_child<Sched, false>(stop, in, comp, proj);
  return found == k_not_found ? in.length : found + 1;
}
template <class Sched, class Stop, class Iterator, class Comp = std::less<>, class Proj = std::identity>
bool is_heap(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return detail::find_unordered_child<Sched, true>(stop, in, comp, proj) == k_not_found;
}

/// Finds the lowest pair of elements of which one is less than the other, and keeps which one.
template <class Iterator, class Iterator2, class Comp, class Proj, class Proj2> struct comparing_piece {
  Iterator first;
  Iterator2 first2;
  Comp& comp;
  Proj& proj;
  Proj2& proj2;
  std::size_t begin = 0;
  std::size_t end = 0;    // the pairs of [begin, end) have run, and none of their elements is less
  bool is_found = false;  // is that at `end` the pair?
  bool is_less = false;   // is its first element less?

  FILCH_INLINE bool run(std::size_t from, std::size_t last) {
    Iterator const begun = detail::iterator_after(first, from);
    Iterator const ended = detail::iterator_after(first, last);
    Iterator2 j = detail::iterator_after(first2, from);
    Iterator i = begun;
    bool less = false;
    for (; i != ended; ++i, static_cast<void>(++j)) {
      if (differ(*i, *j, less)) break;
    }
    is_found = i != ended;
    is_less = less;
    end = from + static_cast<std::size_t>(i - begun);
    return !is_found;
  }
  comparing_piece split(std::size_t middle, std::size_t) const {
    return {first, first2, comp, proj, proj2, middle, middle};
  }
  void merge(comparing_piece const& upper) noexcept {
    if (is_found || end != upper.begin) return;
    end = upper.end;
    is_found = upper.is_found;
    is_less = upper.is_less;
  }
  void abandon(comparing_piece const& upper) noexcept { merge(upper); }

 private:
  /// Elements, and their projections, live for both calls.
  FILCH_INLINE bool differ(std::iter_reference_t<Iterator>&& x, std::iter_reference_t<Iterator2>&& y,
                           bool& less) const {
    return differ_projected(detail::call_with(proj, static_cast<std::iter_reference_t<Iterator>&&>(x)),
                            detail::call_with(proj2, static_cast<std::iter_reference_t<Iterator2>&&>(y)), less);
  }
  template <class Key, class Key2> FILCH_INLINE bool differ_projected(Key&& x, Key2&& y, bool& less) const {
    less = static_cast<bool>(detail::call_with(comp, x, y));
    return less || static_cast<bool>(detail::call_with(comp, y, x));
  }
};
template <class Sched, class Stop, class Iterator, class Iterator2, class Comp, class Proj, class Proj2>
bool lexicographical_compare(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Comp& comp,
                             Proj& proj, Proj2& proj2) {
  comparing_piece<Iterator, Iterator2, Comp, Proj, Proj2> piece{in.first, in2.first, comp, proj, proj2};
  detail::run_pieces<Sched>(0, std::min(in.length, in2.length), piece, stop);
  if (!piece.is_found) return in.length < in2.length;
  stop.forget();
  return piece.is_less;
}

}  // namespace detail

/// The end of the longest heap that begins at first: no parent is less than its child, by comp of their projections.
/// Complexity: at most n - 1 calls of comp.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator is_heap_until(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::is_heap_until<Sched>(never, in, comp, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> is_heap_until(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::is_heap_until<Sched>(never, in, comp, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto is_heap_until(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(in.at(detail::is_heap_until<Sched>(stop, in, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Is [first, last) a heap? Complexity: at most n - 1 calls of comp; no stretch begins after a child that is greater
/// than its parent.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
bool is_heap(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::is_heap<Sched>(never, in, comp, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
bool is_heap(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::is_heap<Sched>(never, in, comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
std::optional<bool> is_heap(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token, [](auto& stop, auto const& in, auto... fn) { return detail::is_heap<Sched>(stop, in, fn...); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Does [first, last) come before [first2, last2) in the order of words? Complexity: 2 calls of comp for each pair of
/// elements up to the first that differ.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool lexicographical_compare(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Comp comp = {},
                             Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::lexicographical_compare<Sched>(never, in, detail::input_of(first2, last2), comp, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Comp = std::less<>, class Proj = std::identity, class Proj2 = std::identity>
bool lexicographical_compare(Range&& range, Range2&& range2, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::lexicographical_compare<Sched>(never, in, detail::input_of(range2), comp, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto lexicographical_compare(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                             Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::less<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto comp, auto proj, auto proj2) {
        return detail::lexicographical_compare<Sched>(stop, in, in2, comp, proj, proj2);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
