// Quicksort in place. Parts are sorted side by side; a large part is partitioned by several workers if one waits.
#pragma once

#include <filch/detail/filtering_in_place.hpp>
#include <filch/detail/ordering.hpp>

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
/// One type for both.
template <class Iterator, class Less> struct on_side_of_pivot {
  Less less;
  compared_element<Iterator> pivot;
  bool or_equal;
  template <class Element> FILCH_INLINE bool operator()(Element&& x) const {
    return or_equal ? !less(*pivot, static_cast<Element&&>(x)) : less(static_cast<Element&&>(x), *pivot);
  }
};

/// `partitioning` whose swaps are shared by joins: without a second loop engine a sort compiles faster.
template <class Sched, class Iterator, class Pred>
struct pivot_partitioning : partitioning<Sched, Iterator, Pred, std::identity> {
  template <class Stop> front joined(Stop&, front const& low, front const& high) const {
    std::size_t const n = std::min(high.begin - low.at, high.at - high.begin);
    swap(this->at(low.at), this->at(high.at - n), n);
    return {low.begin, low.at + (high.at - high.begin)};
  }
  static void swap(Iterator i, Iterator j, std::size_t n) {
    constexpr std::size_t k_part = 4096;
    if (n <= k_part) {
      for (; n != 0; --n, static_cast<void>(++i), static_cast<void>(++j)) std::ranges::iter_swap(i, j);
      return;
    }
    std::size_t const half = n / 2;
    Sched::join([&] { swap(i, j, half); },
                [&] { swap(detail::iterator_after(i, half), detail::iterator_after(j, half), n - half); });
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

  quicksort(Stop& stop, Iterator const& begin, Less const& less)
      : stop_(stop), begin_(begin), less_(less), splits_all_(detail::splits_all()) {}

  void sort(std::size_t n) const { sort(0, n, bad_allowed(n), false); }
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
  /// [first, low) is not behind the pivot, [low, high) is in its place, [high, last) is not before the pivot.
  struct partitioned {
    std::size_t low;
    std::size_t high;
    bool is_sorted = false;
  };

  static unsigned bad_allowed(std::size_t n) noexcept { return static_cast<unsigned>(std::bit_width(n)); }
  Iterator at(std::size_t position) const { return detail::iterator_after(begin_, position); }
  bool is_less(std::size_t i, std::size_t j) const { return less_(*at(i), *at(j)); }

  /// `has_left`: the element below `first` is in its place.
  FILCH_OUTLINE void sort(std::size_t first, std::size_t last, unsigned bad, bool has_left) const {
    while (last - first > k_few) {
      if (stop_.is_requested()) return;
      std::size_t const n = last - first;
      partitioned const p = partition_once(first, last, bad, has_left);
      if (p.is_sorted || stop_.was_seen()) return;
      if ((n >= k_forked || splits_all_) && p.low - first > 1) {
        Sched::join([&] { sort(first, p.low, bad, has_left); }, [&] { sort(p.high, last, bad, true); });
        return;
      }
      sort(first, p.low, bad, has_left);
      first = p.high;
      has_left = true;
    }
    detail::insertion_sort(at(first), at(last), less_);
  }

  /// `bad`: the number of bad pivots that are allowed.
  FILCH_OUTLINE partitioned partition_once(std::size_t first, std::size_t last, unsigned& bad, bool has_left) const {
    std::size_t const n = last - first;
    if (std::size_t const pivot = pivot_of(first, n); pivot != first) std::ranges::iter_swap(at(first), at(pivot));
    compared_element<Iterator> const pivot(at(first));
    // Nothing is less than the element on the left. If the pivot is as small, all that equal it are in their places.
    if (has_left && !is_less(first - 1, first)) {
      std::size_t const high = partition<true>(pivot, first + 1, last).end;
      if (high - first < n / 8 && give_up(first, n, bad)) return {first, last, true};
      return {first, high};
    }
    auto const [end, was_partitioned] = partition<false>(pivot, first + 1, last);
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
    return {place, end};
  }
  /// One bad pivot more. If there were too many, sorts the part.
  bool give_up(std::size_t first, std::size_t n, unsigned& bad) const {
    if (bad != 0) return --bad, false;
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
  };
  /// Moves the elements of [first, last) that are before the pivot to the front.
  template <bool OrEqual>
  partition_end partition(compared_element<Iterator> const& pivot, std::size_t first, std::size_t last) const {
    before_pivot<Iterator, Less, OrEqual> const pred{less_, pivot};
    while (first != last && pred(*at(first))) ++first;
    while (first != last && !pred(*at(last - 1))) --last;
    if (first == last) return {first, true};
    bool const is_shared = splits_all_ || (last - first >= k_partitioned_by_all && Sched::wanted());
    if (is_almost_partitioned(pred, first, last)) {
      if (!is_shared) return {partition_from_both_ends(pred, first, last), false};
      return {partition_halves({less_, pivot, OrEqual}, first, last), false};
    }
    if (is_shared) return {partition_by_all({less_, pivot, OrEqual}, first, last), false};
    if constexpr (moves_always<Iterator>) {
      return {partition_blocks(pred, first, last), false};
    } else {
      return {partition_from_both_ends(pred, first, last), false};
    }
  }
  /// Is a branch predicted right for most elements at both ends? Then elements that are in order should stay there.
  template <class Pred> bool is_almost_partitioned(Pred const& pred, std::size_t first, std::size_t last) const {
    constexpr std::size_t k_most_looked_at = 32;
    if constexpr (!moves_always<Iterator>) {
      if (last - first < k_partitioned_by_all) return false;
    }
    std::size_t const looked_at = std::min((last - first) / 16, k_most_looked_at);
    if (looked_at < 4) return false;
    std::size_t misplaced = 0;
    for (std::size_t i = 0; i != looked_at; ++i) {
      misplaced += static_cast<std::size_t>(!pred(*at(first + i)));
      misplaced += static_cast<std::size_t>(static_cast<bool>(pred(*at(last - 1 - i))));
    }
    return misplaced <= 2 + looked_at / 8;
  }
  using either_side = on_side_of_pivot<Iterator, Less>;
  FILCH_OUTLINE std::size_t partition_by_all(either_side const& pred, std::size_t first, std::size_t last) const {
    std::identity same;
    pivot_partitioning<Sched, Iterator, either_side const> work{{{at(first), {pred}, {same}}}};
    return first + detail::to_the_front<Sched>(stop_, last - first, work);
  }
  template <class Pred> std::size_t partition_blocks(Pred const& pred, std::size_t first, std::size_t last) const {
    constexpr std::size_t k_block = 128;
    std::identity same;
    partitioning<Sched, Iterator, Pred const, std::identity> const work{{begin_, {pred}, {same}}};
    front taken{first, first, 1};
    while (first != last && !stop_.is_requested()) {
      std::size_t const end = first + std::min(k_block, last - first);
      work.extend(taken, first, end);
      first = end;
    }
    return taken.at;
  }
  /// Both halves, and then the few elements that are in the wrong one.
  FILCH_OUTLINE std::size_t partition_halves(either_side const& pred, std::size_t first, std::size_t last) const {
    std::size_t const n = last - first;
    if (n <= (splits_all_ ? 2 : k_partitioned_by_all)) return partition_from_both_ends(pred, first, last);
    std::size_t const middle = first + n / 2;
    auto const [low, high] = Sched::join([&] { return partition_halves(pred, first, middle); },
                                         [&] { return partition_halves(pred, middle, last); });
    std::size_t const moved = std::min(middle - low, high - middle);
    pivot_partitioning<Sched, Iterator, either_side const>::swap(at(low), at(high - moved), moved);
    return low + (high - middle);
  }
  /// Fewer swaps.
  template <class Pred>
  std::size_t partition_from_both_ends(Pred const& pred, std::size_t first, std::size_t last) const {
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

/// One run from the first element to the last: all in order, or each one less than the one before. Halves are looked
/// at and reversed side by side, without the loop engine: a sort compiles faster.
template <class Sched, class Stop, class Iterator, class Less> class one_run {
 public:
  one_run(Stop& stop, input<Iterator> const& in, Less const& less)
      : stop_(stop), in_(in), less_(less), descends_(less(*in.at(1), *in.first)) {}

  /// Puts it in order if it is one run. Else returns false.
  bool sort() {
    constexpr std::size_t k_first = 32;
    std::size_t const first = std::min(in_.length, k_first);
    check(2, first);
    if (is_broken()) return false;
    check(first, in_.length);
    if (is_broken()) return false;
    if (descends_ && !stop_.was_seen()) reverse(0, in_.length / 2);
    return true;
  }

 private:
  static constexpr std::size_t k_part = 4096;

  bool is_broken() const noexcept { return lowest_break_.at() == 0; }
  /// Compares each element of [first, last) with the one before.
  FILCH_OUTLINE void check(std::size_t first, std::size_t last) {
    if (first >= last || is_broken() || stop_.is_requested()) return;
    if (last - first <= k_part) {
      Iterator i = in_.at(first - 1);
      for (std::size_t left = last - first; left != 0; --left) {
        Iterator const before = i++;
        if (less_(*i, *before) != descends_) return lowest_break_.lower_to(0);
      }
      return;
    }
    std::size_t const middle = first + (last - first) / 2;
    Sched::join([&] { check(first, middle); }, [&] { check(middle, last); });
  }
  FILCH_OUTLINE void reverse(std::size_t first, std::size_t last) {
    if (last - first <= k_part) {
      Iterator i = in_.at(first);
      Iterator j = in_.at(in_.length - first);
      for (; first != last; ++first, static_cast<void>(++i)) std::ranges::iter_swap(i, --j);
      return;
    }
    std::size_t const middle = first + (last - first) / 2;
    Sched::join([&] { reverse(first, middle); }, [&] { reverse(middle, last); });
  }

  Stop& stop_;
  input<Iterator> in_;
  Less less_;
  bool const descends_;
  lowest_position lowest_break_{1};
};

/// Calls body() in the pool, unless so few elements are sorted that nothing is forked.
template <class Sched, class Body> void sort_in_pool(std::size_t n, std::size_t forked, Body const& body) {
  if (n < forked) return body();
  detail::inside_pool<Sched>(body);
}

template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void sort_in_memory(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  using less_type = order<Iterator, Comp, Proj>;
  less_type const less{{comp}, {proj}};
  using sorting = quicksort<Sched, Stop, Iterator, less_type>;
  detail::sort_in_pool<Sched>(in.length, sorting::k_forked, [&] {
    if (in.length <= sorting::k_few) return detail::insertion_sort(in.first, in.end(), less);
    if (one_run<Sched, Stop, Iterator, less_type>(stop, in, less).sort()) return;
    sorting(stop, in.first, less).sort(in.length);
  });
}
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void sort(Stop& stop, input<Iterator> const& in, Comp& comp, Proj& proj) {
  if (in.length < 2 || stop.is_requested()) return;
  detail::sort_in_memory<Sched>(stop, detail::in_memory(in), comp, proj);
}

}  // namespace filch::inline FILCH_ABI::detail
