// Scans: all sums of the beginnings of a range, and the differences of neighbours. A form with a stop token as its
// first argument returns false if a stop was requested before the end.
#pragma once

#include <filch/adjacent_difference.hpp>
#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/bounded.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/scanning.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Runs a scan of n values. `initial` may be empty if it is inclusive.
template <class Sched, scan_kind Kind, class Value, class Stop, class Source, class Out, class Op>
void scan(Stop& stop, Source const& in, std::size_t n, Out const& out, std::optional<Value> initial, Op& op) {
  using work = scan_work<Kind, Value, Source, Out, Op>;
  work w{in, out, {{op}}};
  using sched = scheduler_for<Sched, Out>;
  carrying_piece<sched, Stop, work> piece(w, stop, n, std::move(initial));
  detail::run_pieces<sched>(0, n, piece, stop);
}

/// A scan with a stop token, of the values of f.
template <class Sched, scan_kind Kind, class Value, class Stop, class In, class Out, class Fn, class Op>
void scan_inputs(Stop& stop, input<In> const& in, input<Out> const& out, Fn& f, Op& op,
                 std::optional<Value> initial = {}) {
  std::size_t const n = std::min(in.length, out.length);
  detail::scan<Sched, Kind, Value>(stop, elements(in.first, f), n, out.first, std::move(initial), op);
}

/// The type of the values of a scan: that of the initial value if there is one.
template <class Value, class... Initial> struct scanned {
  using type = Value;
};
template <class Value, class Initial> struct scanned<Value, Initial> {
  using type = Initial;
};
template <class... Types> using scanned_value = typename scanned<Types...>::type;

/// Is it the operation of a scan over values, and no iterator, range or token?
template <class Op, class Value>
concept scan_operation = std::invocable<Op&, Value, Value>;

}  // namespace detail

/// Writes x0, op(x0, x1), op(op(x0, x1), x2)... of the elements of [first, last) to `out` and its successors. Returns
/// the end of what was written. `out` may be `first`: each element is written after its last read.
///
/// op must be associative. It need not be commutative and needs no identity. It gets values of the element's type, or
/// an element itself as a constant, and each result is assigned to the output once: a type that can be copied is
/// enough. Elements convert to it implicitly. An element that takes a second pass is read twice; if it may be moved
/// from, the first read copies it. On one worker the results are those of std::inclusive_scan, to the bit, if an
/// initial value has the element's type.
///
/// Exceptions, pool and thread: as in `for_index`. What was written is unspecified after an exception.
/// Complexity: n - 1 calls of op on one worker. Positions that were given away and run before the sum below them was
/// known take a second pass, so at most 2 n and a few for each piece. Allocates nothing. Cost: that of `for_index`,
/// and one atomic load for each stretch of a piece that was given away. Paper: D. Merrill, M. Garland, Single-pass
/// parallel prefix scan with decoupled look-back, NVIDIA 2016, whose pieces also look whether the sum below is known.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Op = std::plus<>>
  requires detail::scan_operation<Op, std::iter_value_t<Iterator>>
Out inclusive_scan(Iterator first, Sentinel last, Out out, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  std::size_t const n = detail::length_of(first, last);
  using value = std::iter_value_t<Iterator>;
  detail::scan<Sched, detail::scan_kind::inclusive, value>(never, detail::elements(first, all), n, out, {}, op);
  return detail::iterator_after(out, n);
}
/// The same with op(init, x0) as the first result, and values of init's type. (std's order of arguments.)
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Op, class Value>
  requires detail::scan_operation<Op, Value>
Out inclusive_scan(Iterator first, Sentinel last, Out out, Op op, Value init) {
  detail::never_stopped never;
  std::identity all;
  std::size_t const n = detail::length_of(first, last);
  detail::scan<Sched, detail::scan_kind::inclusive, Value>(never, detail::elements(first, all), n, out,
                                                           std::optional<Value>(std::move(init)), op);
  return detail::iterator_after(out, n);
}
/// Ends where the shorter one of [first, last) and [out, out_last) does, and returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Op = std::plus<>>
  requires detail::scan_operation<Op, std::iter_value_t<Iterator>>
std::ranges::in_out_result<Iterator, Out> inclusive_scan(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                         Op op = {}) {
  return detail::with_bounds(detail::input_of(first, last), detail::input_of(out, out_last),
                             [&](auto const&... ends) { filch::inclusive_scan<Sched>(ends..., std::move(op)); });
}
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Op, class Value>
  requires detail::scan_operation<Op, Value>
std::ranges::in_out_result<Iterator, Out> inclusive_scan(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                         Op op, Value init) {
  return detail::with_bounds(
      detail::input_of(first, last), detail::input_of(out, out_last),
      [&](auto const&... ends) { filch::inclusive_scan<Sched>(ends..., std::move(op), std::move(init)); });
}
/// The same for ranges. Ends at the end of the shorter one, and returns both ends.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Op = std::plus<>>
  requires detail::scan_operation<Op, std::ranges::range_value_t<In>>
auto inclusive_scan(In&& in, Out&& out, Op op = {}) {
  return detail::with_ranges<In, Out>(
      in, out, [&](auto const&... ends) { filch::inclusive_scan<Sched>(ends..., std::move(op)); });
}
/// The same for ranges, with op(init, x0) as the first result.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out, class Op,
          class Value>
  requires detail::scan_operation<Op, Value>
auto inclusive_scan(In&& in, Out&& out, Op op, Value init) {
  return detail::with_ranges<In, Out>(
      in, out, [&](auto const&... ends) { filch::inclusive_scan<Sched>(ends..., std::move(op), std::move(init)); });
}
/// The same with a stop token: inclusive_scan(token, first, last, out, op, init) or (token, in, out, op, init), and
/// with out_last.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent,
          class Arg5 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5>
bool inclusive_scan(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {},
                    Arg5&& e = {}) {
  return detail::run_stoppable<2, detail::defaults<std::plus<>, detail::absent>>(
      token,
      []<class In, class Init>(auto& stop, detail::input<In> const& in, auto const& out, auto op, Init init) {
        std::identity all;
        using element = std::iter_value_t<In>;
        using value = std::conditional_t<detail::is_absent<Init>, element, Init>;
        std::optional<value> initial;
        if constexpr (!detail::is_absent<Init>) initial.emplace(std::move(init));
        detail::scan_inputs<Sched, detail::scan_kind::inclusive, value>(stop, in, out, all, op, std::move(initial));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e));
}

/// Writes init, op(init, x0), op(op(init, x0), x1)... of the elements of [first, last) to `out` and its successors:
/// the sum of the elements before each one. The values have init's type. Otherwise as `inclusive_scan`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Value, class Op = std::plus<>>
  requires detail::scan_operation<Op, Value>
Out exclusive_scan(Iterator first, Sentinel last, Out out, Value init, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  std::size_t const n = detail::length_of(first, last);
  detail::scan<Sched, detail::scan_kind::exclusive, Value>(never, detail::elements(first, all), n, out,
                                                           std::optional<Value>(std::move(init)), op);
  return detail::iterator_after(out, n);
}
/// Ends where the shorter one of [first, last) and [out, out_last) does, and returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Value, class Op = std::plus<>>
  requires detail::scan_operation<Op, Value>
std::ranges::in_out_result<Iterator, Out> exclusive_scan(Iterator first, Sentinel last, Out out, OutSentinel out_last,
                                                         Value init, Op op = {}) {
  return detail::with_bounds(
      detail::input_of(first, last), detail::input_of(out, out_last),
      [&](auto const&... ends) { filch::exclusive_scan<Sched>(ends..., std::move(init), std::move(op)); });
}
/// The same for ranges. Ends at the end of the shorter one, and returns both ends.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Value, class Op = std::plus<>>
  requires detail::scan_operation<Op, Value>
auto exclusive_scan(In&& in, Out&& out, Value init, Op op = {}) {
  return detail::with_ranges<In, Out>(
      in, out, [&](auto const&... ends) { filch::exclusive_scan<Sched>(ends..., std::move(init), std::move(op)); });
}
/// The same with a stop token: exclusive_scan(token, first, last, out, init, op) or (token, in, out, init, op).
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1, class Arg2,
          class Arg3 = detail::absent, class Arg4 = detail::absent, class Arg5 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4, Arg5>
bool exclusive_scan(Token const& token, First&& first, Arg1&& a, Arg2&& b, Arg3&& c = {}, Arg4&& d = {},
                    Arg5&& e = {}) {
  return detail::run_stoppable<2, detail::defaults<detail::absent, std::plus<>>>(
      token,
      []<class Value>(auto& stop, auto const& in, auto const& out, Value init, auto op) {
        std::identity all;
        detail::scan_inputs<Sched, detail::scan_kind::exclusive, Value>(stop, in, out, all, op, std::move(init));
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d), std::forward<Arg5>(e));
}

/// `inclusive_scan` of f(x) for the elements x of [first, last). f is called once for each element on one worker, and
/// a second time for those that take a second pass: its results must be equal.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Op, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>>
Out transform_inclusive_scan(Iterator first, Sentinel last, Out out, Op op, Fn f) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  using value = detail::kept_result_of<Iterator, Fn>;
  detail::scan<Sched, detail::scan_kind::inclusive, value>(never, detail::elements(first, f), n, out, {}, op);
  return detail::iterator_after(out, n);
}
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Op, class Fn, class Value>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>> && detail::scan_operation<Op, Value>
Out transform_inclusive_scan(Iterator first, Sentinel last, Out out, Op op, Fn f, Value init) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  detail::scan<Sched, detail::scan_kind::inclusive, Value>(never, detail::elements(first, f), n, out,
                                                           std::optional<Value>(std::move(init)), op);
  return detail::iterator_after(out, n);
}
/// Ends where the shorter one of [first, last) and [out, out_last) does, and returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Op, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>>
std::ranges::in_out_result<Iterator, Out> transform_inclusive_scan(Iterator first, Sentinel last, Out out,
                                                                   OutSentinel out_last, Op op, Fn f) {
  return detail::with_bounds(
      detail::input_of(first, last), detail::input_of(out, out_last),
      [&](auto const&... ends) { filch::transform_inclusive_scan<Sched>(ends..., std::move(op), std::move(f)); });
}
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Op, class Fn, class Value>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>> && detail::scan_operation<Op, Value>
std::ranges::in_out_result<Iterator, Out> transform_inclusive_scan(Iterator first, Sentinel last, Out out,
                                                                   OutSentinel out_last, Op op, Fn f, Value init) {
  return detail::with_bounds(
      detail::input_of(first, last), detail::input_of(out, out_last), [&](auto const&... ends) {
        filch::transform_inclusive_scan<Sched>(ends..., std::move(op), std::move(f), std::move(init));
      });
}
/// The same for ranges. Ends at the end of the shorter one, and returns both ends.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out, class Op,
          class Fn>
  requires std::invocable<Fn&, std::ranges::range_reference_t<In>>
auto transform_inclusive_scan(In&& in, Out&& out, Op op, Fn f) {
  return detail::with_ranges<In, Out>(in, out, [&](auto const&... ends) {
    filch::transform_inclusive_scan<Sched>(ends..., std::move(op), std::move(f));
  });
}
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out, class Op,
          class Fn, class Value>
  requires std::invocable<Fn&, std::ranges::range_reference_t<In>> && detail::scan_operation<Op, Value>
auto transform_inclusive_scan(In&& in, Out&& out, Op op, Fn f, Value init) {
  return detail::with_ranges<In, Out>(in, out, [&](auto const&... ends) {
    filch::transform_inclusive_scan<Sched>(ends..., std::move(op), std::move(f), std::move(init));
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool transform_inclusive_scan(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      []<class In, class Fn>(auto& stop, detail::input<In> const& in, auto const& out, auto op, Fn f, auto... init) {
        using value = detail::scanned_value<detail::kept_result_of<In, Fn>, decltype(init)...>;
        detail::scan_inputs<Sched, detail::scan_kind::inclusive, value>(stop, in, out, f, op, std::move(init)...);
      },
      std::forward<Args>(args)...);
}

/// `exclusive_scan` of f(x) for the elements x of [first, last). f as in `transform_inclusive_scan`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Value, class Op, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>> && detail::scan_operation<Op, Value>
Out transform_exclusive_scan(Iterator first, Sentinel last, Out out, Value init, Op op, Fn f) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  detail::scan<Sched, detail::scan_kind::exclusive, Value>(never, detail::elements(first, f), n, out,
                                                           std::optional<Value>(std::move(init)), op);
  return detail::iterator_after(out, n);
}
/// Ends where the shorter one of [first, last) and [out, out_last) does, and returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Value, class Op, class Fn>
  requires std::invocable<Fn&, std::iter_reference_t<Iterator>> && detail::scan_operation<Op, Value>
std::ranges::in_out_result<Iterator, Out> transform_exclusive_scan(Iterator first, Sentinel last, Out out,
                                                                   OutSentinel out_last, Value init, Op op, Fn f) {
  return detail::with_bounds(
      detail::input_of(first, last), detail::input_of(out, out_last), [&](auto const&... ends) {
        filch::transform_exclusive_scan<Sched>(ends..., std::move(init), std::move(op), std::move(f));
      });
}
/// The same for ranges. Ends at the end of the shorter one, and returns both ends.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Value, class Op, class Fn>
  requires std::invocable<Fn&, std::ranges::range_reference_t<In>> && detail::scan_operation<Op, Value>
auto transform_exclusive_scan(In&& in, Out&& out, Value init, Op op, Fn f) {
  return detail::with_ranges<In, Out>(in, out, [&](auto const&... ends) {
    filch::transform_exclusive_scan<Sched>(ends..., std::move(init), std::move(op), std::move(f));
  });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class... Args>
  requires detail::begins_with_inputs<2, Args...>
bool transform_exclusive_scan(Token const& token, Args&&... args) {
  return detail::run_stoppable<2>(
      token,
      []<class Value>(auto& stop, auto const& in, auto const& out, Value init, auto op, auto f) {
        detail::scan_inputs<Sched, detail::scan_kind::exclusive, Value>(stop, in, out, f, op, std::move(init));
      },
      std::forward<Args>(args)...);
}

}  // namespace filch::inline FILCH_ABI
