// Reductions: one value of all elements of a range.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/reducing.hpp>

namespace filch::inline FILCH_ABI {

/// op(...op(op(init, x0), x1)..., xn) of all elements of [first, last), split on demand as `for_index` is.
///
/// The order of the elements is kept. op must be associative, and need not be commutative. It needs no identity: each
/// piece but the lowest begins with its first element, converted to Value. Value may be a type that can be moved
/// only. On one worker the result is that of std::accumulate, to the bit. On several workers a floating-point result
/// may differ in its last bits from run to run (`reproducible` forbids that).
///
/// Exceptions, pool and thread: as in `for_index`. Complexity: one call of op for each element. Cost: that of
/// `for_index`, and one call of op for each piece given away.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel,
          class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, std::iter_reference_t<Iterator>>
Value reduce(Iterator first, Sentinel last, Value init, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  return detail::reduce_source<Sched>(never, detail::elements(first, all), detail::length_of(first, last),
                                      std::move(init), op);
}

/// The same for the elements of a range.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Value, class Op = std::plus<>>
  requires std::invocable<Op&, Value, std::ranges::range_reference_t<Range>>
Value reduce(Range&& range, Value init, Op op = {}) {
  detail::never_stopped never;
  std::identity all;
  return detail::reduce_source<Sched>(never, detail::elements(std::ranges::begin(range), all),
                                      detail::length_of(range), std::move(init), op);
}

}  // namespace filch::inline FILCH_ABI
