// Searches: the lowest position at which something is found.
//
// Rules for all of them. The input is a range or a pair of iterators, sized and with random access. It is split on
// demand, as `filch::for_index` documents: that page has the rules for exceptions, for the pool and the thread, and
// the cost. The result is the same as in a serial search. After a hit the pieces above it end: each worker runs at
// most the stretch that it has begun. So a predicate may be called for elements above the hit, and by several workers
// at once. If it throws for one of these before the hit is found, that exception leaves, other than in a serial
// search. A form with a stop token as its first argument returns a std::optional, which is empty if a stop was
// requested before the result was known.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/matching.hpp>
#include <filch/detail/sieve.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// The first element that a filter and pred take.
template <class Sched, class Stop, class Range, class Pred, class Proj>
auto find_sifted(Stop& stop, Range&& range, Pred&& pred, Proj& proj) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const test = detail::test_of(s, pred, proj);
  return detail::sifted_iterator<Range>(range, s.in().at(detail::find_where<Sched>(stop, s.in(), test)));
}

}  // namespace detail

/// The first element x of [first, last) for which pred(proj(x)) is true; the end if there is none. Complexity: at
/// most one call of pred for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
Iterator find_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_where<Sched>(never, in, pred, proj));
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
std::ranges::borrowed_iterator_t<Range> find_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_where<Sched>(never, in, pred, proj));
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
auto find_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_sifted<Sched>(never, static_cast<Range&&>(range), pred, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
auto find_if(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(
      token, [&](auto& stop) { return detail::find_sifted<Sched>(stop, static_cast<Range&&>(range), pred, proj); });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::not_dangling<Args...>(in.at(detail::find_where<Sched>(stop, in, pred, proj...)));
      },
      std::forward<Args>(args)...);
}

/// The first element x of [first, last) for which pred(proj(x)) is false; the end if there is none. Complexity: at
/// most one call of pred for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
Iterator find_if_not(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_where<Sched>(never, in, detail::negated{pred}, proj));
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
std::ranges::borrowed_iterator_t<Range> find_if_not(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_where<Sched>(never, in, detail::negated{pred}, proj));
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
auto find_if_not(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_sifted<Sched>(never, static_cast<Range&&>(range), detail::negated{pred}, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
auto find_if_not(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::find_sifted<Sched>(stop, static_cast<Range&&>(range), detail::negated{pred}, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find_if_not(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::not_dangling<Args...>(
            in.at(detail::find_where<Sched>(stop, in, detail::negated{pred}, proj...)));
      },
      std::forward<Args>(args)...);
}

/// The first element x of [first, last) for which proj(x) == value; the end if there is none. Complexity: at most one
/// comparison for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
Iterator find(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_where<Sched>(never, in, detail::equal_to{value}, proj));
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
std::ranges::borrowed_iterator_t<Range> find(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_where<Sched>(never, in, detail::equal_to{value}, proj));
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Proj = std::identity>
auto find(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_sifted<Sched>(never, static_cast<Range&&>(range), detail::equal_to{value}, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Proj = std::identity>
auto find(Token const& token, Range&& range, Value const& value, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::find_sifted<Sched>(stop, static_cast<Range&&>(range), detail::equal_to{value}, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto find(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... proj) {
        return detail::not_dangling<Args...>(
            in.at(detail::find_where<Sched>(stop, in, detail::equal_to{value}, proj...)));
      },
      std::forward<Args>(args)...);
}

/// The first of the first two neighbours x, y of [first, last) for which pred(proj(x), proj(y)) is true; the end if
/// there are none. Complexity: at most n - 1 calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Pred = std::equal_to<>, class Proj = std::identity>
Iterator adjacent_find(Iterator first, Sentinel last, Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_adjacent<Sched>(never, in, pred, proj));
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Pred = std::equal_to<>,
          class Proj = std::identity>
  requires detail::no_end_of<Pred, Range>
std::ranges::borrowed_iterator_t<Range> adjacent_find(Range&& range, Pred pred = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::find_adjacent<Sched>(never, in, pred, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto adjacent_find(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::equal_to<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(in.at(detail::find_adjacent<Sched>(stop, in, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// The end of the longest sorted range that begins at first. Complexity: at most n - 1 calls of comp.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator is_sorted_until(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::sorted_length<Sched>(never, in, comp, proj));
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> is_sorted_until(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  return in.at(detail::sorted_length<Sched>(never, in, comp, proj));
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto is_sorted_until(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(in.at(detail::sorted_length<Sched>(stop, in, fn...)));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Is [first, last) sorted by comp of its projections? No stretch begins after the answer is known.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
bool is_sorted(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::is_sorted<Sched>(never, detail::input_of(first, last), comp, proj);
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
bool is_sorted(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::is_sorted<Sched>(never, detail::input_of(range), comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto is_sorted(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token, [](auto& stop, auto const& in, auto... fn) { return detail::is_sorted<Sched>(stop, in, fn...); },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// The beginning of the first part of [first, last) that matches [first2, last2): pred(proj(x), proj2(y)) is true for
/// all pairs of their elements. The end if there is none; first if the second range is empty. Complexity: at most n *
/// m calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
Iterator search(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
                Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_match<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2));
}
/// The same for two ranges. Returns the part itself; an empty one at the end if there is none.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> search(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {},
                                               Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const in2 = detail::input_of(range2);
  return detail::part_of<Range>(in, detail::find_match<Sched>(never, in, in2, pred, proj, proj2), in2.length);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto search(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {}, Arg5&& e = {},
            Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::part_found<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(
            in, detail::find_match<Sched>(stop, in, in2, fn...), in2.length);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The beginning of the last part of [first, last) that matches [first2, last2): pred(proj(x), proj2(y)) is true for
/// all pairs of their elements. The end if there is none, or if the second range is empty. Complexity: at most n * m
/// calls of pred.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
Iterator find_end(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
                  Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return in.at(detail::find_last_match<Sched>(never, in, detail::input_of(first2, last2), pred, proj, proj2));
}
/// The same for two ranges. Returns the part itself; an empty one at the end if there is none.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> find_end(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {},
                                                 Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const in2 = detail::input_of(range2);
  return detail::part_of<Range>(in, detail::find_last_match<Sched>(never, in, in2, pred, proj, proj2), in2.length);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto find_end(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {}, Arg5&& e = {},
              Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::part_found<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(
            in, detail::find_last_match<Sched>(stop, in, in2, fn...), in2.length);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
