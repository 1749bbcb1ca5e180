// Inputs that are in order, or most of whose elements are.
#pragma once

#include <filch/detail/ordering.hpp>
#include <filch/detail/raw_buffer.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

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
    if (descends_) reverse();
    return true;
  }
  /// Are the first n elements a run? Known of short inputs.
  bool begins_with_run_of(std::size_t n) const noexcept { return !descends_ && first_run_ >= n; }
  /// Is more than a tenth out of order, as far as we look?
  bool has_many_out_of_order() const {
    std::size_t const looks = std::min<std::size_t>(64, in_.length / 8);
    return number_of_less(1, looks) > looks / 10;
  }
  /// Reverses all elements, if most descend, as far as we look. Returns whether it did. Neighbours do not tell: an
  /// input whose parts of eight descend may ascend.
  bool reverse_if_most_descend() {
    std::size_t const looks = std::min<std::size_t>(32, in_.length / 8);
    std::size_t const apart = std::min<std::size_t>(16, in_.length / 3);
    if (number_of_less(apart, looks) * 4 <= looks * 3) return false;
    reverse();
    return true;
  }

 private:
  static constexpr std::size_t k_part = 4096;

  void reverse() {
    if (!stop_.was_seen()) reverse(0, in_.length / 2);
  }
  /// How many of `looks` elements are less than the one so far below them?
  FILCH_OUTLINE std::size_t number_of_less(std::size_t apart, std::size_t looks) const {
    std::size_t number = 0;
    for (std::size_t look = 0; look != looks; ++look) {
      Iterator const below = in_.at((in_.length - apart) / looks * look);
      number += static_cast<std::size_t>(less_(*detail::iterator_after(below, apart), *below));
    }
    return number;
  }
  bool is_broken() const noexcept { return lowest_break_.at() == 0; }
  /// Compares each element of [first, last) with the one before.
  FILCH_OUTLINE void check(std::size_t first, std::size_t last) {
    if (first >= last || is_broken() || stop_.is_requested()) return;
    if (last - first <= k_part) {
      Iterator i = in_.at(first - 1);
      for (std::size_t left = last - first; left != 0; --left) {
        Iterator const before = i++;
        if (less_(*i, *before) == descends_) continue;
        if (in_.length <= k_part) first_run_ = last - left;
        return lowest_break_.lower_to(0);
      }
      return;
    }
    std::size_t const middle = first + (last - first) / 2;
    auto const half = [this](std::size_t from, std::size_t to) { return [this, from, to] { check(from, to); }; };
    detail::join_two<Sched>(half(first, middle), half(middle, last));
  }
  FILCH_OUTLINE void reverse(std::size_t first, std::size_t last) {
    if (last - first <= k_part) {
      Iterator i = in_.at(first);
      Iterator j = in_.at(in_.length - first);
      for (; first != last; ++first, static_cast<void>(++i)) std::ranges::iter_swap(i, --j);
      return;
    }
    std::size_t const middle = first + (last - first) / 2;
    auto const half = [this](std::size_t from, std::size_t to) { return [this, from, to] { reverse(from, to); }; };
    detail::join_two<Sched>(half(first, middle), half(middle, last));
  }

  Stop& stop_;
  input<Iterator> in_;
  Less less_;
  bool const descends_;
  lowest_position lowest_break_{1};
  std::size_t first_run_ = 0;
};

/// Sorts by insertion. Gives up where elements are far from their places: after some tens of random ones.
template <class Iterator, class Less> bool insert_near(Iterator const& first, std::size_t n, Less const& less) {
  constexpr std::size_t k_together = 16;
  constexpr std::size_t k_most_moves = 8 * k_together;
  for (std::size_t i = 0; i != n;) {
    std::size_t const sorted = std::max<std::size_t>(i, 1);
    i += std::min(n - i, k_together);
    if (!detail::insert_each(first, detail::iterator_after(first, sorted), detail::iterator_after(first, i), less,
                             k_most_moves))
      return false;
  }
  return true;
}
/// The same in parallel: parts, and then each part's first elements among those below.
template <class Sched, class Stop, class Iterator, class Less>
FILCH_OUTLINE bool insert_near_in_parts(Stop& stop, Iterator const& first, std::size_t n, Less const& less) {
  constexpr std::size_t k_part = 4096;
  if (stop.is_requested()) return true;
  if (n <= k_part) return detail::insert_near(first, n, less);
  std::size_t const half = n / 2;
  Iterator i = detail::iterator_after(first, half);
  auto const part = [&](Iterator const& from, std::size_t length, bool& is_done) {
    return [&stop, &less, &is_done, from, length] {
      is_done = detail::insert_near_in_parts<Sched>(stop, from, length, less);
    };
  };
  bool lower_is_done = true;
  bool upper_is_done = true;
  detail::join_two<Sched>(part(first, half, lower_is_done), part(i, n - half, upper_is_done));
  constexpr std::size_t k_most_moves = 128;
  bool is_done = lower_is_done && upper_is_done;
  if (stop.was_seen()) return true;
  for (std::size_t left = n - half; is_done && left != 0 && less(*i, *(i - 1)); --left, static_cast<void>(++i))
    is_done = detail::insert_each(first, i, i + 1, less, k_most_moves);
  return is_done;
}
/// Sorts by insertion, if each element is near its place. Random elements are told by a few comparisons. Not for an
/// input of which a few are far from their places.
template <class Sched, class Stop, class Iterator, class Less>
FILCH_OUTLINE bool insert_if_near(Stop& stop, Iterator const& first, std::size_t n, Less const& less) {
  constexpr std::size_t k_looks = 8;
  std::size_t const apart = std::min<std::size_t>(16, n / 3);
  for (std::size_t look = 0; look != k_looks; ++look) {
    Iterator const below = detail::iterator_after(first, (n - apart) / k_looks * look);
    if (less(*detail::iterator_after(below, apart), *below)) return false;
  }
  return detail::insert_near_in_parts<Sched>(stop, first, n, less);
}

/// Elements in order that have others between them: they go to the front, and the others, when they are sorted, are
/// merged with them. The idea is that of E. Ernerfeldt's drop-merge sort.
template <class Stop, class Iterator, class Less> class sorted_part {
 public:
  sorted_part(Stop& stop, input<Iterator> const& in, Less const& less) : stop_(stop), in_(in), less_(less) {}

  /// Returns how many are at the front. Gives up as soon as many are out of order: that of a random input is told by
  /// its first hundred elements.
  ///
  /// It ends whatever the comparator says. An undo goes back over k_few steps that ended in the last branch, each
  /// once, and shortens the front, which only the first branch lengthens. So all other steps together are fewer than
  /// n, there are fewer undos than n, and fewer than 10 n steps.
  FILCH_OUTLINE std::size_t gather() const {
    constexpr std::size_t k_between_looks = 1024;
    std::size_t const n = in_.length;
    std::size_t kept = 1;
    std::size_t in_a_row = 0;  // so many right below i were found to be out of order, one after the other
    for (std::size_t i = 1; i != n;) {
      if (i % k_between_looks == 0 && stop_.is_requested()) return 0;
      if (!is_less(i, kept - 1)) {
        if (kept != i) std::ranges::iter_swap(in_.at(kept), in_.at(i));
        ++kept;
        in_a_row = 0;
      } else if (kept >= 2 && !is_less(i, kept - 2)) {  // the last one of the front is out of order
        std::ranges::iter_swap(in_.at(kept - 1), in_.at(i));
        in_a_row = 0;
      } else if (++in_a_row % k_few == 0 && undo(kept, i + 1)) {
        i -= k_few;
        in_a_row = 0;
      }
      ++i;
      if (i - kept > 64 + i / 4) break;
    }
    return kept;
  }
  /// Merges the front and the elements behind it, which are sorted. The buffer has room for those.
  FILCH_OUTLINE void merge(std::size_t kept, raw_buffer<std::iter_value_t<Iterator>> const& buffer) const {
    std::size_t const n = in_.length - kept;
    moving_back rest{in_.first, kept, 0, buffer};
    for (; rest.above != n; ++rest.above) buffer.make(rest.above, std::ranges::iter_move(in_.at(kept + rest.above)));
    if (moves_always<Iterator> && n > kept / 16) {
      rest.merge_without_branches(less_);
    } else {
      while (rest.above != 0 && rest.kept != 0) rest.put(less_(buffer[rest.above - 1], *in_.at(rest.kept - 1)));
    }
    while (rest.above != 0) rest.put(false);
  }

 private:
  static constexpr std::size_t k_few = 8;

  bool is_less(std::size_t i, std::size_t j) const { return less_(*in_.at(i), *in_.at(j)); }
  /// Are the last k_few elements below i in order, and is it a few of the front that are not? Takes those from there.
  FILCH_OUTLINE bool undo(std::size_t& kept, std::size_t i) const {
    std::size_t const oldest = i - k_few;
    if (is_less(i - 1, oldest)) return false;
    std::size_t front = kept;
    while (is_less(oldest, front - 1)) {
      if (front == 1 || kept - front == k_few) return false;
      --front;
    }
    if (front == kept) return false;  // the comparator lies
    kept = front;
    return true;
  }
  /// The hole between the elements of the front that are left and those that have their place is as large as what is
  /// left in the buffer. It goes there after an exception, too.
  struct moving_back {
    Iterator first;
    std::size_t kept;
    std::size_t above;
    raw_buffer<std::iter_value_t<Iterator>> const& buffer;
    ~moving_back() {
      if (above != 0) move_back(first, kept, above, buffer);
    }
    /// Takes copies, so that the members are in registers.
    FILCH_COLD static void move_back(Iterator const to, std::size_t below, std::size_t n,
                                     raw_buffer<std::iter_value_t<Iterator>> const& from) noexcept {
      for (; n != 0; --n) {
        try {
          *detail::iterator_after(to, below + n - 1) = std::move(from[n - 1]);
        } catch (...) {  // the exception that is on its way leaves
        }
      }
    }
    /// Counts an element when it is there: an assignment may throw.
    FILCH_INLINE void put(bool is_of_front) {
      Iterator const to = detail::iterator_after(first, kept + above - 1);
      if (is_of_front) {
        *to = std::ranges::iter_move(detail::iterator_after(first, kept - 1));
        --kept;
      } else {
        *to = std::move(buffer[above - 1]);
        --above;
      }
    }
    void merge_without_branches(Less const& less) {
      if constexpr (moves_always<Iterator>) {
        while (above != 0 && kept != 0) {
          auto x = buffer[above - 1];
          auto y = *detail::iterator_after(first, kept - 1);
          bool const is_of_front = less(x, y);
          *detail::iterator_after(first, kept + above - 1) = is_of_front ? y : x;
          kept -= is_of_front;
          above -= !is_of_front;
        }
      }
    }
  };

  Stop& stop_;
  input<Iterator> in_;
  Less less_;
};

}  // namespace filch::inline FILCH_ABI::detail
