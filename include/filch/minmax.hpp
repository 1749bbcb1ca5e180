// The least and the greatest element of a range, and their values. The rules of reduce.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/extremes.hpp>

#include <algorithm>
#include <initializer_list>

namespace filch::inline FILCH_ABI {

/// The first of the least elements of [first, last), by comp of their projections. The end if there is none.
/// Complexity: n - 1 calls of comp, and one for each piece that was given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator min_element(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_extreme<Sched, detail::extreme::first_least>(never, detail::input_of(first, last), comp, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> min_element(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_extreme<Sched, detail::extreme::first_least>(never, detail::input_of(range), comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto min_element(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(
            detail::find_extreme<Sched, detail::extreme::first_least>(stop, in, fn...));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}
/// A copy of the element that `min_element` finds. The range must not be empty.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::range_value_t<Range> min(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return static_cast<std::ranges::range_value_t<Range>>(
      *detail::find_extreme<Sched, detail::extreme::first_least>(never, detail::input_of(range), comp, proj));
}
/// The same for the elements that a std::views::filter takes, of which there is one. Splits the range below it. With
/// a stop token the result is also empty if there is none.
template <scheduler Sched = default_scheduler, filtered_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::range_value_t<Range> min(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return *detail::find_sifted_extreme<Sched, detail::extreme::first_least>(never, static_cast<Range&&>(range), comp,
                                                                           proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range,
          class Comp = std::less<>, class Proj = std::identity>
auto min(Token const& token, Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::stop_request stop(token);
  return detail::find_sifted_extreme<Sched, detail::extreme::first_least>(stop, static_cast<Range&&>(range), comp,
                                                                          proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
std::optional<std::ranges::range_value_t<Range>> min(Token const& token, Range&& range, Comp comp = {},
                                                     Proj proj = {}) {
  auto const found = filch::min_element<Sched>(token, range, std::move(comp), std::move(proj));
  if (!found) return {};
  return static_cast<std::ranges::range_value_t<Range>>(**found);
}
/// The same for a list in braces, and with a stop token.
template <scheduler Sched = default_scheduler, class Value, class Comp = std::less<>, class Proj = std::identity>
Value min(std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  return *filch::min_element<Sched>(list.begin(), list.end(), std::move(comp), std::move(proj));
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Value, class Comp = std::less<>,
          class Proj = std::identity>
std::optional<Value> min(Token const& token, std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  auto const found = filch::min_element<Sched>(token, list.begin(), list.end(), std::move(comp), std::move(proj));
  return found ? std::optional<Value>(**found) : std::nullopt;
}

/// The first of the greatest elements of [first, last); otherwise as `min_element`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
Iterator max_element(Iterator first, Sentinel last, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_extreme<Sched, detail::extreme::first_greatest>(never, detail::input_of(first, last), comp,
                                                                      proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::borrowed_iterator_t<Range> max_element(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_extreme<Sched, detail::extreme::first_greatest>(never, detail::input_of(range), comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto max_element(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        return detail::not_dangling<First, Arg1, Arg2, Arg3>(
            detail::find_extreme<Sched, detail::extreme::first_greatest>(stop, in, fn...));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}
/// A copy of the element that `max_element` finds. The range must not be empty.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::range_value_t<Range> max(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return static_cast<std::ranges::range_value_t<Range>>(
      *detail::find_extreme<Sched, detail::extreme::first_greatest>(never, detail::input_of(range), comp, proj));
}
/// The same for the elements that a std::views::filter takes, of which there is one. Splits the range below it. With
/// a stop token the result is also empty if there is none.
template <scheduler Sched = default_scheduler, filtered_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::range_value_t<Range> max(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return *detail::find_sifted_extreme<Sched, detail::extreme::first_greatest>(never, static_cast<Range&&>(range),
                                                                              comp, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range,
          class Comp = std::less<>, class Proj = std::identity>
auto max(Token const& token, Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::stop_request stop(token);
  return detail::find_sifted_extreme<Sched, detail::extreme::first_greatest>(stop, static_cast<Range&&>(range), comp,
                                                                             proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
std::optional<std::ranges::range_value_t<Range>> max(Token const& token, Range&& range, Comp comp = {},
                                                     Proj proj = {}) {
  auto const found = filch::max_element<Sched>(token, range, std::move(comp), std::move(proj));
  if (!found) return {};
  return static_cast<std::ranges::range_value_t<Range>>(**found);
}
/// The same for a list in braces, and with a stop token.
template <scheduler Sched = default_scheduler, class Value, class Comp = std::less<>, class Proj = std::identity>
Value max(std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  return *filch::max_element<Sched>(list.begin(), list.end(), std::move(comp), std::move(proj));
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Value, class Comp = std::less<>,
          class Proj = std::identity>
std::optional<Value> max(Token const& token, std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  auto const found = filch::max_element<Sched>(token, list.begin(), list.end(), std::move(comp), std::move(proj));
  return found ? std::optional<Value>(**found) : std::nullopt;
}

/// The first of the least elements of [first, last), and the last of the greatest. Both are the end if there is none.
/// Complexity: at most 3 n / 2 calls of comp, and one more for each piece that was given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Comp = std::less<>, class Proj = std::identity>
std::ranges::minmax_element_result<Iterator> minmax_element(Iterator first, Sentinel last, Comp comp = {},
                                                            Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_both_extremes<Sched>(never, detail::input_of(first, last), comp, proj);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
  requires detail::no_end_of<Comp, Range>
std::ranges::minmax_element_result<std::ranges::borrowed_iterator_t<Range>> minmax_element(Range&& range,
                                                                                           Comp comp = {},
                                                                                           Proj proj = {}) {
  detail::never_stopped never;
  return detail::find_both_extremes<Sched>(never, detail::input_of(range), comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First,
          class Arg1 = detail::absent, class Arg2 = detail::absent, class Arg3 = detail::absent>
  requires detail::begins_with_inputs<1, First, Arg1, Arg2, Arg3>
auto minmax_element(Token const& token, First&& first, Arg1&& a = {}, Arg2&& b = {}, Arg3&& c = {}) {
  return detail::run_stoppable<1, detail::defaults<std::less<>, std::identity>>(
      token,
      [](auto& stop, auto const& in, auto... fn) {
        auto const found = detail::find_both_extremes<Sched>(stop, in, fn...);
        auto const least = detail::not_dangling<First, Arg1, Arg2, Arg3>(found.min);
        return std::ranges::minmax_element_result<std::remove_const_t<decltype(least)>>{
            least, detail::not_dangling<First, Arg1, Arg2, Arg3>(found.max)};
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c));
}

/// Copies of the elements that `minmax_element` finds: the members `min` and `max`. The range must not be empty.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::minmax_result<std::ranges::range_value_t<Range>> minmax(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  using value = std::ranges::range_value_t<Range>;
  return detail::values_of<value>(detail::find_both_extremes<Sched>(never, detail::input_of(range), comp, proj));
}
/// The same for the elements that a std::views::filter takes, of which there is one. Splits the range below it. With
/// a stop token the result is also empty if there is none.
template <scheduler Sched = default_scheduler, filtered_range Range, class Comp = std::less<>,
          class Proj = std::identity>
std::ranges::minmax_result<std::ranges::range_value_t<Range>> minmax(Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::never_stopped never;
  return *detail::find_sifted_extremes<Sched>(never, static_cast<Range&&>(range), comp, proj);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range,
          class Comp = std::less<>, class Proj = std::identity>
auto minmax(Token const& token, Range&& range, Comp comp = {}, Proj proj = {}) {
  detail::stop_request stop(token);
  return detail::find_sifted_extremes<Sched>(stop, static_cast<Range&&>(range), comp, proj);
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Comp = std::less<>, class Proj = std::identity>
auto minmax(Token const& token, Range&& range, Comp comp = {}, Proj proj = {}) {
  using value = std::ranges::range_value_t<Range>;
  auto const found = filch::minmax_element<Sched>(token, range, std::move(comp), std::move(proj));
  return found ? std::optional(detail::values_of<value>(*found)) : std::nullopt;
}
/// The same for a list in braces, and with a stop token.
template <scheduler Sched = default_scheduler, class Value, class Comp = std::less<>, class Proj = std::identity>
std::ranges::minmax_result<Value> minmax(std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  return detail::values_of<Value>(
      filch::minmax_element<Sched>(list.begin(), list.end(), std::move(comp), std::move(proj)));
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Value, class Comp = std::less<>,
          class Proj = std::identity>
auto minmax(Token const& token, std::initializer_list<Value> list, Comp comp = {}, Proj proj = {}) {
  auto const found = filch::minmax_element<Sched>(token, list.begin(), list.end(), std::move(comp), std::move(proj));
  return found ? std::optional(detail::values_of<Value>(*found)) : std::nullopt;
}

}  // namespace filch::inline FILCH_ABI
