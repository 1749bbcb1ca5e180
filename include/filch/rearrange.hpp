// reverse, rotate, shift_left, shift_right, swap_ranges, move: elements in other places.
//
// The rules of transform.hpp hold. After a stop the elements of the range are in any order. After an exception of a
// move some have the values of moved-from elements.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/bounded.hpp>
#include <filch/detail/moving.hpp>
#include <filch/detail/writing.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// How far an algorithm has read and written.
struct both_ends {
  std::size_t in;
  std::size_t out;
};

template <class Sched, class Stop, class Iterator, class Out>
both_ends move_elements(Stop& stop, input<Iterator> const& in, input<Out> const& out) {
  std::size_t const n = std::min(in.length, out.length);
  detail::move<Sched>(stop, in.first, n, out.first);
  return {n, n};
}
template <class Sched, class Stop, class Iterator, class Out>
both_ends swap_ranges(Stop& stop, input<Iterator> const& in, input<Out> const& in2) {
  std::size_t const n = std::min(in.length, in2.length);
  swap_two_piece<Iterator, Out> piece{in.first, in2.first};
  detail::run_pieces<scheduler_for<Sched, Iterator, Out>>(0, n, piece, stop);
  return {n, n};
}
template <class Sched, class Stop, class Iterator, class Out>
both_ends reverse_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out) {
  std::size_t const n = std::min(in.length, out.length);
  std::identity same;
  input<std::reverse_iterator<Iterator>> const reversed{std::make_reverse_iterator(in.end()), n};
  detail::transform<Sched>(stop, reversed, out, same);
  return {n, n};
}

/// The elements from `middle` on, then those before it.
template <class Sched, class Stop, class Iterator, class Out>
both_ends rotate_copy(Stop& stop, input<Iterator> const& in, Iterator const& middle, input<Out> const& out) {
  std::identity same;
  std::size_t const n = detail::length_of(in.first, middle);
  std::size_t const high = detail::transform<Sched>(stop, input<Iterator>{middle, in.length - n}, out, same);
  if (high != in.length - n) return {n + high, high};
  std::size_t const low =
      detail::transform<Sched>(stop, input<Iterator>{in.first, n}, input<Out>{out.at(high), out.length - high}, same);
  return {low == n ? in.length : low, high + low};
}

}  // namespace detail

/// Puts the elements of [first, last) in the opposite order. Returns the end. Complexity: n / 2 swaps.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator reverse(Iterator first, Sentinel last) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::reverse<Sched>(never, in);
  return in.end();
}
/// The same for a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
std::ranges::borrowed_iterator_t<Range> reverse(Range&& range) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  detail::reverse<Sched>(never, in);
  return in.end();
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool reverse(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token, [](auto& stop, auto const& in) { detail::reverse<Sched>(stop, in); }, std::forward<Args>(args)...);
}

/// Moves the elements from `middle` on to the front, and those before it behind them. Keeps the order in both.
/// Returns where the first element is now. Complexity: n moves on one worker; while a worker waits, n swaps, which
/// are shared.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator rotate(Iterator first, Iterator middle, Sentinel last) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::rotate<Sched>(never, in, detail::length_of(first, middle));
  return in.at(in.length - detail::length_of(first, middle));
}
/// The same for a range. Returns the subrange from the first element on.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> rotate(Range&& range, std::ranges::iterator_t<Range> middle) {
  auto const in = detail::input_of(range);
  return {filch::rotate<Sched>(in.first, middle, in.end()), in.end()};
}
/// Both with a stop token. Return false if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel>
bool rotate(Token const& token, Iterator first, Iterator middle, Sentinel last) {
  return detail::until_stopped(token, [&](auto& stop) {
    detail::rotate<Sched>(stop, detail::input_of(first, last), detail::length_of(first, middle));
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range>
bool rotate(Token const& token, Range&& range, std::ranges::iterator_t<Range> middle) {
  auto const in = detail::input_of(range);
  return filch::rotate<Sched>(token, in.first, middle, in.end());
}

/// Copies [first, last) to the output, the elements from `middle` on first. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out rotate_copy(Iterator first, Iterator middle, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::rotate_copy<Sched>(never, in, middle, to).out);
}
/// The same with the output [out, out_last), which bounds it. Returns the end of what was read, and of what was
/// written.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_out_result<Iterator, Out> rotate_copy(Iterator first, Iterator middle, Sentinel last, Out out,
                                                      OutSentinel out_last) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::rotate_copy<Sched>(never, in, middle, to);
  });
}
/// The same for ranges. The output bounds it. Returns the end of what was read, and of what was written.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
rotate_copy(Range&& range, std::ranges::iterator_t<Range> middle, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::rotate_copy<Sched>(never, in, middle, to);
  return {in.at(ends.in), to.at(ends.out)};
}
/// All with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, std::random_access_iterator Out>
bool rotate_copy(Token const& token, Iterator first, Iterator middle, Sentinel last, Out out) {
  return detail::until_stopped(token, [&](auto& stop) {
    auto const in = detail::input_of(first, last);
    static_cast<void>(detail::rotate_copy<Sched>(stop, in, middle, detail::input<Out>{out, in.length}));
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Out, sized_random_access_end<Out> OutSentinel>
bool rotate_copy(Token const& token, Iterator first, Iterator middle, Sentinel last, Out out, OutSentinel out_last) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(
        detail::rotate_copy<Sched>(stop, detail::input_of(first, last), middle, detail::input_of(out, out_last)));
  });
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          sized_random_access_range OutRange>
bool rotate_copy(Token const& token, Range&& range, std::ranges::iterator_t<Range> middle, OutRange&& out) {
  return detail::until_stopped(token, [&](auto& stop) {
    static_cast<void>(detail::rotate_copy<Sched>(stop, detail::input_of(range), middle, detail::input_of(out)));
  });
}

/// Moves each element n places to the front; the first n are lost. Returns the end of the elements that are left.
/// Those behind it have unspecified values. Nothing happens if n is 0 or less, or no element would be left.
/// Complexity: n moves. Shared by several workers if n is 4,096 or more.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator shift_left(Iterator first, Sentinel last, std::iter_difference_t<Iterator> n) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  std::size_t const count = n > 0 ? static_cast<std::size_t>(n) : 0;
  detail::shift_left<Sched>(never, in, count);
  return in.at(in.length - std::min(count, in.length));
}
/// The same for a range. Returns the elements that are left.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> shift_left(Range&& range, std::ranges::range_difference_t<Range> n) {
  auto const in = detail::input_of(range);
  return {in.first, filch::shift_left<Sched>(in.first, in.end(), n)};
}
/// Both with a stop token. Return false if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool shift_left(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto n) {
        detail::shift_left<Sched>(stop, in, n > 0 ? static_cast<std::size_t>(n) : 0);
      },
      std::forward<Args>(args)...);
}

/// Moves each element n places to the end; the last n are lost. Returns the first of the elements that are left.
/// Those before it have unspecified values. Otherwise as shift_left.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel>
Iterator shift_right(Iterator first, Sentinel last, std::iter_difference_t<Iterator> n) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  std::size_t const count = n > 0 ? static_cast<std::size_t>(n) : 0;
  detail::shift_right<Sched>(never, in, count);
  return in.at(std::min(count, in.length));
}
/// The same for a range. Returns the elements that are left.
template <scheduler Sched = default_scheduler, sized_random_access_range Range>
  requires detail::has_subranges
std::ranges::borrowed_subrange_t<Range> shift_right(Range&& range, std::ranges::range_difference_t<Range> n) {
  auto const in = detail::input_of(range);
  return {filch::shift_right<Sched>(in.first, in.end(), n), in.end()};
}
/// Both with a stop token. Return false if a stop was requested before the end.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<1, Args...>
bool shift_right(Token const& token, Args&&... args) {
  return detail::run_stoppable<1>(
      token,
      [](auto& stop, auto const& in, auto n) {
        detail::shift_right<Sched>(stop, in, n > 0 ? static_cast<std::size_t>(n) : 0);
      },
      std::forward<Args>(args)...);
}

/// Moves the elements of [first, last) to the output. Returns its end.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out move(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::move_elements<Sched>(never, in, to).out);
}
/// The same with the output [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_out_result<Iterator, Out> move(Iterator first, Sentinel last, Out out, OutSentinel out_last) {
  detail::never_stopped never;
  return detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::move_elements<Sched>(never, in, to);
  });
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>> move(
    Range&& range, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::move_elements<Sched>(never, in, to);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool move(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out) {
        static_cast<void>(detail::move_elements<Sched>(stop, in, out));
      },
      std::forward<Args>(args)...);
}

/// Copies [first, last) to the output in the opposite order. Returns the end of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out reverse_copy(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::reverse_copy<Sched>(never, in, to).out);
}
/// The same with the output [out, out_last). It bounds the copy: the last elements are copied. Returns the end of the
/// input, and of the output.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_out_result<Iterator, Out> reverse_copy(Iterator first, Sentinel last, Out out, OutSentinel out_last) {
  detail::never_stopped never;
  auto const ends = detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::reverse_copy<Sched>(never, in, to);
  });
  return {detail::input_of(first, last).end(), ends.out};
}
/// The same for ranges. The output bounds it: the last elements are copied. Returns the end of the input, and of the
/// output.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
reverse_copy(Range&& range, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::reverse_copy<Sched>(never, in, to);
  return {in.end(), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool reverse_copy(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out) {
        static_cast<void>(detail::reverse_copy<Sched>(stop, in, out));
      },
      std::forward<Args>(args)...);
}

/// Exchanges the elements of [first, last) and those from `out` on. Returns the end of these. The ranges must not
/// overlap. Complexity: n swaps. If one throws, or after a stop, some pairs were exchanged, and others were not.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out>
Out swap_ranges(Iterator first, Sentinel last, Out out) {
  detail::never_stopped never;
  auto const in = detail::input_of(first, last);
  detail::input<Out> const to{out, in.length};
  return to.at(detail::swap_ranges<Sched>(never, in, to).out);
}
/// The same with [out, out_last). The shorter one bounds it. Returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel>
std::ranges::in_in_result<Iterator, Out> swap_ranges(Iterator first, Sentinel last, Out out, OutSentinel out_last) {
  detail::never_stopped never;
  auto const ends = detail::to_bounded(first, last, out, out_last, [&](auto const& in, auto const& to) {
    return detail::swap_ranges<Sched>(never, in, to);
  });
  return {ends.in, ends.out};
}
/// The same for ranges. The shorter one bounds it.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, sized_random_access_range OutRange>
std::ranges::in_in_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<OutRange>>
swap_ranges(Range&& range, OutRange&& out) {
  detail::never_stopped never;
  auto const in = detail::input_of(range);
  auto const to = detail::input_of(out);
  auto const ends = detail::swap_ranges<Sched>(never, in, to);
  return {in.at(ends.in), to.at(ends.out)};
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool swap_ranges(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      [](auto& stop, auto const& in, auto const& out) {
        static_cast<void>(detail::swap_ranges<Sched>(stop, in, out));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
