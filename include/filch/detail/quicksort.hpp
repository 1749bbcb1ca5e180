// Quicksort in place. Parts are sorted side by side; a large part is partitioned by several workers if one waits.
#pragma once

#include <filch/detail/ordering.hpp>
#include <filch/detail/presorted.hpp>
#include <filch/detail/vector_partition.hpp>
#include <filch/detail/vector_sort.hpp>

#include <algorithm>
#include <bit>

namespace filch::inline FILCH_ABI::detail {

/// Is an element before the pivot, or, if OrEqual, not behind it?
template <class Iterator, class Less, bool OrEqual> struct before_pivot {
  Less less;
  compared_element<Iterator> pivot;
  template <class Element> FILCH_INLINE bool operator()(Element&& x) const {
    if constexpr (OrEqual) {
      return !less(*pivot, static_cast<Element&&>(x));
    } else {
      return less(static_cast<Element&&>(x), *pivot);
    }
  }
};
/// One type for both: a sort compiles faster where the difference costs no time.
template <class Iterator, class Less> struct on_side_of_pivot {
  Less less;
  compared_element<Iterator> pivot;
  bool or_equal;
  template <class Element> FILCH_INLINE bool operator()(Element&& x) const {
    return or_equal ? !less(*pivot, static_cast<Element&&>(x)) : less(static_cast<Element&&>(x), *pivot);
  }
};

/// A pivot that leaves less than an eighth on one side is bad. After log2(n) of them the part becomes a heap, so no
/// input takes more than O(n log n) comparisons. Elements stay where they are in memory: a comparator that throws or
/// lies loses none, and each position is compared with a bound.
template <class Sched, class Stop, class Iterator, class Less> class quicksort {
 public:
  // Elements of a part that is sorted by insertion, that is forked, and that several workers may partition.
  static constexpr std::size_t k_few = moves_always<Iterator> ? 24 : 16;
  static constexpr std::size_t k_forked = 512;
  static constexpr std::size_t k_partitioned_by_all = 16'384;
  static constexpr std::size_t k_swapped_together = 4096;
  // A part of so many elements is sorted by insertion, if each is near its place.
  static constexpr std::size_t k_inserted_least = 2048;
  static constexpr std::size_t k_inserted_most = 16'384;
  // A part that has so many elements is sorted as vectors, and a greater one if no worker waits.
  static constexpr std::size_t k_vectors_least = 256;
  static constexpr std::size_t k_vectors_most = 32'768;
  // A part that has more is divided in any case: no worker could share it later, and no stop end it.
  static constexpr std::size_t k_vectors_together = 1'048'576;
  static constexpr std::size_t k_cached = 1'048'576;  // bytes

  quicksort(Stop& stop, Iterator const& begin, Less const& less)
      : stop_(stop), begin_(begin), less_(less), splits_all_(detail::splits_all()) {}

  static constexpr bool sorts_vectors(std::size_t n) noexcept {
    return has_vector_sort<Iterator, Less> && n >= k_vectors_least;
  }

  void sort(std::size_t n) const { sort({0, n, bad_allowed(n), false, true}); }
  /// Puts the element of position `nth` in its place, smaller ones below it and greater ones above it.
  void select(std::size_t n, std::size_t nth) const {
    std::size_t first = 0;
    std::size_t last = n;
    unsigned bad = bad_allowed(n);
    while (last - first > k_few) {
      partitioned const p = partition_once(first, last, bad, first != 0);
      if (p.is_sorted || stop_.was_seen()) return;
      if (nth < p.low) {
        last = p.low;
      } else if (nth < p.high) {
        return;
      } else {
        first = p.high;
      }
    }
    detail::insertion_sort(at(first), at(last), less_);
  }

 private:
  struct unsorted {
    std::size_t first;
    std::size_t last;
    unsigned bad;   // the number of bad pivots that are allowed
    bool has_left;  // the element below `first` is in its place
    bool may_have_nan;
  };
  /// [first, low) is not behind the pivot, [low, high) is in its place, [high, last) is not before the pivot.
  struct partitioned {
    std::size_t low;
    std::size_t high;
    bool is_sorted = false;
    bool may_have_nan = true;
  };

  /// Is a partition, which finds NaNs too, cheaper than a look for them in all of this memory?
  static bool finds_nan(std::size_t n, unsorted const& of) noexcept {
    using value = std::iter_value_t<Iterator>;
    return std::is_floating_point_v<value> && has_vector_partition<value> && of.may_have_nan &&
           n * sizeof(value) > k_cached && detail::can_partition_vectors();
  }
  /// Should it be divided first, so that a stop can end it, or a worker that is busy now share it?
  static bool is_too_long(std::size_t n) noexcept {
    if (n <= k_vectors_together) return false;
    if constexpr (!std::is_same_v<Stop, never_stopped>) {
      return true;
    } else if constexpr (requires { Sched::works_alone(); }) {
      return !Sched::works_alone() && has_vector_partition<std::iter_value_t<Iterator>> &&
             detail::can_partition_vectors();
    } else {
      return false;
    }
  }
  static unsigned bad_allowed(std::size_t n) noexcept { return static_cast<unsigned>(std::bit_width(n)); }
  Iterator at(std::size_t position) const { return detail::iterator_after(begin_, position); }
  bool is_less(std::size_t i, std::size_t j) const { return less_(*at(i), *at(j)); }

  FILCH_OUTLINE void sort(unsorted of) const {
    while (of.last - of.first > k_few) {
      if (stop_.is_requested()) return;
      std::size_t const n = of.last - of.first;
      if constexpr (has_vector_sort<Iterator, Less>) {
        bool const is_partitioned =
            n > k_vectors_most && (splits_all_ || Sched::wanted() || finds_nan(n, of) || is_too_long(n));
        if (n >= k_vectors_least && !is_partitioned && detail::sort_vectors(at(of.first), n, less_, of.may_have_nan))
          return;
      }
      if (n >= k_inserted_least && n <= k_inserted_most && detail::insert_near(at(of.first), n, less_)) return;
      partitioned const p = partition_once(of.first, of.last, of.bad, of.has_left);
      if (p.is_sorted || stop_.was_seen()) return;
      of.may_have_nan &= p.may_have_nan;
      unsorted const left{of.first, p.low, of.bad, of.has_left, of.may_have_nan};
      unsorted const right{p.high, of.last, of.bad, true, of.may_have_nan};
      if ((n >= k_forked || splits_all_) && p.low - of.first > 1) {
        auto const sorts = [this](unsorted const& these) { return [this, these] { sort(these); }; };
        return detail::join_two<Sched>(sorts(left), sorts(right));
      }
      sort(left);
      of = right;
    }
    detail::insertion_sort(at(of.first), at(of.last), less_);
  }

  /// `bad`: the number of bad pivots that are allowed.
  FILCH_OUTLINE partitioned partition_once(std::size_t first, std::size_t last, unsigned& bad, bool has_left) const {
    std::size_t const n = last - first;
    if (std::size_t const pivot = pivot_of(first, n); pivot != first) std::ranges::iter_swap(at(first), at(pivot));
    compared_element<Iterator> const pivot(at(first));
    // Nothing is less than the element on the left. If the pivot is as small, all that equal it are in their places.
    if (has_left && !is_less(first - 1, first)) {
      partition_end const p = partition({less_, pivot, true}, first + 1, last);
      if (p.end - first < n / 8 && give_up(first, n, bad)) return {first, last, true};
      return {first, p.end, false, p.may_have_nan};
    }
    auto const [end, was_partitioned, may_have_nan] = partition({less_, pivot, false}, first + 1, last);
    if (stop_.was_seen()) return {first, last};
    std::size_t const place = end - 1;
    if (place != first) std::ranges::iter_swap(at(first), at(place));
    std::size_t const least = std::min(place - first, last - end);
    if (least < n / 8) {
      if (give_up(first, n, bad)) return {first, last, true};
      break_pattern(first, place);
      break_pattern(end, last);
    } else if (was_partitioned && insert_few(first, place) && insert_few(end, last)) {
      return {first, last, true};
    }
    return {place, end, false, may_have_nan};
  }
  /// One bad pivot more. If there were too many, sorts the part.
  bool give_up(std::size_t first, std::size_t n, unsigned& bad) const {
    if (bad != 0) return static_cast<void>(--bad), false;
    detail::heap_sort(at(first), n, less_);
    return true;
  }
  FILCH_OUTLINE bool insert_few(std::size_t first, std::size_t last) const {
    constexpr std::size_t k_most_moves = 8;
    return last - first < 2 || detail::insert_each(at(first), at(first + 1), at(last), less_, k_most_moves);
  }
  void break_pattern(std::size_t first, std::size_t last) const {
    std::size_t const n = last - first;
    if (n <= k_few) return;
    for (std::size_t i : {n / 4, n / 2, n - n / 4}) std::ranges::iter_swap(at(first + i / 2), at(first + i));
  }

  FILCH_OUTLINE std::size_t middle_one(std::size_t i, std::size_t j, std::size_t k) const {
    if (is_less(j, i)) std::swap(i, j);
    if (!is_less(k, j)) return j;
    return is_less(k, i) ? i : k;
  }
  /// The median of three medians of parts of an eighth each, and so on: of about the square root of n elements.
  FILCH_OUTLINE std::size_t pivot_of(std::size_t first, std::size_t n) const {
    std::size_t const part = n / 8;
    if (part < 8) return middle_one(first, first + n / 2, first + n - 1);
    return middle_one(pivot_of(first, part), pivot_of(first + (n - part) / 2, part),
                      pivot_of(first + n - part, part));
  }

  struct partition_end {
    std::size_t end;
    bool was_partitioned;
    bool may_have_nan;
  };
  using side = on_side_of_pivot<Iterator, Less>;
  /// Moves the elements of [first, last) that are on this side of the pivot to the front.
  FILCH_OUTLINE partition_end partition(side const& pred, std::size_t first, std::size_t last) const {
    if constexpr (has_vector_sort<Iterator, Less> && has_vector_partition<std::iter_value_t<Iterator>>) {
      if ((last - first >= k_partitioned_by_all || splits_all_) && detail::can_partition_vectors()) {
        if (pred.or_equal) return partition_numbers<true>(*pred.pivot, first, last);
        return partition_numbers<false>(*pred.pivot, first, last);
      }
    }
    if (moves_always<Iterator> && last - first >= k_forked) {
      first += blocks_in_place<true>(pred, first, last);
      last -= blocks_in_place<false>(pred, first, last);
    }
    while (first != last && pred(*at(first))) ++first;
    while (first != last && !pred(*at(last - 1))) --last;
    if (first == last) return {first, true, true};
    bool const from_both_ends = !moves_always<Iterator> || is_almost_partitioned(pred, first, last);
    return {partition_parts(pred, from_both_ends, first, last), false, true};
  }
  template <bool OrEqual, class Type>
  partition_end partition_numbers(Type pivot, std::size_t first, std::size_t last) const {
    using numbers = partition_of_numbers<Sched, Stop, Type, is_order_descending<Less>, OrEqual>;
    auto const r = numbers(stop_, pivot, splits_all_).partition(two_stretches<Type>::one(at(first), at(last)));
    return {first + r.before, false, r.has_nan};  // the pivot is in neither part
  }
  /// The number of elements in blocks at the front that are on this side of the pivot, or at the back that are not.
  template <bool IsFront>
  FILCH_OUTLINE std::size_t blocks_in_place(side const& pred, std::size_t first, std::size_t last) const {
    std::size_t const begin = IsFront ? first : last;
    while (last - first >= k_in_block && is_in_place<IsFront>(pred, at(IsFront ? first : last - k_in_block)))
      IsFront ? first += k_in_block : last -= k_in_block;
    return IsFront ? first - begin : begin - last;
  }
  static constexpr std::size_t k_in_block = 8;
  /// Is a block in place? One branch for all its elements.
  template <bool IsFront> FILCH_INLINE bool is_in_place(side const& pred, Iterator const& i) const {
    if (pred.or_equal) return is_in_place<IsFront, true>({pred.less, pred.pivot}, i);
    return is_in_place<IsFront, false>({pred.less, pred.pivot}, i);
  }
  template <bool IsFront, bool OrEqual>
  FILCH_INLINE bool is_in_place(before_pivot<Iterator, Less, OrEqual> const pred, Iterator i) const {
    unsigned in_place = 0;
    FILCH_UNROLL_FILTER
    for (std::size_t left = k_in_block; left != 0; --left, static_cast<void>(++i))
      in_place += static_cast<bool>(pred(*i)) == IsFront ? 1U : 0U;
    return in_place == k_in_block;
  }
  /// Is a branch predicted right for most elements at both ends? Then elements that are in order should stay there.
  bool is_almost_partitioned(side const& pred, std::size_t first, std::size_t last) const {
    constexpr std::size_t k_most_looked_at = 32;
    std::size_t const looked_at = std::min((last - first) / 16, k_most_looked_at);
    if (looked_at < 4) return false;
    std::size_t misplaced = 0;
    for (std::size_t i = 0; i != looked_at; ++i) {
      misplaced += static_cast<std::size_t>(!pred(*at(first + i)));
      misplaced += static_cast<std::size_t>(static_cast<bool>(pred(*at(last - 1 - i))));
    }
    return misplaced <= 2 + looked_at / 8;
  }
  /// Gives half of what is left away if a worker waits.
  FILCH_OUTLINE std::size_t partition_parts(side const& pred, bool from_both_ends, std::size_t first,
                                            std::size_t last) const {
    std::size_t const part = splits_all_ ? 2 : k_partitioned_by_all;
    std::size_t taken = first;  // those below are on this side, and none of [taken, first) is
    while (first != last && !stop_.is_requested()) {
      std::size_t const left = last - first;
      if (left > part && (splits_all_ || Sched::wanted())) {
        std::size_t const middle = first + left / 2;
        std::size_t low = first;
        std::size_t high = middle;
        auto const half = [&](std::size_t& end, std::size_t from, std::size_t to) {
          return [&, from, to] { end = partition_parts(pred, from_both_ends, from, to); };
        };
        detail::join_two<Sched>(half(low, first, middle), half(high, middle, last));
        return joined(joined(taken, first, low), middle, high);
      }
      if (from_both_ends) return partition_from_both_ends(pred, first, last);
      std::size_t const end = first + std::min(part, left);
      taken = partition_without_branches(pred, taken, first, end);
      first = end;
    }
    return taken;
  }
  /// [first, end) is to be behind `taken`. Returns the new one.
  std::size_t joined(std::size_t taken, std::size_t first, std::size_t end) const {
    std::size_t const moved = std::min(first - taken, end - first);
    swap(taken, end - moved, moved);
    return taken + (end - first);
  }
  FILCH_OUTLINE void swap(std::size_t i, std::size_t j, std::size_t n) const {
    if (n > k_swapped_together) {
      auto const half = [this](std::size_t of_i, std::size_t of_j, std::size_t count) {
        return [this, of_i, of_j, count] { swap(of_i, of_j, count); };
      };
      return detail::join_two<Sched>(half(i, j, n / 2), half(i + n / 2, j + n / 2, n - n / 2));
    }
    Iterator from = at(i);
    Iterator to = at(j);
    for (; n != 0; --n, static_cast<void>(++from), static_cast<void>(++to)) std::ranges::iter_swap(from, to);
  }
  FILCH_OUTLINE std::size_t partition_without_branches(side const& pred, std::size_t taken, std::size_t first,
                                                       std::size_t last) const {
    if (pred.or_equal) {
      return partition_without_branches<true>({pred.less, pred.pivot}, at(taken), at(first), last - first);
    }
    return partition_without_branches<false>({pred.less, pred.pivot}, at(taken), at(first), last - first);
  }
  template <bool OrEqual>
  FILCH_INLINE std::size_t partition_without_branches(before_pivot<Iterator, Less, OrEqual> const pred, Iterator to,
                                                      Iterator i, std::size_t left) const {
    if constexpr (moves_always<Iterator>) {
      FILCH_UNROLL_FILTER
      for (; left != 0; --left, static_cast<void>(++i)) {
        auto value = std::move(*i);  // trivial: the element keeps its value
        bool const is_taken = pred(*i);
        *i = std::move(*to);
        *to = std::move(value);
        to += is_taken;
      }
    }
    return static_cast<std::size_t>(to - begin_);
  }
  /// Fewer swaps.
  FILCH_OUTLINE std::size_t partition_from_both_ends(side const& pred, std::size_t first, std::size_t last) const {
    Iterator i = at(first);
    Iterator j = at(last);
    while (true) {
      while (i != j && pred(*i)) ++i;
      if (i == j) break;
      do {
        --j;
        if (i == j) return static_cast<std::size_t>(i - begin_);
      } while (!pred(*j));
      std::ranges::iter_swap(i, j);
      ++i;
    }
    return static_cast<std::size_t>(i - begin_);
  }

  Stop& stop_;
  Iterator begin_;
  Less less_;
  bool splits_all_;
};

/// Calls body() in the pool, unless so few elements are sorted that nothing is forked.
template <class Sched, class Body> void sort_in_pool(std::size_t n, std::size_t forked, Body const& body) {
  if (n < forked) return body();
  detail::inside_pool<Sched>(body);
}

template <class Sched, class Stop, class Iterator, class Less>
FILCH_OUTLINE void sort_elements(Stop& stop, input<Iterator> const& in, Less const& less) {
  using sorting = quicksort<Sched, Stop, Iterator, Less>;
  std::size_t const n = in.length;
  if (n <= sorting::k_few) return detail::insertion_sort(in.first, in.end(), less);
  one_run<Sched, Stop, Iterator, Less> run(stop, in, less);
  if (run.sort()) return;
  bool has_many = run.has_many_out_of_order();
  if (has_many && run.reverse_if_most_descend()) has_many = run.has_many_out_of_order();
  if ((has_many || n < sorting::k_forked) && !sorting::sorts_vectors(n) &&
      detail::insert_if_near<Sched>(stop, in.first, n, less))
    return;
  if (n >= sorting::k_forked || !has_many || run.begins_with_run_of(n / 4)) {
    sorted_part<Stop, Iterator, Less> const part(stop, in, less);
    std::size_t const kept = part.gather();
    if (kept >= n / 4) {
      raw_buffer<std::iter_value_t<Iterator>> const buffer(n - kept);
      if (static_cast<bool>(buffer)) {
        detail::sort_elements<Sched>(stop, input<Iterator>{in.at(kept), n - kept}, less);
        if (!stop.was_seen()) part.merge(kept, buffer);
        return;
      }
    }
  }
  sorting(stop, in.first, less).sort(n);
}
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void sort_in_memory(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  using less_type = order<Iterator, Comp, Proj>;
  less_type const less{{comp}, {proj}};
  detail::sort_in_pool<Sched>(in.length, quicksort<Sched, Stop, Iterator, less_type>::k_forked,
                              [&] { detail::sort_elements<Sched>(stop, in, less); });
}
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void sort(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  if (in.length < 2 || stop.is_requested()) return;
  detail::sort_in_memory<scheduler_for<Sched, Iterator>>(stop, detail::in_memory(in), comp, proj);
}

}  // namespace filch::inline FILCH_ABI::detail
