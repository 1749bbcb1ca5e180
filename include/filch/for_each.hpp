// for_each and for_each_n: a function for each element of a range.
#pragma once

#include <filch/detail/ranges.hpp>
#include <filch/detail/sieve.hpp>
#include <filch/for_index.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Calls f with each element of a projection.
template <class Iterator, class Fn, class Proj> struct each_piece {
  elements<Iterator, Proj> in;
  body_of<Fn, typename elements<Iterator, Proj>::value> f;

  void run(std::size_t first, std::size_t last) const {
    in.each(first, last, [this](auto&& x) { static_cast<void>(f(static_cast<decltype(x)>(x))); });
  }
  each_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(each_piece&) const noexcept {}
};

template <class Sched, class Stop, class Iterator, class Fn, class Proj>
void for_each_of(Stop& stop, Iterator const& first, std::size_t n, Fn& f, Proj& proj) {
  each_piece<Iterator, Fn, Proj> piece{{first, proj}, {f}};
  detail::run_pieces<Sched>(0, n, piece, stop);
}

}  // namespace detail

/// Calls f(proj(x)) for every element x of [first, last), in ascending order within each piece. The pieces may run in
/// parallel, so several workers may call f at once. The results of f are dropped. Returns `last` as an iterator. An f
/// that writes elements of a std::vector<bool> races: neighbours share a word. (Other algorithms write those with one
/// worker.)
///
/// The loop is split on demand as in `for_index`, which has the rules for f, for exceptions, and for the pool and
/// thread. Complexity: one call of f and proj for each element. Cost: that of `for_index`.
template <scheduler Sched = default_scheduler, class Iterator, sized_random_access_end<Iterator> Sentinel, class Fn,
          class Proj = std::identity>
Iterator for_each(Iterator first, Sentinel last, Fn&& f, Proj proj = {}) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(first, last);
  detail::for_each_of<Sched>(never, first, n, f, proj);
  return detail::iterator_after(first, n);
}

/// The same for the elements of a range. Returns its end.
template <scheduler Sched = default_scheduler, sized_random_access_range Range, class Fn, class Proj = std::identity>
  requires detail::no_end_of<Fn, Range>
std::ranges::borrowed_iterator_t<Range> for_each(Range&& range, Fn&& f, Proj proj = {}) {
  detail::never_stopped never;
  std::size_t const n = detail::length_of(range);
  detail::for_each_of<Sched>(never, std::ranges::begin(range), n, f, proj);
  return detail::iterator_after(std::ranges::begin(range), n);
}
/// The same for the elements that a std::views::filter takes. Splits the range below it.
template <scheduler Sched = default_scheduler, filtered_range Range, class Fn, class Proj = std::identity>
auto for_each(Range&& range, Fn&& f, Proj proj = {}) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  auto const call = detail::call_of(s, f, proj);
  return detail::sifted_iterator<Range>(range, filch::for_each<Sched>(s.in().first, s.in().end(), call));
}

/// The same until a stop is requested of `token`, as in `for_index`. Returns true if f was called for every element.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, class Iterator,
          sized_random_access_end<Iterator> Sentinel, class Fn, class Proj = std::identity>
bool for_each(Token const& token, Iterator first, Sentinel last, Fn&& f, Proj proj = {}) {
  detail::stop_request stop(token);
  detail::for_each_of<Sched>(stop, first, detail::length_of(first, last), f, proj);
  return !stop.was_seen();
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, sized_random_access_range Range,
          class Fn, class Proj = std::identity>
  requires detail::no_end_of<Fn, Range>
bool for_each(Token const& token, Range&& range, Fn&& f, Proj proj = {}) {
  detail::stop_request stop(token);
  detail::for_each_of<Sched>(stop, std::ranges::begin(range), detail::length_of(range), f, proj);
  return !stop.was_seen();
}
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, filtered_range Range, class Fn,
          class Proj = std::identity>
bool for_each(Token const& token, Range&& range, Fn&& f, Proj proj = {}) {
  auto s = detail::sieve_of(static_cast<Range&&>(range));
  return filch::for_each<Sched>(token, s.in().first, s.in().end(), detail::call_of(s, f, proj));
}

/// `for_each` of the n elements from `first` on. None if n is negative. Returns the iterator after them.
template <scheduler Sched = default_scheduler, std::random_access_iterator Iterator, class Fn,
          class Proj = std::identity>
Iterator for_each_n(Iterator first, std::iter_difference_t<Iterator> n, Fn&& f, Proj proj = {}) {
  detail::never_stopped never;
  std::size_t const count = n > 0 ? static_cast<std::size_t>(n) : 0;
  detail::for_each_of<Sched>(never, first, count, f, proj);
  return detail::iterator_after(first, count);
}
/// The same until a stop is requested of `token`, as in `for_index`.
template <scheduler Sched = default_scheduler, detail::stop_token_like Token, std::random_access_iterator Iterator,
          class Fn, class Proj = std::identity>
bool for_each_n(Token const& token, Iterator first, std::iter_difference_t<Iterator> n, Fn&& f, Proj proj = {}) {
  detail::stop_request stop(token);
  detail::for_each_of<Sched>(stop, first, n > 0 ? static_cast<std::size_t>(n) : 0, f, proj);
  return !stop.was_seen();
}

}  // namespace filch::inline FILCH_ABI
