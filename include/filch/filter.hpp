// Filters: the elements that a predicate takes, in a range of their own or at the front of the range.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/filtering_in_place.hpp>

namespace filch::inline FILCH_ABI {

/// Copies the elements x of [first, last) for which pred(proj(x)) is true to `out` and its successors, in order.
/// Returns the end of what was written. The ranges must not overlap.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. What was written is
/// unspecified after an exception.
/// Complexity: n calls of pred and proj. On one worker one pass. Positions that were given away and run before the
/// number of elements below them was known are marked, a byte each, and copied in a second pass; a loop of which
/// something is given away allocates n bytes for the marks. If it cannot, those positions wait for that number.
/// Cost: that of `for_index`, and one atomic load for each stretch of a piece that was given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Pred, class Proj = std::identity>
Out copy_if(Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  auto const kept =
      detail::copy_selected<Sched>(never, n, detail::selection<Iterator, Pred, Proj>{first, {pred}, {proj}},
                                   detail::elements_out<Iterator, Out>{first, out});
  return detail::iterator_after(out, kept.count);
}
/// The same for ranges: copies as many as `out` has room for. Returns the end of what was written, and the first
/// element of `in` that pred took and that had no room, or else the end of `in`.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Pred, class Proj = std::identity>
std::ranges::copy_if_result<std::ranges::borrowed_iterator_t<In>, std::ranges::borrowed_iterator_t<Out>> copy_if(
    In&& in, Out&& out, Pred pred, Proj proj = {}) {
  using iterator = std::ranges::iterator_t<In>;
  detail::never_stopped never;
  iterator const first = std::ranges::begin(in);
  auto const kept = detail::copy_selected<Sched>(
      never, detail::length_of(in), detail::selection<iterator, Pred, Proj>{first, {pred}, {proj}},
      detail::elements_out<iterator, std::ranges::iterator_t<Out>>{first, std::ranges::begin(out)},
      detail::length_of(out));
  return {detail::iterator_after(first, kept.end), detail::iterator_after(std::ranges::begin(out), kept.count)};
}
/// The iterator form until a stop is requested of `token`, as in `for_index`. Returns true if it was not stopped.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out, class Pred,
          class Proj = std::identity>
bool copy_if(Token const& token, Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  detail::stop_request stop(token);
  detail::copy_selected<Sched>(stop, detail::length_of(first, last),
                               detail::selection<Iterator, Pred, Proj>{first, {pred}, {proj}},
                               detail::elements_out<Iterator, Out>{first, out});
  return !stop.was_seen();
}

/// Writes the positions 0 to n - 1 of the elements of [first, last) that are true to `out` and its successors, in
/// ascending order. Returns the end of what was written. Otherwise as `copy_if`. (std has no such function. Parlay's
/// has this name.)
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Proj = std::identity>
Out pack_index(Iterator first, Sentinel last, Out out, Proj proj = {}) {
  detail::never_stopped never;
  std::identity is_true;
  std::size_t const n = detail::length_of(first, last);
  auto const kept = detail::copy_selected<Sched>(
      never, n, detail::selection<Iterator, std::identity, Proj>{first, {is_true}, {proj}},
      detail::positions_out<Out>{out});
  return detail::iterator_after(out, kept.count);
}
/// The same for ranges: writes as many as `out` has room for. Returns the end of what was written.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Out> pack_index(In&& in, Out&& out, Proj proj = {}) {
  using iterator = std::ranges::iterator_t<In>;
  detail::never_stopped never;
  std::identity is_true;
  auto const kept = detail::copy_selected<Sched>(
      never, detail::length_of(in),
      detail::selection<iterator, std::identity, Proj>{std::ranges::begin(in), {is_true}, {proj}},
      detail::positions_out<std::ranges::iterator_t<Out>>{std::ranges::begin(out)}, detail::length_of(out));
  return detail::iterator_after(std::ranges::begin(out), kept.count);
}

/// Copies the elements of [first, last) for which pred(proj(x)) is true to `out_true` and its successors, and the
/// others to `out_false` and its successors, both in order. Returns both ends. No two of the ranges may overlap.
/// Otherwise as `copy_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator OutTrue, std::random_access_iterator OutFalse, class Pred,
          class Proj = std::identity>
std::pair<OutTrue, OutFalse> partition_copy(Iterator first, Sentinel last, OutTrue out_true, OutFalse out_false,
                                            Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  auto const kept =
      detail::copy_selected<Sched>(never, n, detail::selection<Iterator, Pred, Proj>{first, {pred}, {proj}},
                                   detail::both_out<Iterator, OutTrue, OutFalse>{first, out_true, out_false});
  return {detail::iterator_after(out_true, kept.count), detail::iterator_after(out_false, n - kept.count)};
}

/// Moves the elements of [first, last) for which pred(proj(x)) is false to the front, in order. Returns their end.
/// The elements behind it have unspecified values.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. After an exception all
/// values of the range are unspecified. Complexity: n calls of pred and proj. On one worker at most n moves, those of
/// std::remove_if. A piece that was given away moves its elements to its own front, and its front is moved down when
/// the piece below has ended: n moves for each level of splits at most. Allocates nothing. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator remove_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::removing<Iterator, Pred, Proj> work{{first, {pred}, {proj}}};
  return detail::iterator_after(first, detail::to_the_front<Sched>(detail::length_of(first, last), work));
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> remove_if(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::remove_if<Sched>(first, end, std::move(pred), std::move(proj));
  });
}

/// Moves the first element of each group of consecutive equal elements of [first, last) to the front, in order.
/// Returns their end. The elements behind it have unspecified values. `equal` must be an equivalence relation.
///
/// Complexity: n - 1 calls of equal, and the calls of proj for them. Otherwise as `remove_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Equal = std::ranges::equal_to, class Proj = std::identity>
Iterator unique(Iterator first, Sentinel last, Equal equal = {}, Proj proj = {}) {
  detail::keeping_unique<Iterator, Equal, Proj> work{first, {equal}, {proj}};
  return detail::iterator_after(first, detail::to_the_front<Sched>(detail::length_of(first, last), work));
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Equal = std::ranges::equal_to,
          class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> unique(Range&& range, Equal equal = {}, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::unique<Sched>(first, end, std::move(equal), std::move(proj));
  });
}

/// Reorders [first, last): the elements for which pred(proj(x)) is true come first. Returns the first of the others.
/// The order within both groups is unspecified.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. After an exception the
/// elements have any order.
/// Complexity: n calls of pred and proj, at most n swaps on one worker, and n / 2 more for each level of splits.
/// Allocates nothing. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator partition(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::partitioning<Sched, Iterator, Pred, Proj> work{{first, {pred}, {proj}}};
  return detail::iterator_after(first, detail::to_the_front<Sched>(detail::length_of(first, last), work));
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}

/// `partition` that keeps the order within both groups.
///
/// Complexity: n calls of pred and proj, at most 2 n moves on one worker, and n for each level of splits. Allocates a
/// buffer of n elements; without memory for it, takes n log(n) moves on the calling worker. Otherwise as
/// `partition`. After an exception some elements have the values of moved-from elements.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator stable_partition(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  using value = std::iter_value_t<Iterator>;
  std::size_t const n = detail::length_of(first, last);
  if (n == 0) return first;
  detail::raw_buffer<value> buffer(n);
  if (!buffer) {
    detail::selection<Iterator, Pred, Proj> const taken{first, {pred}, {proj}};
    return detail::iterator_after(first, detail::partition_without_memory(taken, 0, n));
  }
  detail::partitioning_stably<Iterator, Pred, Proj> work{{first, {pred}, {proj}}, &buffer};
  return detail::iterator_after(first, detail::to_the_front<Sched>(n, work));
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> stable_partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::stable_partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}

}  // namespace filch::inline FILCH_ABI
