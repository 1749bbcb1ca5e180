// Filters in place: each piece moves its elements to its front, and fronts of neighbours become one.
#pragma once

#include <filch/detail/arguments.hpp>
#include <filch/detail/filtering.hpp>
#include <filch/detail/raw_buffer.hpp>
#include <filch/detail/shifting.hpp>

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

/// The elements of a range behind the front that filter(first, end) makes and ends at.
template <class Range, class Filter>
std::ranges::borrowed_subrange_t<Range> behind_front(std::remove_reference_t<Range>& range, Filter filter) {
  auto const first = std::ranges::begin(range);
  auto const end = detail::iterator_after(first, detail::length_of(range));
  return {filter(first, end), end};
}

/// The result of a filter in place with a stop token: the elements behind `end` for a range, `end` for iterators.
template <class First, class... Rest, class Iterator> auto behind(input<Iterator> const& in, Iterator const& end) {
  if constexpr (begins_with_range<First, Rest...>) {
    return std::ranges::borrowed_subrange_t<First>(end, in.end());
  } else {
    return end;
  }
}

/// The elements of consecutive pieces that belong to the front: [begin, at) of the range.
struct front {
  std::size_t begin;
  std::size_t at;
  std::size_t others = 0;  // of partitioning_stably
};

/// A piece of a filter in place. A piece that begins after the piece below has ended continues its front, as the
/// serial loop does. Any other piece has a front of its own.
template <class Work, class Stop> class front_piece {
 public:
  /// The piece of the whole loop.
  front_piece(Work& work, Stop& stop, std::size_t n)
      : work_(work), stop_(stop), begin_(0), end_(n), is_lowest_(true) {}
  front_piece(front_piece const&) = delete;
  front_piece& operator=(front_piece const&) = delete;

  /// Runs stretches. A small trivially copyable `work` is copied, and `at` is in registers.
  struct runner_type {
    std::conditional_t<is_cheap_to_copy<Work>, Work const, Work const&> work;
    front at;
    FILCH_INLINE void run(std::size_t first, std::size_t last) { work.extend(at, first, last); }
  };

  runner_type runner(std::size_t first) {
    if (first == begin_ && handed_.is_given()) {
      front_ = handed_.carry();
      is_lowest_ = true;
    }
    return {work_, front_};
  }
  void ran(runner_type const& runner, std::size_t last) {
    front_ = runner.at;
    if (last == end_ && is_lowest_ && next_ != nullptr) next_->handed_.give(front_);
  }
  front_piece split(std::size_t middle, std::size_t) { return front_piece(*this, middle); }
  void merge(front_piece& upper) {
    end_ = upper.end_;
    next_ = upper.next_;
    front_ = upper.is_lowest_ ? upper.front_ : work_.joined(stop_, front_, upper.front_);
  }
  /// The loop was stopped. Nothing is lost, but the fronts stay as they are.
  void abandon(front_piece& upper) {
    if (upper.is_lowest_) {
      front_ = upper.front_;
    } else {
      work_.finish(upper.front_);
    }
  }
  /// The front, of the piece of the whole loop.
  front& whole() noexcept { return front_; }

 private:
  front_piece(front_piece& lower, std::size_t middle)
      : work_(lower.work_),
        stop_(lower.stop_),
        begin_(middle),
        end_(lower.end_),
        next_(lower.next_),
        front_{middle, middle} {
    lower.end_ = middle;
    lower.next_ = this;
  }

  Work& work_;
  Stop& stop_;
  std::size_t const begin_;
  std::size_t end_;
  front_piece* next_ = nullptr;  // the piece above this one. It outlives this one's run.
  bool is_lowest_ = false;       // is it the front of the whole range?
  front front_{0, 0};
  handed_carry<front> handed_;
};

/// Runs a filter in place over n positions. Returns the length of the front.
template <class Sched, class Stop, class Work> std::size_t to_the_front(Stop& stop, std::size_t n, Work& work) {
  front_piece<Work, Stop> piece(work, stop, n);
  detail::run_pieces<Sched>(0, n, piece, stop);
  work.finish(piece.whole());
  return piece.whole().at;
}

/// remove_if.
template <class Iterator, class Pred, class Proj> struct removing : selection<Iterator, Pred, Proj> {
  FILCH_INLINE void extend(front& f, std::size_t first, std::size_t last) const {
    Iterator i = this->at(first);
    if (f.at == first) {  // nothing was removed yet
      for (; first != last && !this->takes(i); ++first) ++i;
      f.at = first;
      if (first == last) return;
      ++first;
      ++i;
    }
    Iterator to = this->at(f.at);
    Iterator const was = to;
    FILCH_UNROLL_FILTER
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      if (this->takes(i)) continue;
      *to = std::ranges::iter_move(i);
      ++to;
    }
    f.at += static_cast<std::size_t>(to - was);
  }
  template <class Stop> front joined(Stop& stop, front const& low, front const& high) const {
    if (low.at != high.begin)
      detail::move_down_unless_stopped(stop, this->at(high.begin), this->at(high.at), this->at(low.at));
    return {low.begin, low.at + (high.at - high.begin)};
  }
  void finish(front&) const noexcept {}
};

/// unique.
template <class Iterator, class Equal, class Proj> struct keeping_unique {
  using projected = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  Iterator begin;
  body_of<Equal, projected, projected> equal;
  body_of<Proj, std::iter_reference_t<Iterator>> proj;

  Iterator at(std::size_t position) const { return detail::iterator_after(begin, position); }
  bool is_equal(Iterator const& i, Iterator const& j) const { return static_cast<bool>(equal(proj(*i), proj(*j))); }

  FILCH_INLINE void extend(front& f, std::size_t first, std::size_t last) const {
    if (f.at == f.begin) {
      ++f.at;
      ++first;
    }
    Iterator i = this->at(first);
    if (f.at == first) {  // nothing was removed yet
      for (; first != last && !is_equal(this->at(first - 1), i); ++first) ++i;
      f.at = first;
      if (first == last) return;
      ++first;
      ++i;
    }
    Iterator kept = this->at(f.at - 1);
    Iterator const before = kept;
    FILCH_UNROLL_FILTER
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      if (is_equal(kept, i)) continue;
      *++kept = std::ranges::iter_move(i);
    }
    f.at += static_cast<std::size_t>(kept - before);
  }
  /// After an exception or a stop, either piece may have kept nothing: it did not run.
  template <class Stop> front joined(Stop& stop, front const& low, front const& high) const {
    if (high.at == high.begin) return {low.begin, low.at};
    bool const is_repeated = low.at != low.begin && is_equal(this->at(low.at - 1), this->at(high.begin));
    std::size_t const from = high.begin + (is_repeated ? 1 : 0);
    if (low.at != from) detail::move_down_unless_stopped(stop, this->at(from), this->at(high.at), this->at(low.at));
    return {low.begin, low.at + (high.at - from)};
  }
  void finish(front&) const noexcept {}
};

/// Swaps the elements of two ranges of one length that do not overlap.
template <class Iterator> struct swap_piece {
  Iterator a;
  Iterator b;
  void run(std::size_t first, std::size_t last) const {
    Iterator const end = detail::iterator_after(a, last);
    Iterator j = detail::iterator_after(b, first);
    for (Iterator i = detail::iterator_after(a, first); i != end; ++i, static_cast<void>(++j))
      std::ranges::iter_swap(i, j);
  }
  swap_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(swap_piece&) const noexcept {}
};

/// partition. `others` of a front is 1 if the last stretch had many elements of both kinds.
template <class Sched, class Iterator, class Pred, class Proj> struct partitioning : selection<Iterator, Pred, Proj> {
  FILCH_INLINE void extend(front& f, std::size_t first, std::size_t last) const {
    std::size_t const n = last - first;
    Iterator i = this->at(first);
    Iterator to = this->at(f.at);
    Iterator const was = to;
    if (can_swap_always && f.others != 0) {
      swap_always(to, i, n);
    } else {
      FILCH_UNROLL_FILTER
      for (std::size_t left = n; left != 0; --left, static_cast<void>(++i)) {
        if (!this->takes(i)) continue;
        if (to != i) std::ranges::iter_swap(to, i);
        ++to;
      }
    }
    auto const taken = static_cast<std::size_t>(to - was);
    f.others = 8 * taken > n && 8 * taken < 7 * n ? 1 : 0;
    f.at += taken;
  }
  /// Swaps the last elements of the upper front with the elements above the lower one.
  template <class Stop> front joined(Stop& stop, front const& low, front const& high) const {
    std::size_t const count = std::min(high.begin - low.at, high.at - high.begin);
    swap_piece<Iterator> swaps{this->at(low.at), this->at(high.at - count)};
    detail::run_pieces<Sched>(0, count, swaps, stop);
    return {low.begin, low.at + (high.at - high.begin)};
  }
  void finish(front&) const noexcept {}

 private:
  static constexpr bool can_swap_always = std::contiguous_iterator<Iterator> &&
                                          std::is_trivially_copyable_v<std::iter_value_t<Iterator>> &&
                                          sizeof(std::iter_value_t<Iterator>) <= 16;
  /// Swaps without a branch on what the predicate says.
  FILCH_INLINE void swap_always(Iterator& to, Iterator i, std::size_t left) const {
    if constexpr (can_swap_always) {
      FILCH_UNROLL_FILTER
      for (; left != 0; --left, static_cast<void>(++i)) {
        auto value = std::move(*i);  // trivial: the element keeps its value
        bool const is_taken = this->takes(i);
        *i = std::move(*to);
        *to = std::move(value);
        to += is_taken;
      }
    }
  }
};

/// stable_partition of [first, last), which is not empty, by rotations. Returns the end of the taken ones.
template <class Stop, class Selection>
std::size_t partition_without_memory(Stop& stop, Selection const& in, std::size_t first, std::size_t last) {
  if (stop.is_requested()) return first;
  if (last - first == 1) return in.takes(in.at(first)) ? last : first;
  std::size_t const middle = first + (last - first) / 2;
  std::size_t const low = detail::partition_without_memory(stop, in, first, middle);
  std::size_t const high = detail::partition_without_memory(stop, in, middle, last);
  detail::rotate(in.at(low), in.at(middle), in.at(high));
  return low + (high - middle);
}

/// stable_partition. The others of a front [begin, at) wait in the buffer from position `begin` on.
template <class Iterator, class Pred, class Proj> struct partitioning_stably : selection<Iterator, Pred, Proj> {
  raw_buffer<std::iter_value_t<Iterator>> const* buffer;

  FILCH_INLINE void extend(front& f, std::size_t first, std::size_t last) const {
    Iterator i = this->at(first);
    Iterator to = this->at(f.at);
    Iterator const was = to;
    std::size_t others = f.begin + f.others;
    FILCH_UNROLL_FILTER
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      if (!this->takes(i)) {
        buffer->make(others++, std::ranges::iter_move(i));
      } else {
        if (to != i) *to = std::ranges::iter_move(i);
        ++to;
      }
    }
    f.at += static_cast<std::size_t>(to - was);
    f.others = others - f.begin;
  }
  template <class Stop> front joined(Stop& stop, front& low, front& high) const {
    finish(low);
    finish(high);
    if (!stop.is_requested()) detail::rotate(this->at(low.at), this->at(high.begin), this->at(high.at));
    return {low.begin, low.at + (high.at - high.begin)};
  }
  /// Moves the others back.
  void finish(front& f) const {
    auto* const others = std::addressof((*buffer)[f.begin]);
    std::move(others, others + f.others, this->at(f.at));
    for (std::size_t i = f.begin; i < f.begin + f.others; ++i) buffer->destroy(i);
    f.others = 0;
  }
};

}  // namespace filch::inline FILCH_ABI::detail
