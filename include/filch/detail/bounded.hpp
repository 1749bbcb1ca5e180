// Forms with a bounded output in terms of those without.
#pragma once

#include <filch/detail/ranges.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

/// Calls scan(first, last, out) for as many positions as both ranges have. Returns both ends.
template <class In, class Out, class Scan>
std::ranges::in_out_result<In, Out> with_bounds(input<In> const& in, input<Out> const& out, Scan scan) {
  std::size_t const n = std::min(in.length, out.length);
  scan(in.first, in.at(n), out.first);
  return {in.at(n), out.at(n)};
}
template <class In, class Out, class Scan>
std::ranges::in_out_result<std::ranges::borrowed_iterator_t<In>, std::ranges::borrowed_iterator_t<Out>> with_ranges(
    std::remove_reference_t<In>& in, std::remove_reference_t<Out>& out, Scan scan) {
  auto ends = detail::with_bounds(detail::input_of(in), detail::input_of(out), scan);
  return {std::move(ends.in), std::move(ends.out)};
}

/// Calls algorithm(in, to), which returns the numbers of elements that it read and wrote. Returns both ends.
template <class Iterator, class Sentinel, class Out, class OutSentinel, class Algorithm>
std::ranges::in_out_result<Iterator, Out> to_bounded(Iterator const& first, Sentinel const& last, Out const& out,
                                                     OutSentinel const& out_last, Algorithm const& algorithm) {
  auto const in = detail::input_of(first, last);
  auto const to = detail::input_of(out, out_last);
  auto const ends = algorithm(in, to);
  return {in.at(ends.in), to.at(ends.out)};
}

}  // namespace filch::inline FILCH_ABI::detail
