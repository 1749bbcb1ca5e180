// Moves, exchanges and rotations of parts of a range, shared by several workers.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/filtering_in_place.hpp>

#include <algorithm>
#include <cstring>

namespace filch::inline FILCH_ABI::detail {

/// Moves elements to another range.
template <class Iterator, class Out> struct moving_piece {
  Iterator begin;
  Out out;
  void run(std::size_t first, std::size_t last) const {
    Iterator i = detail::iterator_after(begin, first);
    Out to = detail::iterator_after(out, first);
    FILCH_UNROLL
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i), static_cast<void>(++to))
      *to = detail::assigned_to<std::iter_reference_t<Out>>(std::ranges::iter_move(i));
  }
  moving_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(moving_piece&) const noexcept {}
};
template <class Sched, class Stop, class Iterator, class Out>
void move(Stop& stop, Iterator const& first, std::size_t n, Out const& out) {
  moving_piece<Iterator, Out> piece{first, out};
  detail::run_pieces<scheduler_for<Sched, Out>>(0, n, piece, stop);
}

/// Exchanges the elements of two ranges that do not overlap.
template <class Iterator, class Iterator2> struct swap_two_piece {
  Iterator a;
  Iterator2 b;
  void run(std::size_t first, std::size_t last) const {
    Iterator i = detail::iterator_after(a, first);
    Iterator2 j = detail::iterator_after(b, first);
    for (; first != last; ++first, static_cast<void>(++i), static_cast<void>(++j)) std::ranges::iter_swap(i, j);
  }
  swap_two_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(swap_two_piece&) const noexcept {}
};

/// Exchanges elements with those that are as far from the end.
template <class Iterator> struct reversing_piece {
  Iterator begin;
  std::size_t length;
  void run(std::size_t first, std::size_t last) const {
    Iterator i = detail::iterator_after(begin, first);
    Iterator j = detail::iterator_after(begin, length - first);
    for (; first != last; ++first, static_cast<void>(++i)) std::ranges::iter_swap(i, --j);
  }
  reversing_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(reversing_piece&) const noexcept {}
};
template <class Sched, class Stop, class Iterator> void reverse(Stop& stop, input<Iterator> const& in) {
  reversing_piece<Iterator> piece{in.first, in.length};
  detail::run_pieces<scheduler_for<Sched, Iterator>>(0, in.length / 2, piece, stop);
}

/// Exchanges the first n elements and the others. If a worker waits, by reversals, which it can share.
template <class Sched, class Stop, class Iterator> void rotate(Stop& stop, input<Iterator> const& in, std::size_t n) {
  constexpr std::size_t k_shared = 16'384;
  if (n == 0 || n >= in.length || stop.is_requested()) return;
  detail::inside_pool<Sched>([&] {
    if (in.length < k_shared || !Sched::wanted()) return detail::rotate(in.first, in.at(n), in.end());
    detail::reverse<Sched>(stop, input<Iterator>{in.first, n});
    detail::reverse<Sched>(stop, input<Iterator>{in.at(n), in.length - n});
    detail::reverse<Sched>(stop, in);
  });
}

/// Moves the elements from n on to the front. Each round moves n elements, so a round writes where nothing is read.
template <class Sched, class Stop, class Iterator>
void shift_left(Stop& stop, input<Iterator> const& in, std::size_t n) {
  constexpr std::size_t k_shared = 4'096;
  if (n == 0 || n >= in.length || stop.is_requested()) return;
  if (n < k_shared) return detail::move_down_unless_stopped(stop, in.at(n), in.end(), in.first);
  for (std::size_t to = 0; to != in.length - n && !stop.is_requested();) {
    std::size_t const round = std::min(n, in.length - n - to);
    detail::move<Sched>(stop, in.at(to + n), round, in.at(to));
    to += round;
  }
}
template <class Sched, class Stop, class Iterator>
void shift_right(Stop& stop, input<Iterator> const& in, std::size_t n) {
  constexpr std::size_t k_shared = 4'096;
  if (n == 0 || n >= in.length || stop.is_requested()) return;
  for (std::size_t left = in.length - n; left != 0 && !stop.is_requested();) {
    std::size_t const round = std::min(std::max(n, k_shared), left);
    left -= round;
    if (n >= k_shared) {
      detail::move<Sched>(stop, in.at(left), round, in.at(left + n));
    } else {
      Iterator from = in.at(left + round);
      Iterator to = in.at(left + round + n);
      for (std::size_t i = round; i != 0; --i) *--to = std::ranges::iter_move(--from);
    }
  }
}

}  // namespace filch::inline FILCH_ABI::detail
