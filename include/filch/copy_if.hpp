// Filters to another range: copy_if, pack_index and partition_copy.
//
// A form with a stop token as its first argument returns a std::optional of the other form's result. It is
// empty if a stop was requested before the end. The output is unspecified then.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/filtering.hpp>
#include <filch/detail/sieve.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// An output without bound.
template <class Out> input<Out> unbounded(Out const& out) { return {out, filter_room::k_unbounded}; }

template <class Sched, class Stop, class Iterator, class Out, class Pred, class Proj>
selected copy_if(Stop& stop, input<Iterator> const& in, input<Out> const& out, Pred& pred, Proj& proj) {
  return detail::copy_selected<Sched>(stop, in.length, selection<Iterator, Pred, Proj>{in.first, {pred}, {proj}},
                                      elements_out<Iterator, Out>{in.first, out.first}, {out.length});
}
/// The same for the elements that a filter takes.
template <class Sched, class Stop, class In, class Out, class Pred, class Proj>
auto copy_sifted(Stop& stop, In&& in, Out&& out, Pred& pred, Proj& proj) {
  auto s = detail::sieve_of(static_cast<In&&>(in));
  auto const test = detail::test_of(s, pred, proj);
  auto const to = detail::input_of(out);
  std::identity same;
  selected const kept = detail::copy_if<Sched>(stop, s.in(), to, test, same);
  return std::ranges::copy_if_result<sifted_iterator_t<In>, std::ranges::borrowed_iterator_t<Out>>{
      detail::sifted_iterator<In>(in, s.in().at(kept.end)), to.at(kept.count)};
}
template <class Sched, class Stop, class Iterator, class Out, class Proj>
Out pack_index(Stop& stop, input<Iterator> const& in, input<Out> const& out, Proj& proj) {
  std::identity is_true;
  selection<Iterator, std::identity, Proj> const all{in.first, {is_true}, {proj}};
  return out.at(
      detail::copy_selected<Sched>(stop, in.length, all, positions_out<Out>{out.first}, {out.length}).count);
}
template <class Sched, class Stop, class Iterator, class OutTrue, class OutFalse, class Pred, class Proj>
std::ranges::partition_copy_result<Iterator, OutTrue, OutFalse> partition_copy(Stop& stop, input<Iterator> const& in,
                                                                               input<OutTrue> const& out_true,
                                                                               input<OutFalse> const& out_false,
                                                                               Pred& pred, Proj& proj) {
  selection<Iterator, Pred, Proj> const taken{in.first, {pred}, {proj}};
  both_out<Iterator, OutTrue, OutFalse> const out{in.first, out_true.first, out_false.first};
  selected const kept =
      detail::copy_selected<Sched>(stop, in.length, taken, out, {out_true.length, out_false.length});
  return {in.at(kept.end), out_true.at(kept.count), out_false.at(kept.end - kept.count)};
}

template <class In, class OutTrue, class OutFalse>
using ends_of_partition_copy = std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<In>,
                                                                  std::ranges::borrowed_iterator_t<OutTrue>,
                                                                  std::ranges::borrowed_iterator_t<OutFalse>>;

}  // namespace detail

/// Copies the elements x of [first, last) for which pred(proj(x)) is true to `out` and its successors, in order.
/// Returns the end of what was written. The ranges must not overlap.
///
/// pred is called once for each element. Exceptions, pool and thread: as in `for_index`. The output is
/// unspecified after an exception.
/// Complexity: n calls of pred and proj. On one worker one pass. Positions that were given away and run before the
/// number of elements below them was known are marked, a byte each, and copied in a second pass; a loop of which
/// something is given away allocates n bytes for the marks. If it cannot, those positions wait for that number.
/// Cost: that of `for_index`, and one atomic load for each stretch of a piece that was given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Pred, class Proj = std::identity>
  requires detail::no_end_of<Pred, Out>
Out copy_if(Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::iterator_after(
      out, detail::copy_if<Sched>(never, detail::input_of(first, last), detail::unbounded(out), pred, proj).count);
}
/// Copies as many as there is room for in [out, out_last). Returns the end of what was written, and the first element
/// that pred took and that had no room, or else the end of the input.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Pred, class Proj = std::identity>
std::ranges::copy_if_result<Iterator, Out> copy_if(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                   Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const from = detail::input_of(first, last);
  auto const to = detail::input_of(out, out_last);
  auto const kept = detail::copy_if<Sched>(never, from, to, pred, proj);
  return {from.at(kept.end), to.at(kept.count)};
}
/// The same for ranges.
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
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, purely_filtered_range In, sized_random_access_range Out, class Pred,
          class Proj = std::identity>
auto copy_if(In&& in, Out&& out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::copy_sifted<Sched>(never, static_cast<In&&>(in), static_cast<Out&&>(out), pred, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, purely_filtered_range In,
          sized_random_access_range Out, class Pred, class Proj = std::identity>
auto copy_if(Token const& token, In&& in, Out&& out, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::copy_sifted<Sched>(stop, static_cast<In&&>(in), static_cast<Out&&>(out), pred, proj);
  });
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Out>
std::optional<Out> copy_if(Token const& token, Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const kept = detail::copy_if<Sched>(stop, detail::input_of(first, last), detail::unbounded(out), pred, proj);
    return detail::iterator_after(out, kept.count);
  });
}
/// Iterators and a bounded output with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Out, sized_random_access_end<Out> OutSentinel, class Pred,
          class Proj = std::identity>
auto copy_if(Token const& token, Iterator first, Sentinel last, Out out, OutSentinel out_last, Pred pred,
             Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) -> std::ranges::copy_if_result<Iterator, Out> {
    auto const from = detail::input_of(first, last);
    auto const to = detail::input_of(out, out_last);
    auto const kept = detail::copy_if<Sched>(stop, from, to, pred, proj);
    return {from.at(kept.end), to.at(kept.count)};
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
  requires detail::no_end_of<Proj, Out>
Out pack_index(Iterator first, Sentinel last, Out out, Proj proj = {}) {
  detail::never_stopped never;
  return detail::pack_index<Sched>(never, detail::input_of(first, last), detail::unbounded(out), proj);
}
/// Writes as many as there is room for in [out, out_last).
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Proj = std::identity>
Out pack_index(Iterator first, Sentinel last, Out out, OutSentinel out_last, Proj proj = {}) {
  detail::never_stopped never;
  return detail::pack_index<Sched>(never, detail::input_of(first, last), detail::input_of(out, out_last), proj);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Proj = std::identity>
std::ranges::borrowed_iterator_t<Out> pack_index(In&& in, Out&& out, Proj proj = {}) {
  detail::never_stopped never;
  return detail::pack_index<Sched>(never, detail::input_of(in), detail::input_of(out), proj);
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out, class Proj = std::identity>
  requires detail::no_end_of<Proj, Out>
std::optional<Out> pack_index(Token const& token, Iterator first, Sentinel last, Out out, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::pack_index<Sched>(stop, detail::input_of(first, last), detail::unbounded(out), proj);
  });
}
/// Iterators and a bounded output with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Out, sized_random_access_end<Out> OutSentinel,
          class Proj = std::identity>
std::optional<Out> pack_index(Token const& token, Iterator first, Sentinel last, Out out, OutSentinel out_last,
                              Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::pack_index<Sched>(stop, detail::input_of(first, last), detail::input_of(out, out_last), proj);
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
  auto const ends = detail::partition_copy<Sched>(never, detail::input_of(first, last), detail::unbounded(out_true),
                                                  detail::unbounded(out_false), pred, proj);
  return {ends.out1, ends.out2};
}
/// Ends at the first element that has no room in its output, [out_true, true_last) or [out_false, false_last).
/// Nothing behind it is copied. Returns its position, and both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class OutTrue, sized_random_access_end<OutTrue> TrueSentinel, class OutFalse,
          sized_random_access_end<OutFalse> FalseSentinel, class Pred, class Proj = std::identity>
std::ranges::partition_copy_result<Iterator, OutTrue, OutFalse> partition_copy(
    Iterator first, Sentinel last, OutTrue out_true, TrueSentinel true_last, OutFalse out_false,
    FalseSentinel false_last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::partition_copy<Sched>(never, detail::input_of(first, last), detail::input_of(out_true, true_last),
                                       detail::input_of(out_false, false_last), pred, proj);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range OutTrue,
          sized_random_access_range OutFalse, class Pred, class Proj = std::identity>
detail::ends_of_partition_copy<In, OutTrue, OutFalse> partition_copy(In&& in, OutTrue&& out_true,
                                                                     OutFalse&& out_false, Pred pred,
                                                                     Proj proj = {}) {
  detail::never_stopped never;
  auto ends = detail::partition_copy<Sched>(never, detail::input_of(in), detail::input_of(out_true),
                                            detail::input_of(out_false), pred, proj);
  return {std::move(ends.in), std::move(ends.out1), std::move(ends.out2)};
}
/// The same for a range, and outputs with room enough.
template <scheduler Sched = default_scheduler, sized_random_access_range In, std::random_access_iterator OutTrue,
          std::random_access_iterator OutFalse, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<In>, Proj> Pred>
std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<In>, OutTrue, OutFalse> partition_copy(
    In&& in, OutTrue const& out_true, OutFalse const& out_false, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto ends = detail::partition_copy<Sched>(never, detail::input_of(in), detail::unbounded(out_true),
                                            detail::unbounded(out_false), pred, proj);
  return {std::move(ends.in), std::move(ends.out1), std::move(ends.out2)};
}
/// Iterators with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator OutTrue,
          std::random_access_iterator OutFalse, class Pred, class Proj = std::identity>
std::optional<std::pair<OutTrue, OutFalse>> partition_copy(Token const& token, Iterator first, Sentinel last,
                                                           OutTrue out_true, OutFalse out_false, Pred pred,
                                                           Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) -> std::pair<OutTrue, OutFalse> {
    auto const ends = detail::partition_copy<Sched>(stop, detail::input_of(first, last), detail::unbounded(out_true),
                                                    detail::unbounded(out_false), pred, proj);
    return {ends.out1, ends.out2};
  });
}
/// Iterators and bounded outputs with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class OutTrue, sized_random_access_end<OutTrue> TrueSentinel,
          class OutFalse, sized_random_access_end<OutFalse> FalseSentinel, class Pred, class Proj = std::identity>
auto partition_copy(Token const& token, Iterator first, Sentinel last, OutTrue out_true, TrueSentinel true_last,
                    OutFalse out_false, FalseSentinel false_last, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::partition_copy<Sched>(stop, detail::input_of(first, last), detail::input_of(out_true, true_last),
                                         detail::input_of(out_false, false_last), pred, proj);
  });
}
/// Ranges with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range In,
          sized_random_access_range OutTrue, sized_random_access_range OutFalse, class Pred,
          class Proj = std::identity>
auto partition_copy(Token const& token, In&& in, OutTrue&& out_true, OutFalse&& out_false, Pred pred,
                    Proj proj = {}) {
  using ends_type = detail::ends_of_partition_copy<In, OutTrue, OutFalse>;
  return detail::until_stopped(token, [&](auto& stop) -> ends_type {
    auto ends = detail::partition_copy<Sched>(stop, detail::input_of(in), detail::input_of(out_true),
                                              detail::input_of(out_false), pred, proj);
    return {std::move(ends.in), std::move(ends.out1), std::move(ends.out2)};
  });
}
/// A range, and outputs with room enough, with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range In,
          std::random_access_iterator OutTrue, std::random_access_iterator OutFalse, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<In>, Proj> Pred>
auto partition_copy(Token const& token, In&& in, OutTrue const& out_true, OutFalse const& out_false, Pred pred,
                    Proj proj = {}) {
  using ends_type = std::ranges::partition_copy_result<std::ranges::borrowed_iterator_t<In>, OutTrue, OutFalse>;
  return detail::until_stopped(token, [&](auto& stop) -> ends_type {
    auto ends = detail::partition_copy<Sched>(stop, detail::input_of(in), detail::unbounded(out_true),
                                              detail::unbounded(out_false), pred, proj);
    return {std::move(ends.in), std::move(ends.out1), std::move(ends.out2)};
  });
}

}  // namespace filch::inline FILCH_ABI
