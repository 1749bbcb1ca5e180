// Reductions to a bool or a position: all_of, any_of, none_of, equal and mismatch. The rules of reduce.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/sieve.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Is there an element that a filter and pred take?
template <class Sched, class Stop, class Range, class Pred, class Proj>
bool finds_any_sifted(Stop& stop, Range&& range, Pred&& pred, Proj& proj) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const test = detail::test_of(s, pred, proj);
  return detail::finds_any<Sched>(stop, s.in(), test);
}

}  // namespace detail

// ---- all, any, none ----------------------------------------------------------------------------

/// Is pred(proj(x)) true for every element x of [first, last)? True if there is none. No stretch begins
/// after the answer is known. Complexity: at most one call of pred for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
bool all_of(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any<Sched>(never, detail::input_of(first, last), detail::negated{pred}, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
bool all_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any<Sched>(never, detail::input_of(range), detail::negated{pred}, proj);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
bool all_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any_sifted<Sched>(never, static_cast<Range&&>(range), detail::negated{pred}, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
std::optional<bool> all_of(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return !detail::finds_any_sifted<Sched>(stop, static_cast<Range&&>(range), detail::negated{pred}, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto all_of(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return !detail::finds_any<Sched>(stop, in, detail::negated{pred}, proj...);
      },
      std::forward<Args>(args)...);
}

/// Is pred(proj(x)) true for an element x of [first, last)? No stretch begins
/// after the answer is known. Complexity: at most one call of pred for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
bool any_of(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::finds_any<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
bool any_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::finds_any<Sched>(never, detail::input_of(range), pred, proj);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
bool any_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::finds_any_sifted<Sched>(never, static_cast<Range&&>(range), pred, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
std::optional<bool> any_of(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::finds_any_sifted<Sched>(stop, static_cast<Range&&>(range), pred, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto any_of(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::finds_any<Sched>(stop, in, pred, proj...);
      },
      std::forward<Args>(args)...);
}

/// Is pred(proj(x)) false for every element x of [first, last)? True if there is none. No stretch begins
/// after the answer is known. Complexity: at most one call of pred for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
bool none_of(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
bool none_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any<Sched>(never, detail::input_of(range), pred, proj);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
bool none_of(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return !detail::finds_any_sifted<Sched>(never, static_cast<Range&&>(range), pred, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
std::optional<bool> none_of(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return !detail::finds_any_sifted<Sched>(stop, static_cast<Range&&>(range), pred, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto none_of(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return !detail::finds_any<Sched>(stop, in, pred, proj...);
      },
      std::forward<Args>(args)...);
}

// ---- equal and mismatch ------------------------------------------------------------------------

/// Have [first, last) and [first2, last2) the same length, and is pred(proj(x), proj2(y)) true for all pairs of their
/// elements? No stretch begins after the answer is known. Complexity: at most n calls of pred; none if the lengths
/// differ.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
bool equal(Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Pred pred = {}, Proj proj = {},
           Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::are_equal<Sched>(never, detail::input_of(first, last), detail::input_of(first2, last2), pred, proj,
                                  proj2);
}
/// The same for two ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
bool equal(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  return detail::are_equal<Sched>(never, detail::input_of(range), detail::input_of(range2), pred, proj, proj2);
}
/// The same for a second range that begins at first2 and is as long as the first one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Iterator2, class Pred = std::equal_to<>>
  requires(!sized_random_access_end<Pred, Iterator2>)
bool equal(Iterator first, Sentinel last, Iterator2 first2, Pred pred = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::are_equal<Sched>(never, in, detail::input<Iterator2>{first2, in.length}, pred);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto equal(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {}, Arg5&& e = {},
           Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto const& in2, auto... fn) {
        return detail::are_equal<Sched>(stop, in, in2, fn...);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

/// The first pair of elements of two ranges for which pred(proj(x), proj2(y)) is false. If there is none, the
/// position at which the shorter one ends. Complexity: at most one call of pred for each pair. As in `find`, pairs
/// behind the result may be compared, and their exceptions may leave.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Pred = std::equal_to<>,
          class Proj = std::identity, class Proj2 = std::identity>
std::ranges::mismatch_result<Iterator, Iterator2> mismatch(Iterator first, Sentinel last, Iterator2 first2,
                                                           Sentinel2 last2, Pred pred = {}, Proj proj = {},
                                                           Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const in2 = detail::input_of(first2, last2);
  std::size_t const n = detail::find_mismatch<Sched>(never, in, in2, pred, proj, proj2);
  return {in.at(n), in2.at(n)};
}
/// The same for a second range that begins at first2 and is as long as the first one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Iterator2, class Pred = std::equal_to<>>
  requires(!sized_random_access_end<Pred, Iterator2>)
std::ranges::mismatch_result<Iterator, Iterator2> mismatch(Iterator first, Sentinel last, Iterator2 first2,
                                                           Pred pred = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  std::size_t const n = detail::find_mismatch<Sched>(never, in, detail::input<Iterator2>{first2, in.length}, pred);
  return {in.at(n), detail::iterator_after(first2, n)};
}
/// The same for two ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Pred = std::equal_to<>, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::mismatch_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<Range2>>
mismatch(Range&& range, Range2&& range2, Pred pred = {}, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const in2 = detail::input_of(range2);
  std::size_t const n = detail::find_mismatch<Sched>(never, in, in2, pred, proj, proj2);
  return {in.at(n), in2.at(n)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent, class Arg6 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>
auto mismatch(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {}, Arg5&& e = {},
              Arg6&& f = {}) {
  return detail::run_stoppable<2, detail::defaults<std::equal_to<>, std::identity, std::identity>>(
      token,
      []<class In, class In2>(auto& stop, detail::input<In> const& in, detail::input<In2> const& in2, auto... fn) {
        std::size_t const n = detail::find_mismatch<Sched>(stop, in, in2, fn...);
        auto const at = detail::not_dangling<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(in.at(n));
        auto const at2 = detail::second_not_dangling<First, Arg1, Arg2, Arg3, Arg4, Arg5, Arg6>(in2.at(n));
        return std::ranges::mismatch_result<std::remove_const_t<decltype(at)>, std::remove_const_t<decltype(at2)>>{
            at, at2};
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e), std::forward<Arg6>(f));
}

}  // namespace filch::inline FILCH_ABI
