// Filters: the elements that a predicate takes, in a range of their own or at the front of the range.
//
// A form with a stop token as its first argument returns a std::optional of the other form's result. It is
// empty if a stop was requested before the end. The output is unspecified then.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/filtering_in_place.hpp>
#include <filch/detail/sieve.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// An output without bound.
template <class Out> input<Out> unbounded(Out const& out) { return {out, std::numeric_limits<std::size_t>::max()}; }

template <class Sched, class Stop, class Iterator, class Out, class Pred, class Proj>
selected copy_if(Stop& stop, input<Iterator> const& in, input<Out> const& out, Pred& pred, Proj& proj) {
  return detail::copy_selected<Sched>(stop, in.length, selection<Iterator, Pred, Proj>{in.first, {pred}, {proj}},
                                      elements_out<Iterator, Out>{in.first, out.first}, out.length);
}
template <class Sched, class Stop, class Iterator, class Out, class Proj>
Out pack_index(Stop& stop, input<Iterator> const& in, input<Out> const& out, Proj& proj) {
  std::identity is_true;
  selection<Iterator, std::identity, Proj> const all{in.first, {is_true}, {proj}};
  return out.at(detail::copy_selected<Sched>(stop, in.length, all, positions_out<Out>{out.first}, out.length).count);
}
template <class Sched, class Stop, class Iterator, class OutTrue, class OutFalse, class Pred, class Proj>
std::pair<OutTrue, OutFalse> partition_copy(Stop& stop, input<Iterator> const& in, OutTrue const& out_true,
                                            OutFalse const& out_false, Pred& pred, Proj& proj) {
  selection<Iterator, Pred, Proj> const taken{in.first, {pred}, {proj}};
  both_out<Iterator, OutTrue, OutFalse> const out{in.first, out_true, out_false};
  std::size_t const n = detail::copy_selected<Sched>(stop, in.length, taken, out).count;
  return {detail::iterator_after(out_true, n), detail::iterator_after(out_false, in.length - n)};
}

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator remove_if(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  removing<Iterator, Pred, std::remove_reference_t<Proj>> work{{in.first, {pred}, {proj}}};
  return in.at(detail::to_the_front<Sched>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Equal = std::ranges::equal_to, class Proj = std::identity>
Iterator unique(Stop& stop, input<Iterator> const& in, Equal&& equal = Equal{}, Proj&& proj = Proj{}) {
  keeping_unique<Iterator, std::remove_reference_t<Equal>, std::remove_reference_t<Proj>> work{
      in.first, {equal}, {proj}};
  return in.at(detail::to_the_front<Sched>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator partition(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  partitioning<Sched, Iterator, Pred, std::remove_reference_t<Proj>> work{{in.first, {pred}, {proj}}};
  return in.at(detail::to_the_front<Sched>(stop, in.length, work));
}
template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
Iterator stable_partition(Stop& stop, input<Iterator> const& in, Pred& pred, Proj&& proj = Proj{}) {
  using projection = std::remove_reference_t<Proj>;
  if (in.length == 0) return in.first;
  raw_buffer<std::iter_value_t<Iterator>> buffer(in.length);
  if (!static_cast<bool>(buffer)) {
    selection<Iterator, Pred, projection> const taken{in.first, {pred}, {proj}};
    return in.at(detail::partition_without_memory(stop, taken, 0, in.length));
  }
  partitioning_stably<Iterator, Pred, projection> work{{in.first, {pred}, {proj}}, std::addressof(buffer)};
  return in.at(detail::to_the_front<Sched>(stop, in.length, work));
}

/// The result of a filter in place with a stop token: the elements behind `end` for a range, `end` for iterators.
template <class First, class... Rest, class Iterator> auto behind(input<Iterator> const& in, Iterator const& end) {
  if constexpr (begins_with_range<First, Rest...>) {
    return std::ranges::borrowed_subrange_t<First>(end, in.end());
  } else {
    return end;
  }
}

}  // namespace detail

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
  return detail::iterator_after(
      out, detail::copy_if<Sched>(never, detail::input_of(first, last), detail::unbounded(out), pred, proj).count);
}
/// The same for ranges: copies as many as `out` has room for. Returns the end of what was written, and the first
/// element of `in` that pred took and that had no room, or else the end of `in`.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Pred, class Proj = std::identity>
std::ranges::copy_if_result<std::ranges::borrowed_iterator_t<In>, std::ranges::borrowed_iterator_t<Out>> copy_if(
    In&& in, Out&& out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const from = detail::input_of(in);
  auto const to = detail::input_of(out);
  auto const kept = detail::copy_if<Sched>(never, from, to, pred, proj);
  return {from.at(kept.end), to.at(kept.count)};
}
/// The same for the elements that a std::views::filter takes. Splits the range below it.
template <scheduler Sched = default_scheduler, purely_filtered_range In, sized_random_access_range Out, class Pred,
          class Proj = std::identity>
auto copy_if(In&& in, Out&& out, Pred pred, Proj proj = {}) {
  auto s = detail::sieve_of(static_cast<In&&>(in));
  auto const end = filch::copy_if<Sched>(s.base, out, detail::test_of(s, pred, proj));
  using in_iterator = detail::sifted_iterator_t<In>;
  return std::ranges::copy_if_result<in_iterator, std::ranges::borrowed_iterator_t<Out>>{
      detail::sifted_iterator<In>(in, end.in), end.out};
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out, class Pred,
          class Proj = std::identity>
std::optional<Out> copy_if(Token const& token, Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const kept = detail::copy_if<Sched>(stop, detail::input_of(first, last), detail::unbounded(out), pred, proj);
    return detail::iterator_after(out, kept.count);
  });
}
/// Ranges with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range In,
          sized_random_access_range Out, class Pred, class Proj = std::identity>
auto copy_if(Token const& token, In&& in, Out&& out, Pred pred, Proj proj = {}) {
  using ends =
      std::ranges::copy_if_result<std::ranges::borrowed_iterator_t<In>, std::ranges::borrowed_iterator_t<Out>>;
  return detail::until_stopped(token, [&](auto& stop) -> ends {
    auto const from = detail::input_of(in);
    auto const to = detail::input_of(out);
    auto const kept = detail::copy_if<Sched>(stop, from, to, pred, proj);
    return {from.at(kept.end), to.at(kept.count)};
  });
}

/// Writes the positions 0 to n - 1 of the elements of [first, last) that are true to `out` and its successors, in
/// ascending order. Returns the end of what was written. Otherwise as `copy_if`. (std has no such function. Parlay's
/// has this name.)
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Proj = std::identity>
Out pack_index(Iterator first, Sentinel last, Out out, Proj proj = {}) {
  detail::never_stopped never;
  return detail::pack_index<Sched>(never, detail::input_of(first, last), detail::unbounded(out), proj);
}
/// The same for ranges: writes as many as `out` has room for. Returns the end of what was written.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Out> pack_index(In&& in, Out&& out, Proj proj = {}) {
  detail::never_stopped never;
  return detail::pack_index<Sched>(never, detail::input_of(in), detail::input_of(out), proj);
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out, class Proj = std::identity>
std::optional<Out> pack_index(Token const& token, Iterator first, Sentinel last, Out out, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::pack_index<Sched>(stop, detail::input_of(first, last), detail::unbounded(out), proj);
  });
}
/// Ranges with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range In,
          sized_random_access_range Out, class Proj = std::identity>
std::optional<std::ranges::borrowed_iterator_t<Out>> pack_index(Token const& token, In&& in, Out&& out,
                                                                Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) -> std::ranges::borrowed_iterator_t<Out> {
    return detail::pack_index<Sched>(stop, detail::input_of(in), detail::input_of(out), proj);
  });
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
  return detail::partition_copy<Sched>(never, detail::input_of(first, last), out_true, out_false, pred, proj);
}
/// The same for a range, with std::ranges' result. Each output must have room enough.
template <scheduler Sched = default_scheduler, sized_random_access_range In, std::random_access_iterator OutTrue,
          std::random_access_iterator OutFalse, class Proj = std::identity,
          std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<In>, Proj>> Pred>
std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<In>, OutTrue, OutFalse> partition_copy(
    In&& in, OutTrue out_true, OutFalse out_false, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const from = detail::input_of(in);
  auto const ends = detail::partition_copy<Sched>(never, from, out_true, out_false, pred, proj);
  return {from.end(), ends.first, ends.second};
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator OutTrue,
          std::random_access_iterator OutFalse, class Pred, class Proj = std::identity>
std::optional<std::pair<OutTrue, OutFalse>> partition_copy(Token const& token, Iterator first, Sentinel last,
                                                           OutTrue out_true, OutFalse out_false, Pred pred,
                                                           Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::partition_copy<Sched>(stop, detail::input_of(first, last), out_true, out_false, pred, proj);
  });
}
/// A range with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range In,
          std::random_access_iterator OutTrue, std::random_access_iterator OutFalse, class Proj = std::identity,
          std::indirect_unary_predicate<std::projected<std::ranges::iterator_t<In>, Proj>> Pred>
auto partition_copy(Token const& token, In&& in, OutTrue out_true, OutFalse out_false, Pred pred, Proj proj = {}) {
  using ends = std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<In>, OutTrue, OutFalse>;
  return detail::until_stopped(token, [&](auto& stop) -> ends {
    auto const from = detail::input_of(in);
    auto const both = detail::partition_copy<Sched>(stop, from, out_true, out_false, pred, proj);
    return {from.end(), both.first, both.second};
  });
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
  detail::never_stopped never;
  return detail::remove_if<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> remove_if(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::remove_if<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the values of the range are unspecified.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto remove_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::remove_if<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

/// Moves the first element of each group of consecutive equal elements of [first, last) to the front, in order.
/// Returns their end. The elements behind it have unspecified values. `equal` must be an equivalence relation.
///
/// Complexity: n - 1 calls of equal, and the calls of proj for them. Otherwise as `remove_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Equal = std::ranges::equal_to, class Proj = std::identity>
Iterator unique(Iterator first, Sentinel last, Equal equal = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::unique<Sched>(never, detail::input_of(first, last), equal, proj);
}
/// The same for a range. Returns the subrange of the elements with unspecified values.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Equal = std::ranges::equal_to,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Equal, Range>
std::ranges::borrowed_subrange_t<Range> unique(Range&& range, Equal equal = {}, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::unique<Sched>(first, end, std::move(equal), std::move(proj));
  });
}
/// Both with a stop token. After a stop the values of the range are unspecified.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto unique(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::ranges::equal_to, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::behind<First, Arg1, Arg2, Arg3>(in, detail::unique<Sched>(stop, in, fn...));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
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
  detail::never_stopped never;
  return detail::partition<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the elements have any order; none is lost.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto partition(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::partition<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

/// `partition` that keeps the order within both groups.
///
/// Complexity: n calls of pred and proj, at most 2 n moves on one worker, and n for each level of splits. Allocates a
/// buffer of n elements; without memory for it, takes n log(n) moves on the calling worker. Otherwise as
/// `partition`. After an exception some elements have the values of moved-from elements.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator stable_partition(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::stable_partition<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for a range. Returns the subrange of the elements for which pred is false.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Pred, Range>
std::ranges::borrowed_subrange_t<Range> stable_partition(Range&& range, Pred pred, Proj proj = {}) {
  return detail::behind_front<Range>(range, [&](auto first, auto end) {
    return filch::stable_partition<Sched>(first, end, std::move(pred), std::move(proj));
  });
}
/// Both with a stop token. After a stop the elements have any order; none is lost. Those in the buffer are moved
/// back.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto stable_partition(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::behind<Args...>(in, detail::stable_partition<Sched>(stop, in, pred, proj...));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
