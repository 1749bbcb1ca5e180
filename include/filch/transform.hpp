// transform, copy, fill, generate and iota: one output element for each position.
//
// Rules for all of them. Inputs and outputs are ranges or pairs of iterators, sized and with random access. The loop
// is split on demand, as `filch::for_index` documents: that page has the rules for exceptions, for the pool and the
// thread, and the cost. A function may be called by several workers at once. The output may be the input. It must not
// overlap with it otherwise. Forms with a bounded output stop where the shortest of the ranges ends, and return the
// positions that they have reached. Forms without a bound are the C++17 ones: the output has room enough. A form with
// a stop token as its first argument returns false if a stop was requested before the end.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/writing.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI {
namespace detail {

/// In transform(first, last, i, j, f), is i a second input and j the output? Otherwise [i, j) is the output.
template <class Fn, class Proj, class Iterator, class Second, class Out>
inline constexpr bool is_second_input =
    std::is_same_v<Proj, std::identity> && std::random_access_iterator<Second> && std::random_access_iterator<Out> &&
    std::is_invocable_v<Fn&, std::iter_reference_t<Iterator>, std::iter_reference_t<Second>>;

}  // namespace detail

// ---- transform ---------------------------------------------------------------------------------

/// Writes f(x) for every x of [first, last) to the output from `out` on. Returns the end of the output. Complexity:
/// one call of f for each element.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>>
Out transform(Iterator first, Sentinel last, Out out, Fn f) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::iterator_after(out, detail::transform<Sched>(never, in, detail::input<Out>{out, in.length}, f));
}
/// Writes f(proj(x)) to the bounded output [out, out_last). An f that may be called with two elements takes two
/// inputs instead, as in std: use ranges for it.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Fn, class Proj = std::identity>
  requires std::invocable<Fn&, std::indirect_result_t<Proj&, Iterator>> &&
           (!detail::is_second_input<Fn, Proj, Iterator, Out, OutSentinel>)
std::ranges::unary_transform_result<Iterator, Out> transform(Iterator first, Sentinel last, Out out,
                                                             OutSentinel out_last, Fn f, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const to = detail::input_of(out, out_last);
  std::size_t const n = detail::transform<Sched>(never, in, to, f, proj);
  return {in.at(n), to.at(n)};
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_output OutRange,
          class Fn, class Proj = std::identity>
  requires std::invocable<Fn&, std::indirect_result_t<Proj&, std::ranges::iterator_t<Range>>>
std::ranges::unary_transform_result<std::ranges::borrowed_iterator_t<Range>,
                                    std::ranges::borrowed_iterator_t<OutRange>>
transform(Range&& range, OutRange&& out, Fn f, Proj proj = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  std::size_t const n = detail::transform<Sched>(never, in, to, f, proj);
  return {in.at(n), to.at(n)};
}

/// Writes f(x, y) for the elements x of [first, last) and y of the range from first2 on, which is as long. Returns
/// the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Iterator2, std::random_access_iterator Out, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>>
Out transform(Iterator first, Sentinel last, Iterator2 first2, Out out, Fn f) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  return detail::iterator_after(out, detail::transform2<Sched>(never, in, detail::input<Iterator2>{first2, in.length},
                                                               detail::input<Out>{out, in.length}, f));
}
/// Writes f(proj(x), proj2(y)) to the bounded output [out, out_last).
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Iterator2, sized_random_access_end<Iterator2> Sentinel2, class Out,
          sized_random_access_end<Out> OutSentinel, class Fn, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::binary_transform_result<Iterator, Iterator2, Out> transform(Iterator first, Sentinel last,
                                                                         Iterator2 first2, Sentinel2 last2, Out out,
                                                                         OutSentinel out_last, Fn f, Proj proj = {},
                                                                         Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  auto const in2 = detail::input_of(first2, last2);
  auto const to = detail::input_of(out, out_last);
  std::size_t const n = detail::transform2<Sched>(never, in, in2, to, f, proj, proj2);
  return {in.at(n), in2.at(n), to.at(n)};
}
/// The same for ranges.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range Range2,
          sized_random_access_output OutRange, class Fn, class Proj = std::identity, class Proj2 = std::identity>
std::ranges::binary_transform_result<std::ranges::borrowed_iterator_t<Range>,
                                     std::ranges::borrowed_iterator_t<Range2>,
                                     std::ranges::borrowed_iterator_t<OutRange>>
transform(Range&& range, Range2&& range2, OutRange&& out, Fn f, Proj proj = {}, Proj2 proj2 = {}) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const in2 = detail::input_of(range2);
  auto const to = detail::input_of(out);
  std::size_t const n = detail::transform2<Sched>(never, in, in2, to, f, proj, proj2);
  return {in.at(n), in2.at(n), to.at(n)};
}

/// With a stop token: one input.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool transform(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto f, auto... proj) {
        static_cast<void>(detail::transform<Sched>(stop, in, out, f, proj...));
      },
      std::forward<Args>(args)...);
}
/// With a stop token: two ranges.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range Range2, sized_random_access_output OutRange, class Fn, class... Proj>
bool transform(Token const& token, Range&& range, Range2&& range2, OutRange&& out, Fn f, Proj... proj) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(detail::transform2<Sched>(stop, detail::input_of(range), detail::input_of(range2),
                                                detail::input_of(out), f, proj...));
  });
}
/// With a stop token: two pairs of iterators, the second one without its end, and an output without bound.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Iterator2,
          std::random_access_iterator Out, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>, std::iter_reference_t<Iterator2>>
bool transform(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Out out, Fn f) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(first, last);
    static_cast<void>(detail::transform2<Sched>(stop, in, detail::input<Iterator2>{first2, in.length},
                                                detail::input<Out>{out, in.length}, f));
  });
}

/// With a stop token: two pairs of iterators and a bounded output.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Iterator2, sized_random_access_end<Iterator2> Sentinel2,
          class Out, sized_random_access_end<Out> OutSentinel, class Fn, class... Proj>
bool transform(Token const& token, Iterator first, Sentinel last, Iterator2 first2, Sentinel2 last2, Out out,
               OutSentinel out_last, Fn f, Proj... proj) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(detail::transform2<Sched>(stop, detail::input_of(first, last), detail::input_of(first2, last2),
                                                detail::input_of(out, out_last), f, proj...));
  });
}

// ---- copy --------------------------------------------------------------------------------------

/// Copies the elements of [first, last) to the output from `out` on. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out copy(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  std::identity same;
  return detail::iterator_after(out, detail::transform<Sched>(never, in, detail::input<Out>{out, in.length}, same));
}
/// Copies to the bounded output [out, out_last).
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::copy_result<Iterator, Out> copy(Iterator first, Sentinel last, Out out, OutSentinel out_last) {
  auto const end = filch::transform<Sched>(first, last, out, out_last, std::identity{});
  return {end.in, end.out};
}
/// Copies a range to a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_output OutRange>
std::ranges::copy_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>> copy(
    Range&& range, OutRange&& out) {
  auto const end = filch::transform<Sched>(range, out, std::identity{});
  return {end.in, end.out};
}
/// With a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool copy(Token const& token, Args&&... args) {
  return filch::transform<Sched>(token, std::forward<Args>(args)..., std::identity{});
}

// ---- fill, generate, iota ----------------------------------------------------------------------

/// Assigns `value` to every element of [first, last). Returns the end. `value` may be an element: it is copied first.
/// (Not if it can't be copied, as an array.)
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value>
Iterator fill(Iterator first, Sentinel last, Value const& value) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(first, last), detail::constant<Value>{value});
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_output Range, class Value>
std::ranges::borrowed_iterator_t<Range> fill(Range&& range, Value const& value) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(range), detail::constant<Value>{value});
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool fill(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto const& value) {
        static_cast<void>(
            detail::write_positions<Sched>(stop, in, detail::constant<std::remove_cvref_t<decltype(value)>>{value}));
      },
      std::forward<Args>(args)...);
}

/// Assigns g() to every element of [first, last). Several workers call g at once, in no order. Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Fn>
Iterator generate(Iterator first, Sentinel last, Fn&& g) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(first, last),
                                        detail::generated<std::remove_reference_t<Fn>>{{g}});
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_output Range, class Fn>
std::ranges::borrowed_iterator_t<Range> generate(Range&& range, Fn&& g) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(range),
                                        detail::generated<std::remove_reference_t<Fn>>{{g}});
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool generate(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto&& g) {
        static_cast<void>(
            detail::write_positions<Sched>(stop, in, detail::generated<std::remove_reference_t<decltype(g)>>{{g}}));
      },
      std::forward<Args>(args)...);
}

/// Assigns value, value + 1, and so on to the elements of [first, last). Value is a number or a random-access
/// iterator. Returns the end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value>
Iterator iota(Iterator first, Sentinel last, Value value) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(first, last), detail::counted_from<Value>{value});
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_output Range, class Value>
std::ranges::borrowed_iterator_t<Range> iota(Range&& range, Value value) {
  detail::never_stopped never;
  return detail::write_positions<Sched>(never, detail::input_of(range), detail::counted_from<Value>{value});
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool iota(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto value) {
        static_cast<void>(detail::write_positions<Sched>(stop, in, detail::counted_from<decltype(value)>{value}));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
