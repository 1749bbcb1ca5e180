// Merges of sorted ranges.
//
// Rules for all of them. Inputs and outputs are sized and have random access; all inputs are sorted by comp of their
// projections. Work is given away on demand, as `filch::for_index` documents: that page has the rules for exceptions,
// pool, thread and cost. Several workers call comp and the projections at once. The output must not overlap
// with an input. A form with a stop token as its first argument returns false if a stop was requested before the end.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/mergesort.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Sched, class Stop, class Iterator, class Iterator2, class Out, class Comp = std::less<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::pair<std::size_t, std::size_t> merge(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2,
                                          input<Out> const& out, Comp&& comp = Comp{}, Proj&& proj = Proj{},
                                          Proj2&& proj2 = Proj2{}) {
  order_of_two<Iterator, Iterator2, std::remove_reference_t<Comp>, std::remove_reference_t<Proj>,
               std::remove_reference_t<Proj2>> const less{{comp}, {proj}, {proj2}};
  std::pair<std::size_t, std::size_t> ends{in.length, in2.length};
  if (out.length < detail::sum_of_lengths(in.length, in2.length)) {  // before elements may be moved from
    ends.first = detail::elements_of_first(out.length, in.first, in.length, in2.first, in2.length, less);
    ends.second = out.length - ends.first;
  }
  detail::merge_to<scheduler_for<Sched, Out>, false, is_silent_order<std::remove_const_t<decltype(less)>>>(
      stop, in, in2, out.first, out.length, less);
  return ends;
}

}  // namespace detail

/// Merges [first, last) and [first2, last2) to the output from `out` on. Equal elements of the first input come
/// first. Returns the end of the output. Complexity: at most n + m - 1 calls of comp, and 2 log2(n + m) for each
/// piece given away. Allocates nothing.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, std::random_access_iterator Out,
          class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
Out merge(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out, Comp comp = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const in2 = detail::input_of(first2, last2);
  detail::input<Out> const to{out, detail::sum_of_lengths(in.length, in2.length)};
  detail::merge<Sched>(never, in, in2, to, comp);
  return to.end();
}
/// Merges to a bounded output. Returns where it ended in each range.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::merge_result<Iterator, Iterator2, Out> merge(Iterator first, Sentinel last, Iterator2 first2,
                                                          Sentinel2 last2, Out out, OutSentinel out_last,
                                                          Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const in2 = detail::input_of(first2, last2);
  auto const to = detail::input_of(out, out_last);
  auto const [i, j] = detail::merge<Sched>(never, in, in2, to, comp, proj, proj2);
  return {in.at(i), in2.at(j), to.at(i + j)};
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_range OutRange, class Comp = std::less<>, class Proj = std::identity,
          class Proj2 = std::identity>
std::ranges::merge_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<Range2>,
                          std::ranges::borrowed_iterator_t<OutRange>>
merge(Range&& range, Range2&& range2, OutRange&& out, Comp comp = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const in2 = detail::input_of(range2);
  auto const to = detail::input_of(out);
  auto const [i, j] = detail::merge<Sched>(never, in, in2, to, comp, proj, proj2);
  return {in.at(i), in2.at(j), to.at(i + j)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_range OutRange, class... Fn>
bool merge(Token const& token, Range&& range, Range2&& range2, OutRange&& out, Fn... fn) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(
        detail::merge<Sched>(stop, detail::input_of(range), detail::input_of(range2), detail::input_of(out), fn...));
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          std::random_access_iterator Out, class Comp = std::less<>>
  requires(!sized_random_access_end<Comp, Out>)
bool merge(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
           Comp comp = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(first, last);
    auto const in2 = detail::input_of(first2, last2);
    detail::input<Out> const to{out, detail::sum_of_lengths(in.length, in2.length)};
    static_cast<void>(detail::merge<Sched>(stop, in, in2, to, comp));
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class... Fn>
bool merge(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
           OutSentinel out_last, Fn... fn) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(detail::merge<Sched>(stop, detail::input_of(first, last), detail::input_of(first2, last2),
                                           detail::input_of(out, out_last), fn...));
  });
}

/// Merges [first, middle) and [middle, last) in their place. Keeps the order of equal elements. Returns the end.
///
/// Moves all elements to a buffer of n elements and merges them back. Without memory for it: rotations, O(n log n)
/// moves. Complexity: at most n - 1 calls of comp, and 2 log2(n) for each piece given away. After an exception some
/// elements have the values of moved-from elements. A stop ends it before it begins only, or between rotations.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator inplace_merge(Iterator first, Iterator middle, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::inplace_merge<Sched>(never, in, detail::length_of(first, middle), comp, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Range> inplace_merge(Range&& range, std::ranges::iterator_t<Range> middle,
                                                      Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::inplace_merge<Sched>(never, in, detail::length_of(in.first, middle), comp, proj);
  return in.end();
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Comp = std::less<>, class Proj = std::identity>
bool inplace_merge(Token const& token, Iterator first, Iterator middle, Sentinel last, Comp comp = {},
                   Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::inplace_merge<Sched>(stop, detail::input_of(first, last), detail::length_of(first, middle), comp, proj);
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
bool inplace_merge(Token const& token, Range&& range, std::ranges::iterator_t<Range> middle, Comp comp = {},
                   Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(range);
    detail::inplace_merge<Sched>(stop, in, detail::length_of(in.first, middle), comp, proj);
  });
}

}  // namespace filch::inline FILCH_ABI
