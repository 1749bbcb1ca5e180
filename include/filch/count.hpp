// Counts of elements. The rules of reduce.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/reducing.hpp>
#include <filch/detail/sieve.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// The number of elements that a filter and pred take.
template <class Sched, class Stop, class Range, class Pred, class Proj>
std::ranges::range_difference_t<Range> count_sifted(Stop& stop, Range&& range, Pred&& pred, Proj& proj) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const test = detail::test_of(s, pred, proj);
  return static_cast<std::ranges::range_difference_t<Range>>(detail::count_if<Sched>(stop, s.in(), test));
}

}  // namespace detail

/// The number of elements x of [first, last) for which pred(proj(x)) is true. Complexity: one call of pred for each.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Proj = std::identity, detail::predicate_for<Iterator, Proj> Pred>
std::iter_difference_t<Iterator> count_if(Iterator first, Sentinel last, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_if<Sched>(never, detail::input_of(first, last), pred, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Proj = std::identity,
          detail::predicate_for<std::ranges::iterator_t<Range>, Proj> Pred>
std::ranges::range_difference_t<Range> count_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_if<Sched>(never, detail::input_of(range), pred, proj);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Pred, class Proj = std::identity>
std::ranges::range_difference_t<Range> count_if(Range&& range, Pred pred, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_sifted<Sched>(never, static_cast<Range&&>(range), pred, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Pred,
          class Proj = std::identity>
auto count_if(Token const& token, Range&& range, Pred pred, Proj proj = {}) {
  return detail::until_stopped(
      token, [&](auto& stop) { return detail::count_sifted<Sched>(stop, static_cast<Range&&>(range), pred, proj); });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto count_if(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto pred, auto... proj) {
        return detail::count_if<Sched>(stop, in, pred, proj...);
      },
      std::forward<Args>(args)...);
}

/// The number of elements x of [first, last) for which proj(x) == value.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Proj = std::identity>
std::iter_difference_t<Iterator> count(Iterator first, Sentinel last, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_if<Sched>(never, detail::input_of(first, last), detail::equal_to{value}, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value,
          class Proj = std::identity>
  requires detail::no_end_of<Value, Range>
std::ranges::range_difference_t<Range> count(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_if<Sched>(never, detail::input_of(range), detail::equal_to{value}, proj);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Proj = std::identity>
std::ranges::range_difference_t<Range> count(Range&& range, Value const& value, Proj proj = {}) {
  detail::never_stopped never;
  return detail::count_sifted<Sched>(never, static_cast<Range&&>(range), detail::equal_to{value}, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Proj = std::identity>
auto count(Token const& token, Range&& range, Value const& value, Proj proj = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::count_sifted<Sched>(stop, static_cast<Range&&>(range), detail::equal_to{value}, proj);
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto count(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value, auto... proj) {
        return detail::count_if<Sched>(stop, in, detail::equal_to{value}, proj...);
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
