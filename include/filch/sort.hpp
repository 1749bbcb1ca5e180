// Sorts.
//
// Rules for all of them. The range is sized and has random access. Elements are ordered by comp(proj(x), proj(y)): a
// projection sorts by a key. Work is given away on demand, as `filch::for_index` documents: that page has the rules
// for the pool and the thread. Each part costs a look for waiting workers. Several workers call comp and proj at
// once. If one of them throws, its exception leaves, and the elements are in any order. A comp that is no strict weak
// order gives any order, but never a memory error. A form with a stop token as its first argument returns false if a
// stop was requested before the end: the elements are in any order then. Workers look for a stop between parts.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/mergesort.hpp>
#include <filch/detail/selecting.hpp>

namespace filch::inline FILCH_ABI {

/// Sorts [first, last). Returns its end. Equal elements are in any order. No element is lost, also after an exception
/// or a stop, unless its own move or a swap throws.
///
/// A quicksort in place; on one worker it is the serial one. Complexity: O(n log n) calls of comp for every input and
/// every comp, n - 1 if the elements are sorted, or if over 32 are sorted the other way round and none are equal. If
/// a quarter of them or more are in order, only the others are sorted, and merged with those: that allocates as many
/// elements as are out of order. Else, and without memory, nothing is allocated.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator sort(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::sort<Sched>(never, in, comp, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> sort(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::sort<Sched>(never, in, comp, proj);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
bool sort(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token, [](auto& stop, auto const& in, auto comp, auto proj) { detail::sort<Sched>(stop, in, comp, proj); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// `sort` that keeps the order of equal elements. Returns the end.
///
/// A merge sort with a buffer of n elements. Without memory for it: rotations, O(n log(n)^2) moves. Numbers in an
/// order of the standard's are sorted as by `sort`, unless zeros of both signs may be among them. Complexity: O(n log
/// n) calls of comp, n - 1 if the elements are sorted, or if over 32 are sorted the other way round and none are
/// equal. After an exception or a stop some elements have the values of moved-from elements.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator stable_sort(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::stable_sort<Sched>(never, in, comp, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> stable_sort(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::stable_sort<Sched>(never, in, comp, proj);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
bool stable_sort(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto comp, auto proj) { detail::stable_sort<Sched>(stop, in, comp, proj); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Puts the element at `nth` in the place that it has in the sorted range, no greater ones below it, and no smaller
/// ones above it. Returns the end. Nothing happens if nth is the end.
///
/// Partitions as `sort` does. Complexity: O(n) calls of comp on average, O(n log n) at worst. Allocates nothing.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator nth_element(Iterator first, Iterator nth, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::nth_element<Sched>(never, in, detail::length_of(first, nth), comp, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Range> nth_element(Range&& range, std::ranges::iterator_t<Range> nth, Comp comp = {},
                                                    Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::nth_element<Sched>(never, in, detail::length_of(in.first, nth), comp, proj);
  return in.end();
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Comp = std::less<>, class Proj = std::identity>
bool nth_element(Token const& token, Iterator first, Iterator nth, Sentinel last, Comp comp = {}, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::nth_element<Sched>(stop, detail::input_of(first, last), detail::length_of(first, nth), comp, proj);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
bool nth_element(Token const& token, Range&& range, std::ranges::iterator_t<Range> nth, Comp comp = {},
                 Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(range);
    detail::nth_element<Sched>(stop, in, detail::length_of(in.first, nth), comp, proj);
  });
}

/// Puts the least elements of [first, last) in order in [first, middle), and the others in any order behind them.
/// Returns the end.
///
/// `nth_element` and `sort`. Complexity: O(n + k log k) calls of comp for k sorted elements on average, O(n log n) at
/// worst. Allocates as `sort` does.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator partial_sort(Iterator first, Iterator middle, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::partial_sort<Sched>(never, in, detail::length_of(first, middle), comp, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Range> partial_sort(Range&& range, std::ranges::iterator_t<Range> middle,
                                                     Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::partial_sort<Sched>(never, in, detail::length_of(in.first, middle), comp, proj);
  return in.end();
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Comp = std::less<>, class Proj = std::identity>
bool partial_sort(Token const& token, Iterator first, Iterator middle, Sentinel last, Comp comp = {},
                  Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::partial_sort<Sched>(stop, detail::input_of(first, last), detail::length_of(first, middle), comp, proj);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
bool partial_sort(Token const& token, Range&& range, std::ranges::iterator_t<Range> middle, Comp comp = {},
                  Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(range);
    detail::partial_sort<Sched>(stop, in, detail::length_of(in.first, middle), comp, proj);
  });
}

/// Copies the least elements of [first, last) to [out, out_last) in order, as many as it has room for. Returns the
/// ends of the input and of what was written.
///
/// Complexity: n calls of comp, and O(log k) for each element that is among the k least ones so far. Each piece given
/// away allocates k elements; without memory they are read when it ends. None is given away where elements do not
/// convert to the output's value type.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::partial_sort_copy_result<Iterator, Out> partial_sort_copy(Iterator first, Sentinel last, Out out,
                                                                       OutSentinel out_last, Comp comp = {},
                                                                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const to = detail::input_of(out, out_last);
  return {in.end(), to.at(detail::partial_sort_copy<Sched>(never, in, to, comp, proj, proj2))};
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Comp = std::less<>, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::partial_sort_copy_result<std::ranges::borrowed_iterator_t<Range>,
                                      std::ranges::borrowed_iterator_t<OutRange>>
partial_sort_copy(Range&& range, OutRange&& out, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  return {in.end(), to.at(detail::partial_sort_copy<Sched>(never, in, to, comp, proj, proj2))};
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
bool partial_sort_copy(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                       Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::less<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& to, auto comp, auto proj, auto proj2) {
        static_cast<void>(detail::partial_sort_copy<Sched>(stop, in, to, comp, proj, proj2));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
