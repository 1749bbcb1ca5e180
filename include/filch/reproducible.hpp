// Reductions whose result is the same to the bit in each run. The rules of reduce.hpp hold.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/reproducing.hpp>
#include <filch/detail/sieve.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <optional>

namespace filch::inline FILCH_ABI {
namespace detail {

template <class Sched, class Stop, class Iterator, class Value, class Op, class Map>
Value transform_reduce_reproducibly(Stop& stop, input<Iterator> const& in, Value&& init, Op& op, Map& map) {
  return detail::reduce_reproducibly<Sched>(stop, elements(in.first, map), in.length, std::move(init), op);
}
template <class Sched, class Stop, class Iterator, class Iterator2, class Value, class Op, class Map>
Value transform_reduce_reproducibly(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Value&& init,
                                    Op& op, Map& map) {
  return detail::reduce_reproducibly<Sched>(stop, element_pairs(in.first, in2.first, map),
                                            std::min(in.length, in2.length), std::move(init), op);
}
template <class Sched, class Stop, class Range, class Value, class Op, class Map>
Value reduce_sifted_reproducibly(Stop& stop, Range&& range, Value&& init, Op& op, Map& map) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  return detail::reduce_reproducibly<Sched>(stop, sifted_elements(s, map), s.in().length, std::move(init), op);
}

}  // namespace detail

/// `filch::reduce(filch::reproducible, range, init, op)`: the same result, to the bit, for any number of workers, any
/// scheduler and any run, although op is not quite associative, as the sum of floating-point numbers is.
struct reproducible_t {};
/// See `reproducible_t`.
inline constexpr reproducible_t reproducible{};

/// op over init and the elements of [first, last), in an order of calls that only the number of elements decides:
/// blocks of 64 from left to right, and a binary tree over the blocks. The result may differ from that of `reduce`
/// and std::accumulate in its last bits. op must take two values, too.
///
/// Complexity: one call of op for each element. Cost: as `reduce`, and some ns for each block. Allocates room for
/// values in each piece given away: two for each doubling of its length. Without memory fewer workers run, with the
/// same result.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, Value>
Value reduce(reproducible_t, Iterator first, Sentinel last, Value init, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  auto const in = detail::input_of(first, last);
  return detail::reduce_reproducibly<Sched>(never, detail::elements(in.first, all), in.length, std::move(init), op);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, Value>
Value reduce(reproducible_t, Range&& range, Value init, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  auto const in = detail::input_of(range);
  return detail::reduce_reproducibly<Sched>(never, detail::elements(in.first, all), in.length, std::move(init), op);
}
/// The sum of the elements of [first, last), and of a value-initialised one.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
std::iter_value_t<Iterator> reduce(reproducible_t, Iterator first, Sentinel last) {
  return filch::reduce<Sched>(reproducible, std::move(first), std::move(last), std::iter_value_t<Iterator>{});
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::range_value_t<Range> reduce(reproducible_t, Range&& range) {
  return filch::reduce<Sched>(reproducible, range, std::ranges::range_value_t<Range>{});
}
/// reduce(token, reproducible, range, init, op), and with a pair of iterators. init and op may be left out.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto reduce(Token const& token, reproducible_t, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      []<class In, class Value = std::iter_value_t<In>, class Op = std::plus<>>(
          auto& stop, detail::input<In> const& in, Value init = {}, Op op = {}) {
        std::identity all;
        return detail::reduce_reproducibly<Sched>(stop, detail::elements(in.first, all), in.length, std::move(init),
                                                  op);
      },
      std::forward<Args>(args)...);
}

/// The same for map(x) of the elements x of [first, last).
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Op, class Map>
  requires std::invocable<Op&, Value, Value> && std::invocable<Map&, std::iter_reference_t<Iterator>>
Value transform_reduce(reproducible_t, Iterator first, Sentinel last, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::transform_reduce_reproducibly<Sched>(never, detail::input_of(first, last), std::move(init), op, map);
}
/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Op, class Map>
  requires std::invocable<Op&, Value, Value> && std::invocable<Map&, std::ranges::range_reference_t<Range>>
Value transform_reduce(reproducible_t, Range&& range, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::transform_reduce_reproducibly<Sched>(never, detail::input_of(range), std::move(init), op, map);
}
/// The same for the elements that a std::views::filter takes. The blocks are those of the range below it, so the
/// result may differ in its last bits from that of a copy of the elements. The same with a stop token.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Op, class Map>
  requires std::invocable<Op&, Value, Value> && std::invocable<Map&, detail::sieve_reference<Range>>
Value transform_reduce(reproducible_t, Range&& range, Value init, Op op, Map map) {
  detail::never_stopped never;
  return detail::reduce_sifted_reproducibly<Sched>(never, static_cast<Range&&>(range), std::move(init), op, map);
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Op, class Map>
  requires std::invocable<Op&, Value, Value> && std::invocable<Map&, detail::sieve_reference<Range>>
std::optional<Value> transform_reduce(Token const& token, reproducible_t, Range&& range, Value init, Op op, Map map) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::reduce_sifted_reproducibly<Sched>(stop, static_cast<Range&&>(range), std::move(init), op, map);
  });
}
/// `reduce` of the elements that a std::views::filter takes, as in `transform_reduce`, and with a stop token.
template <scheduler Sched = default_scheduler, filtered_range Range, class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, Value>
Value reduce(reproducible_t, Range&& range, Value init, Op op = {}) {
  return filch::transform_reduce<Sched>(reproducible, static_cast<Range&&>(range), std::move(init), std::move(op),
                                        std::identity{});
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Value,
          class Op = std::plus<>>
  requires std::invocable<Op&, Value, Value>
std::optional<Value> reduce(Token const& token, reproducible_t, Range&& range, Value init, Op op = {}) {
  return filch::transform_reduce<Sched>(token, reproducible, static_cast<Range&&>(range), std::move(init),
                                        std::move(op), std::identity{});
}
/// Both without an initial value.
template <scheduler Sched = default_scheduler, filtered_range Range>
std::ranges::range_value_t<Range> reduce(reproducible_t, Range&& range) {
  return filch::reduce<Sched>(reproducible, static_cast<Range&&>(range), std::ranges::range_value_t<Range>{});
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range>
std::optional<std::ranges::range_value_t<Range>> reduce(Token const& token, reproducible_t, Range&& range) {
  return filch::reduce<Sched>(token, reproducible, static_cast<Range&&>(range), std::ranges::range_value_t<Range>{});
}
/// The same for map(x, y) of the elements x, y of two pairs of iterators, the second one without its end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Iterator2, class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> &&
           std::invocable<Op&, Value, Value>
Value transform_reduce(reproducible_t, Iterator first, Sentinel last, Iterator2 first2, Value init, Op op = {},
                       Map map = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::transform_reduce_reproducibly<Sched>(never, in, detail::input<Iterator2>{first2, in.length},
                                                      std::move(init), op, map);
}
/// The same for two ranges. Stops at the end of the shorter one.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Range2>> &&
           std::invocable<Op&, Value, Value>
Value transform_reduce(reproducible_t, Range&& range, Range2&& range2, Value init, Op op = {}, Map map = {}) {
  detail::never_stopped never;
  return detail::transform_reduce_reproducibly<Sched>(never, detail::input_of(range), detail::input_of(range2),
                                                      std::move(init), op, map);
}
/// With a stop token: one input.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
auto transform_reduce(Token const& token, reproducible_t, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto init, auto op, auto map) {
        return detail::transform_reduce_reproducibly<Sched>(stop, in, std::move(init), op, map);
      },
      std::forward<Args>(args)...);
}
/// With a stop token: two pairs of iterators, the second one without its end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Iterator2, class Value,
          class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>> &&
           std::invocable<Op&, Value, Value>
std::optional<Value> transform_reduce(Token const& token, reproducible_t, Iterator first, Sentinel last,
                                      Iterator2 first2, Value init, Op op = {}, Map map = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(first, last);
    return detail::transform_reduce_reproducibly<Sched>(stop, in, detail::input<Iterator2>{first2, in.length},
                                                        std::move(init), op, map);
  });
}
/// With a stop token: two ranges.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, class Value, class Op = std::plus<>, class Map = std::multiplies<>>
  requires std::invocable<Map&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Range2>> &&
           std::invocable<Op&, Value, Value>
std::optional<Value> transform_reduce(Token const& token, reproducible_t, Range&& range, Range2&& range2, Value init,
                                      Op op = {}, Map map = {}) {
  return detail::until_stopped(token, [&](auto& stop) {
    return detail::transform_reduce_reproducibly<Sched>(stop, detail::input_of(range), detail::input_of(range2),
                                                        std::move(init), op, map);
  });
}

}  // namespace filch::inline FILCH_ABI
