// More searches. The rules of find.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/more_searches.hpp>

namespace filch::inline FILCH_ABI {

/// The last element x of [first, last) for which proj(x) == value; the end if there is none. It is searched from the
/// end: the pieces below a hit end. Complexity: at most one comparison for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
Iterator find_last(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last<Sched>(never, in, value, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
std::ranges::borrowed_iterator_t<Range> find_last(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last<Sched>(never, in, value, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last<Sched>(stop, in, value, fn...)));
      },
      std::forward<Args>(args)...);
}

/// The last element x of [first, last) for which pred(proj(x)) is true; the end if there is none. As `find_last`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator find_last_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last_if<Sched>(never, in, pred, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> find_last_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last_if<Sched>(never, in, pred, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last_if<Sched>(stop, in, pred, fn...)));
      },
      std::forward<Args>(args)...);
}

/// The last element x of [first, last) for which pred(proj(x)) is false; the end if there is none. As `find_last`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
Iterator find_last_if_not(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last_if_not<Sched>(never, in, pred, proj));
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> find_last_if_not(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_last_if_not<Sched>(never, in, pred, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_last_if_not(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::not_dangling<Args...>(in.at(detail::find_last_if_not<Sched>(stop, in, pred, fn...)));
      },
      std::forward<Args>(args)...);
}

/// Is proj(x) == value for an element x of [first, last)? Complexity: at most one comparison for each element. No
/// stretch begins after a hit, which need not be the first one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
bool contains(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::contains<Sched>(never, in, value, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
bool contains(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::contains<Sched>(never, in, value, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
std::optional<bool> contains(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... fn) {
        return detail::contains<Sched>(stop, in, value, fn...);
      },
      std::forward<Args>(args)...);
}

/// Are all elements x of [first, last) for which pred(proj(x)) is true before all others? Complexity: at most n calls
/// of pred, and one more.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Pred,
          class Proj = std::identity>
bool is_partitioned(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::is_partitioned<Sched>(never, in, pred, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
bool is_partitioned(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::is_partitioned<Sched>(never, in, pred, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
std::optional<bool> is_partitioned(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... fn) {
        return detail::is_partitioned<Sched>(stop, in, pred, fn...);
      },
      std::forward<Args>(args)...);
}

/// Does a part of [first, last) match [first2, last2), as `search` finds it? Complexity: at most n m calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool contains_subrange(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {},
                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::contains_subrange<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
bool contains_subrange(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::contains_subrange<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto contains_subrange(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                       Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::contains_subrange<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// Does [first, last) begin with elements that match all of [first2, last2)? Complexity: at most m calls of pred,
/// where m is the length of [first2, last2); none if it is longer.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool starts_with(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
                 Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::starts_with<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
bool starts_with(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::starts_with<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto starts_with(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                 Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::starts_with<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// Does [first, last) end with elements that match all of [first2, last2)? Complexity: as `starts_with`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool ends_with(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
               Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::ends_with<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2);
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
bool ends_with(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return detail::ends_with<Sched>(never, in, detail::input_of(range2), pred, proj, proj2);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto ends_with(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
               Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::ends_with<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The first element x of [first, last) for which pred(proj(x), proj2(y)) is true for an element y of [first2,
/// last2); the end if there is none. Complexity: at most n m calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
Iterator find_first_of(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {},
                       Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_first_of<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2));
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::borrowed_iterator_t<Range> find_first_of(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {},
                                                      Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_first_of<Sched>(never, in, detail::input_of(range2), pred, proj, proj2));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto find_first_of(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                   Arg5&& e = {}, Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(
            in.at(detail::find_first_of<Sched>(stop, in, in2, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The first of the first `count` neighbours x of [first, last) for which pred(proj(x), value) is true; the end if
/// there are none; first if count is 0 or less. Complexity: at most n calls of pred on one worker, and at most count
/// more for each piece that is given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Pred = std::equal_to<>, class Proj = std::identity>
Iterator search_n(Iterator first, Sentinel last, std::iter_difference_t<Iterator> count, Value const& value,
                  Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(
      detail::search_n<Sched>(never, in, count > 0 ? static_cast<std::size_t>(count) : 0, value, pred, proj));
}
/// The same for a range. Returns the neighbours; an empty subrange at the end if there are none.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Pred = std::equal_to<>, class Proj = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> search_n(Range&& range, std::ranges::range_difference_t<Range> count,
                                                 Value const& value, Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  std::size_t const n = count > 0 ? static_cast<std::size_t>(count) : 0;
  return detail::part_of<Range>(in, detail::search_n<Sched>(never, in, n, value, pred, proj), n);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto search_n(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto count, auto const& value, auto... fn) {
        std::size_t const n = count > 0 ? static_cast<std::size_t>(count) : 0;
        return detail::part_found<Args...>(in, detail::search_n<Sched>(stop, in, n, value, fn...), n);
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
