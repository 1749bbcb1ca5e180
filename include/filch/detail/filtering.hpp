// Filters to another range: loops whose carry is the number of elements below (scan_engine.hpp).
#pragma once

#include <filch/detail/ranges.hpp>
#include <filch/detail/scan_engine.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace filch::inline FILCH_ABI::detail {

/// The elements from `begin` on that a predicate takes.
template <class Iterator, class Pred, class Proj> struct selection {
  using iterator = Iterator;
  Iterator begin;
  body_of<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>> pred;
  body_of<Proj, std::iter_reference_t<Iterator>> proj;

  FILCH_INLINE bool takes(Iterator const& i) const { return static_cast<bool>(pred(proj(*i))); }
  Iterator at(std::size_t position) const { return detail::iterator_after(begin, position); }
};

// Where filters write. `from(position, n)` writes from `position` on; n positions below it were taken.

/// Elements that were taken.
template <class Iterator, class Out> struct elements_out {
  Iterator begin;
  Out out;
  struct cursor {
    Out to;
    FILCH_INLINE void take(Iterator const& i) { *to = *i, static_cast<void>(++to); }
    FILCH_INLINE void leave(Iterator const&) const noexcept {}
  };
  cursor from(std::size_t, std::size_t n) const { return {detail::iterator_after(out, n)}; }
};
/// Their positions.
template <class Out> struct positions_out {
  Out out;
  struct cursor {
    Out to;
    std::iter_difference_t<Out> position;
    template <class Iterator> FILCH_INLINE void take(Iterator const&) {
      *to = static_cast<std::iter_value_t<Out>>(position++);
      ++to;
    }
    template <class Iterator> FILCH_INLINE void leave(Iterator const&) noexcept { ++position; }
  };
  cursor from(std::size_t position, std::size_t n) const {
    return {detail::iterator_after(out, n), static_cast<std::iter_difference_t<Out>>(position)};
  }
};
/// Elements that were taken, and elements that were not.
template <class Iterator, class Out, class Out2> struct both_out {
  Iterator begin;
  Out out;
  Out2 out2;
  struct cursor {
    Out to;
    Out2 to2;
    FILCH_INLINE void take(Iterator const& i) { *to = *i, static_cast<void>(++to); }
    FILCH_INLINE void leave(Iterator const& i) { *to2 = *i, static_cast<void>(++to2); }
  };
  cursor from(std::size_t position, std::size_t n) const {
    return {detail::iterator_after(out, n), detail::iterator_after(out2, position - n)};
  }
};

/// A filter to another range, as a loop whose carry is the number of elements taken.
template <class Selection, class Output> class filter_work {
 public:
  using carry = std::size_t;
  using sum = std::size_t;
  using iterator = typename Selection::iterator;

  filter_work(Selection const& in, Output const& out, std::size_t n, std::size_t limit)
      : in_(in), out_(out), n_(n), limit_(limit), end_(n) {}

  bool direct(std::size_t first, std::size_t last, std::size_t& taken) {
    return write(first, last, taken, [this](iterator const& i) { return in_.takes(i); });
  }
  void ahead(std::size_t first, std::size_t last, std::optional<std::size_t>& total) {
    unsigned char* const marks = marks_.get();
    std::size_t taken = 0;
    iterator i = in_.at(first);
    for (; first != last; ++first, ++i) {
      bool const is_taken = in_.takes(i);
      marks[first] = is_taken;
      taken += is_taken;
    }
    total = total.value_or(0) + taken;
  }
  bool can_run_ahead() const noexcept { return marks_ != nullptr; }
  /// The first split is made before any other worker has a part of the loop.
  void about_to_split(std::size_t, std::size_t) {
    if (was_split_) return;
    was_split_ = true;
    marks_.reset(new (std::nothrow) unsigned char[n_]);
  }
  void again(std::size_t first, std::size_t last, std::size_t& taken) {
    write(first, last, taken, [mark = marks_.get() + first](iterator const&) mutable { return *mark++ != 0; });
  }
  std::size_t after(std::size_t taken, std::size_t more) const noexcept { return std::min(taken + more, limit_); }
  std::size_t both(std::size_t low, std::size_t high) const noexcept { return low + high; }

  /// The first position that was taken and has no room, else n.
  std::size_t end() const noexcept { return end_.load(std::memory_order_relaxed); }  // relaxed: after all joins

 private:
  template <class Takes>
  FILCH_INLINE bool write(std::size_t first, std::size_t last, std::size_t& taken, Takes takes) {
    if (limit_ - taken < last - first) [[unlikely]]
      return write_bounded(first, last, taken, takes);
    auto cursor = out_.from(first, taken);
    auto const start = cursor.to;
    iterator const end = in_.at(last);
    for (iterator i = in_.at(first); i != end; ++i) {
      if (takes(i)) {
        cursor.take(i);
      } else {
        cursor.leave(i);
      }
    }
    taken += static_cast<std::size_t>(cursor.to - start);
    return true;
  }
  /// The same where not all positions may have room.
  template <class Takes>
  FILCH_OUTLINE bool write_bounded(std::size_t first, std::size_t last, std::size_t& taken, Takes& takes) {
    auto cursor = out_.from(first, taken);
    iterator i = in_.at(first);
    for (; first != last; ++first, ++i) {
      if (!takes(i)) {
        cursor.leave(i);
      } else if (taken == limit_) {
        ends_at(first);
        return false;
      } else {
        cursor.take(i);
        ++taken;
      }
    }
    return true;
  }
  void ends_at(std::size_t position) noexcept {
    std::size_t end = end_.load(std::memory_order_relaxed);
    // relaxed: read after all joins.
    while (position < end && !end_.compare_exchange_weak(end, position, std::memory_order_relaxed)) {
    }
  }

  // Fixed.
  Selection const in_;
  Output const out_;
  std::size_t const n_;
  std::size_t const limit_;  // room in the output
  // The first split.
  bool was_split_ = false;
  std::unique_ptr<unsigned char[]> marks_;  // null: no memory
  // All workers.
  std::atomic<std::size_t> end_;
};

struct selected {
  std::size_t count;  // elements written
  std::size_t end;    // first position that was taken and has no room, else n
};

/// Writes what `in` takes of n positions.
template <class Sched, class Stop, class Selection, class Output>
selected copy_selected(Stop& stop, std::size_t n, Selection const& in, Output const& out,
                       std::size_t limit = std::numeric_limits<std::size_t>::max()) {
  using work = filter_work<Selection, Output>;
  work w(in, out, n, limit);
  carrying_piece<Sched, Stop, work> piece(w, stop, n, 0);
  detail::run_pieces<Sched>(0, n, piece, stop);
  return {piece.last_carry(), w.end()};
}

}  // namespace filch::inline FILCH_ABI::detail
