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
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
std::size_t is_heap_until(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  std::size_t const found = detail::find_unordered_child<Sched, false>(stop, in, comp, proj);
  return found == k_not_found ? in.length : found + 1;
}
template <class Sched, class Stop, class Iterator, class Comp = std::ranges::less, class Proj = std::identity>
bool is_heap(Stop& stop, input<Iterator> const& in, Comp&& comp = Comp{}, Proj&& proj = Proj{}) {
  return detail::find_unordered_child<Sched, true>(stop, in, comp, proj) == k_not_found;
}

template <class Sched, class Stop, class Iterator, class Iterator2, class Comp, class Proj, class Proj2>
bool lexicographical_compare(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Comp& comp,
                             Proj& proj, Proj2& proj2) {
  auto const are_equivalent = [&comp](auto&& x, auto&& y) {
    return !static_cast<bool>(detail::call_with(comp, x, y)) && !static_cast<bool>(detail::call_with(comp, y, x));
  };
  std::size_t const n = std::min(in.length, in2.length);
  std::size_t const at = detail::find_mismatch<Sched>(stop, in, in2, are_equivalent, proj, proj2);
  if (stop.was_seen() || at == n) return in.length < in2.length;
  return static_cast<bool>(
      detail::call_with(comp, detail::call_with(proj, *in.at(at)), detail::call_with(proj2, *in2.at(at))));
}

}  // namespace detail

/// The end of the longest heap that begins at first: no parent is less than its child, by comp of their projections.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::ranges::less, class Proj = std::identity>
Iterator is_heap_until(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::is_heap_until<Sched>(never, in, comp, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::ranges::less,
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
  return detail::run_stoppable<1, detail::defaults<std::ranges::less, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(in.at(detail::is_heap_until<Sched>(stop, in, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Is [first, last) a heap?
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::ranges::less, class Proj = std::identity>
bool is_heap(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::is_heap<Sched>(never, in, comp, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::ranges::less,
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
  return detail::run_stoppable<1, detail::defaults<std::ranges::less, std::identity>>(
      token, [](auto& stop, auto const& in, auto... fn) { return detail::is_heap<Sched>(stop, in, fn...); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Does [first, last) come before [first2, last2) in the order of words? Complexity: 2 calls of comp for each pair of
/// elements up to the first that differ.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Comp = std::ranges::less,
          class Proj = std::identity, class Proj2 = std::identity>
bool lexicographical_compare(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Comp comp = {},
                             Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::lexicographical_compare<Sched>(never, in, detail::input_of(first2, last2), comp, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Comp = std::ranges::less, class Proj = std::identity, class Proj2 = std::identity>
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
  return detail::run_stoppable<2, detail::defaults<std::ranges::less, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto comp, auto proj, auto proj2) {
        return detail::lexicographical_compare<Sched>(stop, in, in2, comp, proj, proj2);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
