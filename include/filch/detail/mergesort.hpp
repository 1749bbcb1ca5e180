// Merge sort between the range and a buffer, or by rotations where there is no memory.
#pragma once

#include <filch/detail/merging.hpp>
#include <filch/detail/quicksort.hpp>

#include <bit>

namespace filch::inline FILCH_ABI::detail {

/// Halves of halves, down to parts of few elements. All parts have one depth, which is odd: a part is sorted in the
/// range and moved to the buffer, so each later move assigns to an element that is there.
template <class Sched, class Stop, class Iterator, class Comp, class Proj> class mergesort {
 public:
  using value = std::iter_value_t<Iterator>;
  static constexpr std::size_t k_few = 32;
  static constexpr std::size_t k_forked = 512;

  mergesort(Stop& stop, Iterator const& begin, raw_buffer<value> const& buffer, Comp& comp, Proj& proj)
      : stop_(stop),
        begin_(begin),
        buffer_(buffer),
        comp_(comp),
        proj_(proj),
        less_(detail::order_of<Iterator>(comp, proj)),
        splits_all_(detail::splits_all()) {}

  void sort(std::size_t n) const {
    unsigned depth = 1;
    while ((n >> depth) > k_few) depth += 2;
    static_cast<void>(sort_half(0, n, depth));  // in the range at any rate
  }

 private:
  Iterator at(std::size_t position) const { return detail::iterator_after(begin_, position); }
  value* in_buffer(std::size_t position) const { return std::addressof(buffer_[position]); }

  /// The result is in the range if `depth` is odd, and in the buffer if it is even. Returns whether it is still in
  /// the range, with nothing in the buffer: of parts one above the other.
  FILCH_OUTLINE bool sort_half(std::size_t first, std::size_t last, unsigned depth) const {
    if (stop_.is_requested()) return false;
    if (depth == 0) return sort_part(first, last), true;
    std::size_t const middle = first + (last - first) / 2;
    bool lower_stays = false;
    bool upper_stays = false;
    auto const lower = [&] { lower_stays = sort_half(first, middle, depth - 1); };
    auto const upper = [&] { upper_stays = sort_half(middle, last, depth - 1); };
    if (last - first >= k_forked || splits_all_) {
      Sched::join(lower, upper);
    } else {
      lower();
      upper();
    }
    if (stop_.was_seen()) return false;
    if (lower_stays && upper_stays && (first == middle || !less_(*at(middle), *at(middle - 1)))) return true;
    if (lower_stays) put_where_it_belongs(first, middle, depth - 1);
    if (upper_stays) put_where_it_belongs(middle, last, depth - 1);
    if (stop_.was_seen()) return false;
    if (depth % 2 != 0) {
      merge(in_buffer(first), middle - first, last - middle, at(first));
    } else {
      merge(at(first), middle - first, last - middle, in_buffer(first));
    }
    return false;
  }
  /// A result that is still in the range. Afterwards there are elements in the buffer, too.
  FILCH_OUTLINE void put_where_it_belongs(std::size_t first, std::size_t last, unsigned depth) const {
    if (std::is_trivially_copyable_v<value> && depth % 2 != 0) return;  // memory is enough for these
    making_piece<Iterator, value> piece{begin_, std::addressof(buffer_)};
    if (last - first < k_forked) {
      piece.run(first, last);
    } else {
      detail::run_pieces<Sched>(first, last, piece, stop_);
    }
    if (depth % 2 != 0 && !stop_.was_seen()) merge(in_buffer(first), last - first, 0, at(first));
  }
  void sort_part(std::size_t first, std::size_t last) const {
    if (descends(first, last - first)) {
      std::size_t j = last;
      for (std::size_t i = first; i < --j; ++i) std::ranges::iter_swap(at(i), at(j));
      // Equal elements are in the wrong order now, so each goes below those that equal it.
      detail::insertion_sort(at(first), at(last), [this](auto&& x, auto&& y) { return !less_(y, x); });
    } else {
      detail::insertion_sort(at(first), at(last), less_);
    }
  }
  /// Do elements descend, as far as we look?
  bool descends(std::size_t first, std::size_t n) const {
    constexpr std::size_t k_looks = 4;
    if (n < 2 * k_looks) return false;
    for (std::size_t look = 0; look != k_looks; ++look) {
      Iterator const i = at(first + n / k_looks * look);
      if (!less_(*detail::iterator_after(i, n / k_looks - 1), *i)) return false;
    }
    return less_(*at(first + n - 1), *at(first));
  }
  /// Elements at the ends that are in their places are moved. If these are most, only those between are merged. The
  /// same where most of the second half come before the first one.
  template <class From, class To>
  FILCH_OUTLINE void merge(From const& from, std::size_t n, std::size_t n2, To const& to) const {
    order_of_two<From, From, Comp, Proj, Proj> const less{{comp_}, {proj_}, {proj_}};
    auto const place = [&](std::size_t i) { return detail::iterator_after(from, i); };
    bool is_ordered = false;
    auto const merge_parts = [&](std::size_t first, std::size_t n_first, std::size_t second, std::size_t n_second,
                                 std::size_t out) {
      detail::merge_to<Sched, true, true>(stop_, input<From>{place(first), n_first},
                                          input<From>{place(second), n_second}, detail::iterator_after(to, out),
                                          n_first + n_second, less, is_ordered);
    };
    auto const move_part = [&](std::size_t first, std::size_t length, std::size_t out) {
      merge_parts(first, length, first, 0, out);
    };
    std::size_t const all = n + n2;
    if (n == 0 || n2 == 0) return move_part(0, all, 0);
    From const from2 = place(n);
    From const greatest = from2 - 1;
    std::size_t const low = number_of_low(n, [&](std::size_t i) { return !less.second_is_less(place(i), from2); });
    if (low == n) return move_part(0, all, 0);
    bool const is_second_first = n >= 8 && n2 >= 8 && less.second_is_less(place(n / 4), place(all - n2 / 4));
    is_ordered = is_second_first || (n >= 8 && n2 >= 8 && !less.second_is_less(place(n - n / 4), place(n + n2 / 4)));
    if (is_second_first && low == 0) {
      std::size_t const low2 =
          number_of_low(n2, [&](std::size_t i) { return less.second_is_less(from, place(n + i)); });
      std::size_t const high2 =
          number_of_low(n, [&](std::size_t i) { return less.second_is_less(place(n - 1 - i), place(all - 1)); });
      move_part(n, low2, 0);
      merge_parts(0, n - high2, n + low2, n2 - low2, low2);
      return move_part(n - high2, high2, all - high2);
    }
    std::size_t const high =
        number_of_low(n2, [&](std::size_t i) { return !less.second_is_less(greatest, place(all - 1 - i)); });
    if (low + high < all / 2) return merge_parts(0, n, n, n2, 0);
    move_part(0, low, 0);
    merge_parts(low, n - low, n, n2 - high, low);
    move_part(all - high, high, all - high);
  }
  /// How many positions of [0, n) are low? Those that are come first. It looks from the end.
  template <class IsLow> static std::size_t number_of_low(std::size_t n, IsLow const& is_low) {
    std::size_t first = 0;
    std::size_t last = n;
    for (std::size_t step = 1; last != 0; step *= 2) {
      std::size_t const i = last - std::min(last, step);
      if (is_low(i)) {
        first = i + 1;
        break;
      }
      last = i;
    }
    while (first < last) {
      std::size_t const middle = first + (last - first) / 2;
      if (is_low(middle)) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  Stop& stop_;
  Iterator begin_;
  raw_buffer<value> const& buffer_;
  Comp& comp_;
  Proj& proj_;
  order<Iterator, Comp, Proj> less_;
  bool splits_all_;
};

template <class Sched, class Stop, class Iterator, class Less>
void sort_by_rotations(Stop& stop, Iterator const& first, std::size_t n, Less const& less) {
  if (n <= 32) return detail::insertion_sort(first, detail::iterator_after(first, n), less);
  std::size_t const half = n / 2;
  auto const lower = [&] { detail::sort_by_rotations<Sched>(stop, first, half, less); };
  auto const upper = [&] {
    detail::sort_by_rotations<Sched>(stop, detail::iterator_after(first, half), n - half, less);
  };
  if (n < 512) {
    lower();
    upper();
  } else {
    Sched::join(lower, upper);
  }
  detail::merge_by_rotations<Sched>(stop, first, half, n - half, less);
}

/// Is a zero with a minus among them? It equals the other zero, which can be told from it.
template <class Sched, class Iterator> FILCH_OUTLINE bool has_negative_zero(input<Iterator> const& in) {
  if constexpr (std::is_floating_point_v<std::iter_value_t<Iterator>>) {
    constexpr std::size_t k_part = 4096;
    std::size_t const n = in.length;
    bool lower = false;
    bool upper = false;
    if (n <= k_part) {
      for (Iterator i = in.first; i != in.end(); ++i) lower |= std::equal_to<>()(*i, 0) && __builtin_signbit(*i);
    } else {
      auto const part = [](input<Iterator> const& of, bool& has) {
        return [of, &has] { has = detail::has_negative_zero<Sched>(of); };
      };
      detail::join_two<Sched>(part({in.first, n / 2}, lower), part({in.at(n / 2), n - n / 2}, upper));
    }
    return lower || upper;
  }
  return false;
}

template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void stable_sort_in_memory(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  using less_type = order<Iterator, Comp, Proj>;
  less_type const less{{comp}, {proj}};
  using sorting = mergesort<Sched, Stop, Iterator, Comp, Proj>;
  detail::sort_in_pool<Sched>(in.length, sorting::k_forked, [&] {
    if (in.length <= sorting::k_few) return detail::insertion_sort(in.first, in.end(), less);
    one_run<Sched, Stop, Iterator, less_type> run(stop, in, less);
    if (run.sort()) return;
    // Equal numbers can't be told apart then.
    if constexpr (is_silent_order<order_of_two<Iterator, Iterator, Comp, Proj, Proj>>) {
      if (!detail::has_negative_zero<Sched>(in)) return detail::sort_elements<Sched>(stop, in, less);
    }
    if ((in.length < sorting::k_forked || run.has_many_out_of_order()) &&
        detail::insert_if_near<Sched>(stop, in.first, in.length, less))
      return;
    raw_buffer<std::iter_value_t<Iterator>> const buffer(in.length);
    if (!static_cast<bool>(buffer)) return detail::sort_by_rotations<Sched>(stop, in.first, in.length, less);
    sorting(stop, in.first, buffer, comp, proj).sort(in.length);
  });
}
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void stable_sort(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  if (in.length < 2 || stop.is_requested()) return;
  detail::stable_sort_in_memory<scheduler_for<Sched, Iterator>>(stop, detail::in_memory(in), comp, proj);
}

template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void inplace_merge(Stop& stop, input<Iterator> const& in, std::size_t middle, Comp& comp, Proj& proj) {
  std::size_t const n = in.length;
  if (middle == 0 || middle >= n || stop.is_requested()) return;
  using value = std::iter_value_t<Iterator>;
  using order_in_buffer = order_of_two<value*, value*, Comp, Proj, Proj>;
  constexpr bool is_silent =
      points_to_numbers<Iterator> && is_silent_order<order_in_buffer> && std::is_same_v<Proj, std::identity>;
  auto const less = detail::order_of<Iterator>(comp, proj);
  using sched = scheduler_for<Sched, Iterator>;
  detail::inside_pool<sched>([&] {
    std::size_t low = 0;    // elements of the first part that are found in their places
    std::size_t taken = 0;  // elements of the second part that are known to come next
    if constexpr (is_silent) {
      if (!less(*in.at(middle), *in.at(middle - 1))) return;
    } else {  // the questions of the merge, and none besides
      while (low != middle && !less(*in.at(middle), *in.at(low))) ++low;
      if (low == middle) return;
      taken = 1;
    }
    Iterator const first = in.at(low);
    std::size_t const n1 = middle - low;
    std::size_t const n2 = n - middle;
    raw_buffer<value> const buffer(n1 + n2);
    if (!static_cast<bool>(buffer)) return detail::merge_by_rotations<sched>(stop, first, n1, n2, less);
    making_piece<Iterator, value> moves{first, std::addressof(buffer)};
    never_stopped never;
    detail::run_pieces<sched>(0, n1 + n2, moves, never);
    value* const from = std::addressof(buffer[0]);
    if (taken != 0) *first = std::move(from[n1]);
    order_in_buffer const order{{comp}, {proj}, {proj}};
    detail::merge_to<sched, true, is_silent>(never, input<value*>{from, n1},
                                             input<value*>{from + n1 + taken, n2 - taken},
                                             detail::iterator_after(first, taken), n1 + n2 - taken, order);
  });
}

}  // namespace filch::inline FILCH_ABI::detail
