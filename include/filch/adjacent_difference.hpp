// Differences of neighbours.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/arguments.hpp>
#include <filch/detail/bounded.hpp>
#include <filch/detail/converting.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <optional>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Differences of neighbours. Each piece has the element before its first one, which the piece below may overwrite.
template <class Iterator, class Out, class Op> struct difference_piece {
  static constexpr bool k_long_stretches = true;
  using value = std::iter_value_t<Iterator>;
  Iterator in;
  Out out;
  body_of<Op, value const&, value const&> op;
  std::optional<value> before{};  // empty in front of the whole range

  void run(std::size_t first, std::size_t last) {
    Iterator const end = detail::iterator_after(in, last);
    Iterator i = detail::iterator_after(in, first);
    Out to = detail::iterator_after(out, first);
    if (!before) {
      before.emplace(*i);
      *to = detail::assigned_to<std::iter_reference_t<Out>>(*before);
      ++i;
      ++to;
    }
    for (; i != end; ++i, static_cast<void>(++to)) {
      value here = *i;
      *to =
          detail::result_for<number_at<std::iter_reference_t<Out>>>(op, std::as_const(here), std::as_const(*before));
      *before = std::move(here);
    }
  }
  difference_piece split(std::size_t middle, std::size_t) const {
    using reference = std::iter_reference_t<Iterator>;
    return {in, out, op,
            std::optional<value>(detail::read_again_later<reference>(*detail::iterator_after(in, middle - 1)))};
  }
  void merge(difference_piece&) const noexcept {}
};

/// Writes n values.
template <class Sched, class Stop, class Iterator, class Out, class Op>
void difference(Stop& stop, Iterator const& first, std::size_t n, Out const& out, Op& op) {
  difference_piece<Iterator, Out, Op> piece{first, out, {op}};
  detail::run_pieces<scheduler_for<Sched, Out>>(0, n, piece, stop);
}

}  // namespace detail

/// Writes x0, op(x1, x0), op(x2, x1)... of the elements of [first, last) to `out` and its successors. Returns the end
/// of what was written. `out` may be `first`. The results are those of std::adjacent_difference.
///
/// Exceptions, pool and thread: as in `for_index`. Complexity: n - 1 calls of op. Allocates nothing. Cost: that of
/// `for_index`, and a copy of an element for each piece given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          std::random_access_iterator Out, class Op = std::minus<>>
  requires detail::no_end_of<Op, Out>
Out adjacent_difference(Iterator first, Sentinel last, Out out, Op op = {}) {
  std::size_t const n = detail::length_of(first, last);
  detail::never_stopped never;
  detail::difference<Sched>(never, first, n, out, op);
  return detail::iterator_after(out, n);
}
/// Ends where the shorter one of [first, last) and [out, out_last) does, and returns both ends.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Out,
          sized_random_access_end<Out> OutSentinel, class Op = std::minus<>>
std::ranges::in_out_result<Iterator, Out> adjacent_difference(Iterator first, Sentinel last, Out out,
                                                              OutSentinel out_last, Op op = {}) {
  return detail::with_bounds(detail::input_of(first, last), detail::input_of(out, out_last),
                             [&](auto const&... ends) { filch::adjacent_difference<Sched>(ends..., std::move(op)); });
}
/// The same for ranges. Ends at the end of the shorter one, and returns both ends.
template <scheduler Sched = default_scheduler, sized_random_access_range In, sized_random_access_range Out,
          class Op = std::minus<>>
auto adjacent_difference(In&& in, Out&& out, Op op = {}) {
  return detail::with_ranges<In, Out>(
      in, out, [&](auto const&... ends) { filch::adjacent_difference<Sched>(ends..., std::move(op)); });
}
/// The same with a stop token.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class First, class Arg1,
          class Arg2 = detail::absent, class Arg3 = detail::absent, class Arg4 = detail::absent>
  requires detail::begins_with_inputs<2, First, Arg1, Arg2, Arg3, Arg4>
bool adjacent_difference(Token const& token, First&& first, Arg1&& a, Arg2&& b = {}, Arg3&& c = {}, Arg4&& d = {}) {
  return detail::run_stoppable<2, detail::defaults<std::minus<>>>(
      token,
      [](auto& stop, auto const& in, auto const& out, auto op) {
        detail::difference<Sched>(stop, in.first, std::min(in.length, out.length), out.first, op);
      },
      std::forward<First>(first), std::forward<Arg1>(a), std::forward<Arg2>(b), std::forward<Arg3>(c),
      std::forward<Arg4>(d));
}

}  // namespace filch::inline FILCH_ABI
