// replace, remove and unique_copy: elements that satisfy a condition get another value, or are left out.
//
// The rules of transform.hpp hold for replacements, and those of filter.hpp for removals.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/bounded.hpp>
#include <filch/detail/filtering_in_place.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/replacing.hpp>
#include <filch/detail/writing.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Sched, class Stop, class Iterator, class Value, class Proj = std::identity>
std::size_t remove(Stop& stop, input<Iterator> const& in, Value const& value, Proj&& proj = Proj{}) {
  constant<Value> const own{value};  // it may be an element
  equal_to<Value> const is_removed{own.value};
  removing<Iterator, equal_to<Value> const, std::remove_reference_t<Proj>> work{{in.first, {is_removed}, {proj}}};
  return detail::to_the_front<scheduler_for<Sched, Iterator>>(stop, in.length, work);
}
template <class Sched, class Stop, class Iterator, class Out, class Pred, class Proj = std::identity>
filter_ends remove_copy_if(Stop& stop, input<Iterator> const& in, input<Out> const& out, Pred&& pred,
                           Proj&& proj = Proj{}) {
  negated<std::remove_reference_t<Pred>> const is_kept{pred};
  auto const ends = detail::copy_selected<Sched>(
      stop, in.length,
      selection<Iterator, negated<std::remove_reference_t<Pred>> const, std::remove_reference_t<Proj>>{
          in.first, {is_kept}, {proj}},
      elements_out<Iterator, Out>{in.first, out.first}, {out.length});
  return {ends.end, ends.count};
}
template <class Sched, class Stop, class Iterator, class Out, class Value, class Proj = std::identity>
filter_ends remove_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out, Value const& value,
                        Proj&& proj = Proj{}) {
  constant<Value> const own{value};  // it may be an element of the output
  equal_to<Value> const is_removed{own.value};
  return detail::remove_copy_if<Sched>(stop, in, out, is_removed, proj);
}

/// Elements that differ from the one before.
template <class Iterator, class Equal, class Proj> struct first_of_equals {
  using iterator = Iterator;
  using projected = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  Iterator begin;
  body_of<Equal, projected, projected> equal;
  body_of<Proj, std::iter_reference_t<Iterator>> proj;

  template <class Place> FILCH_INLINE bool takes(Place&& place) const {
    Iterator const& i = detail::position_of_place(place);
    return i == begin || !static_cast<bool>(equal(proj(*(i - 1)), proj(*place)));
  }
  Iterator at(std::size_t position) const { return detail::iterator_after(begin, position); }
};
template <class Sched, class Stop, class Iterator, class Out, class Equal = std::equal_to<>,
          class Proj = std::identity>
filter_ends unique_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out, Equal&& equal = Equal{},
                        Proj&& proj = Proj{}) {
  auto const ends = detail::copy_selected<Sched>(
      stop, in.length,
      first_of_equals<Iterator, std::remove_reference_t<Equal>, std::remove_reference_t<Proj>>{
          in.first, {equal}, {proj}},
      elements_out<Iterator, Out>{in.first, out.first}, {out.length});
  return {ends.end, ends.count};
}

/// The result of a filter with a stop token: both ends, or that of the output if it has no bound.
template <class First, class Second, class... Rest, class Iterator, class Out>
auto ends_of_copy(input<Iterator> const& in, input<Out> const& out, filter_ends const& ends) {
  if constexpr (begins_with_range<First, Second, Rest...>) {
    return std::ranges::in_out_result<std::ranges::borrowed_iterator_t<First>,
                                      std::ranges::borrowed_iterator_t<Second>>{in.at(ends.in), out.at(ends.out)};
  } else if constexpr (is_bounded_next<Rest...>) {
    return std::ranges::in_out_result<Iterator, Out>{in.at(ends.in), out.at(ends.out)};
  } else {
    return out.at(ends.out);
  }
}

}  // namespace detail

/// Assigns new_value to every element x of [first, last) for which pred(proj(x)) is true. Returns the end. As in
/// `fill`, new_value may be an element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Value, class Proj = std::identity>
Iterator replace_if(Iterator first, Sentinel last, Pred pred, Value const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::replace_if<Sched>(never, in, pred, new_value, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> replace_if(Range&& range, Pred pred, Value const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::replace_if<Sched>(never, in, pred, new_value, proj);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool replace_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto const& new_value, auto... fn) {
        detail::replace_if<Sched>(stop, in, pred, new_value, fn...);
      },
      std::forward<Args>(args)...);
}

/// Assigns new_value to every element x of [first, last) for which proj(x) == old_value. Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Value2, class Proj = std::identity>
Iterator replace(Iterator first, Sentinel last, Value const& old_value, Value2 const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::replace<Sched>(never, in, old_value, new_value, proj);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Value2,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
std::ranges::borrowed_iterator_t<Range> replace(Range&& range, Value const& old_value, Value2 const& new_value,
                                                Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::replace<Sched>(never, in, old_value, new_value, proj);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool replace(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& old_value, auto const& new_value, auto... fn) {
        detail::replace<Sched>(stop, in, old_value, new_value, fn...);
      },
      std::forward<Args>(args)...);
}

/// Copies [first, last) to the output, with new_value in place of every x for which pred(proj(x)) is true. Returns
/// the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Pred, class Value, class Proj = std::identity>
  requires detail::no_end_of<Pred, Out>
Out replace_copy_if(Iterator first, Sentinel last, Out out, Pred pred, Value const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::replace_copy_if<Sched>(never, in, to, pred, new_value, proj).out);
}
/// The same with the output [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Pred, class Value, class Proj = std::identity>
std::ranges::in_out_result<Iterator, Out> replace_copy_if(Iterator first, Sentinel last, Out out,
                                                          OutSentinel out_last, Pred pred, Value const& new_value,
                                                          Proj proj = {}) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::replace_copy_if<Sched>(never, in, to, pred, new_value, proj);
  });
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Pred, class Value, class Proj = std::identity>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
replace_copy_if(Range&& range, OutRange&& out, Pred pred, Value const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::replace_copy_if<Sched>(never, in, to, pred, new_value, proj);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool replace_copy_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto pred, auto const& new_value, auto... fn) {
        static_cast<void>(detail::replace_copy_if<Sched>(stop, in, out, pred, new_value, fn...));
      },
      std::forward<Args>(args)...);
}

/// Copies [first, last) to the output, with new_value in place of every x for which proj(x) == old_value. Returns the
/// end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Value, class Value2, class Proj = std::identity>
  requires detail::no_end_of<Value, Out>
Out replace_copy(Iterator first, Sentinel last, Out out, Value const& old_value, Value2 const& new_value,
                 Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::replace_copy<Sched>(never, in, to, old_value, new_value, proj).out);
}
/// The same with the output [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Value, class Value2, class Proj = std::identity>
std::ranges::in_out_result<Iterator, Out> replace_copy(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                       Value const& old_value, Value2 const& new_value,
                                                       Proj proj = {}) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::replace_copy<Sched>(never, in, to, old_value, new_value, proj);
  });
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Value, class Value2, class Proj = std::identity>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
replace_copy(Range&& range, OutRange&& out, Value const& old_value, Value2 const& new_value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::replace_copy<Sched>(never, in, to, old_value, new_value, proj);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool replace_copy(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto const& old_value, auto const& new_value, auto... fn) {
        static_cast<void>(detail::replace_copy<Sched>(stop, in, out, old_value, new_value, fn...));
      },
      std::forward<Args>(args)...);
}

/// Moves the elements x of [first, last) for which proj(x) != value to the front, in order. Returns their end. As
/// `remove_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
Iterator remove(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::remove<Sched>(never, in, value, proj));
}
/// The same for a range. Returns the elements behind those that are kept.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::has_subranges && detail::no_end_of<Value, Range>
std::ranges::borrowed_subrange_t<Range> remove(Range&& range, Value const& value, Proj proj = {}) {
  return detail::behind_front<Range>(
      range, [&](auto first, auto end) { return filch::remove<Sched>(first, end, value, std::move(proj)); });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto remove(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... fn) {
        return detail::behind<Args...>(in, in.at(detail::remove<Sched>(stop, in, value, fn...)));
      },
      std::forward<Args>(args)...);
}

/// Copies the elements x of [first, last) for which pred(proj(x)) is false, in order. Returns the end of the output.
/// As `copy_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Pred, class Proj = std::identity>
  requires detail::no_end_of<Pred, Out>
Out remove_copy_if(Iterator first, Sentinel last, Out out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::remove_copy_if<Sched>(never, in, to, pred, proj).out);
}
/// The same with the output [out, out_last). It ends before an element for which that has no room. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Pred, class Proj = std::identity>
std::ranges::in_out_result<Iterator, Out> remove_copy_if(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                         Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::remove_copy_if<Sched>(never, in, to, pred, proj);
  });
}
/// The same for ranges. It ends before an element for which the output has no room.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Pred, class Proj = std::identity>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
remove_copy_if(Range&& range, OutRange&& out, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::remove_copy_if<Sched>(never, in, to, pred, proj);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
auto remove_copy_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto pred, auto... fn) {
        return detail::ends_of_copy<Args...>(in, out, detail::remove_copy_if<Sched>(stop, in, out, pred, fn...));
      },
      std::forward<Args>(args)...);
}

/// Copies the elements x of [first, last) for which proj(x) != value, in order. Returns the end of the output. As
/// `copy_if`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Value, class Proj = std::identity>
  requires detail::no_end_of<Value, Out>
Out remove_copy(Iterator first, Sentinel last, Out out, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::remove_copy<Sched>(never, in, to, value, proj).out);
}
/// The same with the output [out, out_last). It ends before an element for which that has no room. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Value, class Proj = std::identity>
std::ranges::in_out_result<Iterator, Out> remove_copy(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                      Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::remove_copy<Sched>(never, in, to, value, proj);
  });
}
/// The same for ranges. It ends before an element for which the output has no room.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Value, class Proj = std::identity>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
remove_copy(Range&& range, OutRange&& out, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::remove_copy<Sched>(never, in, to, value, proj);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
auto remove_copy(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto const& value, auto... fn) {
        return detail::ends_of_copy<Args...>(in, out, detail::remove_copy<Sched>(stop, in, out, value, fn...));
      },
      std::forward<Args>(args)...);
}

/// Copies the first of neighbours x, y, ... that equal(proj(x), proj(y)) takes. Returns the end of the output. As
/// `copy_if`; equal is called for neighbours, so elements are read twice. It must be an equivalence.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Equal = std::equal_to<>, class Proj = std::identity>
  requires detail::no_end_of<Equal, Out>
Out unique_copy(Iterator first, Sentinel last, Out out, Equal equal = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::unique_copy<Sched>(never, in, to, equal, proj).out);
}
/// The same with the output [out, out_last). It ends before an element for which that has no room. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Equal = std::equal_to<>, class Proj = std::identity>
std::ranges::in_out_result<Iterator, Out> unique_copy(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                      Equal equal = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::unique_copy<Sched>(never, in, to, equal, proj);
  });
}
/// The same for ranges. It ends before an element for which the output has no room.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange,
          class Equal = std::equal_to<>, class Proj = std::identity>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
unique_copy(Range&& range, OutRange&& out, Equal equal = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::unique_copy<Sched>(never, in, to, equal, proj);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
auto unique_copy(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto... fn) {
        return detail::ends_of_copy<Args...>(in, out, detail::unique_copy<Sched>(stop, in, out, fn...));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
