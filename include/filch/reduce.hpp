// Reductions: one value of all elements of a range.
//
// The input is a range or a pair of iterators, sized and with random access. It is split on demand:
// `filch::for_index` documents exceptions, pool, thread and cost. Several workers may call a function at once. A form
// with a stop token as its first argument returns a std::optional, which is empty if a stop was requested before the
// end.
#pragma once

#include <filch/all_of.hpp>
#include <filch/count.hpp>
#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/finding.hpp>
#include <filch/detail/reducing.hpp>
#include <filch/detail/sieve.hpp>
#include <filch/minmax.hpp>
#include <filch/reproducible.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI {
namespace detail {

/// op over `init` and map(x) of the elements x that a filter takes.
template <class Sched, class Stop, class Range, class Value, class Op, class Map>
Value reduce_sifted(Stop& stop, Range&& range, Value&& init, Op& op, Map& map) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  return detail::reduce_source<Sched>(stop, sifted_elements(s, map), s.in().length, std::move(init), op);
}

}  // namespace detail

/// op(...op(op(init, x0), x1)..., xn) of all elements of [first, last).
/// The order of the elements is kept. op must be associative, and need not be commutative. It needs no identity: each
/// piece but the lowest begins with its first element, converted to Value implicitly. Value may be a type that
/// can be moved only. On one worker the result is that of std::accumulate, to the bit. On several workers a
/// floating-point result may differ in its last bits from run to run; with `reproducible` it does not. Complexity:
/// one call of op for each element. Cost: that of `for_index`, and one call of op for each piece that was given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, std::iter_reference_t<Iterator>> && std::invocable<Op&, Value, Value>
Value reduce(Iterator first, Sentinel last, Value init, Op op = {}) {
  detail::never_stopped never;
  return detail::reduce<Sched>(never, detail::input_of(first, last), std::move(init), op);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, std::ranges::range_reference_t<Range>> && std::invocable<Op&, Value, Value> &&
           detail::no_end_of<Value, Range>
Value reduce(Range&& range, Value init, Op op = {}) {
  detail::never_stopped never;
  return detail::reduce<Sched>(never, detail::input_of(range), std::move(init), op);
}
/// The sum of the elements of [first, last), and of a value-initialised one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
std::iter_value_t<Iterator> reduce(Iterator first, Sentinel last) {
  return filch::reduce<Sched>(std::move(first), std::move(last), std::iter_value_t<Iterator>{});
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::range_value_t<Range> reduce(Range&& range) {
  return filch::reduce<Sched>(range, std::ranges::range_value_t<Range>{});
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto reduce(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      []<class In, class Value = std::iter_value_t<In>, class Op = std::plus<>>(
          auto& stop, detail::input<In> const& in, Value init = {}, Op op = {}) {
        return detail::reduce<Sched>(stop, in, std::move(init), op);
      },
      std::forward<Args>(args)...);
}

/// op over init and map(x) of all elements x of [first, last), as in `reduce`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Op, class Map>
  requires std::invocable<Map&, std::iter_reference_t<Iterator>> && std::invocable<Op&, Value, Value>
Value transform_reduce(Iterator first, Sentinel last, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::transform_reduce<Sched>(never, detail::input_of(first, last), std::move(init), op, map);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Op, class Map>
  requires std::invocable<Map&, std::ranges::range_reference_t<Range>> && std::invocable<Op&, Value, Value>
Value transform_reduce(Range&& range, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::transform_reduce<Sched>(never, detail::input_of(range), std::move(init), op, map);
}
/// The same for the elements that a std::views::filter takes, and with a stop token. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Op, class Map>
  requires std::invocable<Map&, detail::sieve_reference<Range>>
Value transform_reduce(Range&& range, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::reduce_sifted<Sched>(never, static_cast<Range&&>(range), std::move(init), op, map);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Op, class Map>
  requires std::invocable<Map&, detail::sieve_reference<Range>>
std::optional<Value> transform_reduce(Token const& token, Range&& range, Value init, Op op, Map map) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::reduce_sifted<Sched>(stop, static_cast<Range&&>(range), std::move(init), op, map);
  });
}
/// `reduce` of the elements that a std::views::filter takes, and with a stop token.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Op = std::plus<>>
Value reduce(Range&& range, Value init, Op op = {}) {
  return filch::transform_reduce<Sched>(static_cast<Range&&>(range), std::move(init), std::move(op), std::identity{});
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Op = std::plus<>>
std::optional<Value> reduce(Token const& token, Range&& range, Value init, Op op = {}) {
  return filch::transform_reduce<Sched>(token, static_cast<Range&&>(range), std::move(init), std::move(op),
                                        std::identity{});
}
/// Both without an initial value: the sum of the elements, and of a value-initialised one.
template <scheduler Sched = default_scheduler, filtered_range Range>
std::ranges::range_value_t<Range> reduce(Range&& range) {
  return filch::reduce<Sched>(static_cast<Range&&>(range), std::ranges::range_value_t<Range>{});
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range>
std::optional<std::ranges::range_value_t<Range>> reduce(Token const& token, Range&& range) {
  return filch::reduce<Sched>(token, static_cast<Range&&>(range), std::ranges::range_value_t<Range>{});
}
/// op over init and map(x, y) of the elements x and y of two ranges; without op and map the inner product. (That op
/// takes two values tells it from the form of one range whose initial value is an iterator.)
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Iterator2, class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> &&
           std::invocable<Op&, Value, Value>
Value transform_reduce(Iterator first, Sentinel last, Iterator2 first2, Value init, Op op = {}, Map map = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::transform_reduce<Sched>(never, in, detail::input<Iterator2>{first2, in.length}, std::move(init), op,
                                         map);
}
/// The same for the elements of two ranges. Stops at the end of the shorter one.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Range2>> &&
           std::invocable<Op&, Value, Value>
Value transform_reduce(Range&& range, Range2&& range2, Value init, Op op = {}, Map map = {}) {
  detail::never_stopped never;
  return detail::transform_reduce<Sched>(never, detail::input_of(range), detail::input_of(range2), std::move(init),
                                         op, map);
}
/// Both with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto transform_reduce(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto init, auto op, auto map) {
        return detail::transform_reduce<Sched>(stop, in, std::move(init), op, map);
      },
      std::forward<Args>(args)...);
}
/// With a stop token: two ranges.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Range2>> &&
           std::invocable<Op&, Value, Value>
std::optional<Value> transform_reduce(Token const& token, Range&& range, Range2&& range2, Value init, Op op = {},
                                      Map map = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::transform_reduce<Sched>(stop, detail::input_of(range), detail::input_of(range2), std::move(init),
                                           op, map);
  });
}
/// With a stop token: two pairs of iterators, the second one without its end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Iterator2, class Value,
          class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> &&
           std::invocable<Op&, Value, Value>
std::optional<Value> transform_reduce(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Value init,
                                      Op op = {}, Map map = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(first, last);
    return detail::transform_reduce<Sched>(stop, in, detail::input<Iterator2>{first2, in.length}, std::move(init), op,
                                           map);
  });
}

}  // namespace filch::inline FILCH_ABI
