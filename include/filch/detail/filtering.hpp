// Filters to another range: loops whose carry is the number of elements below (scan_engine.hpp).
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/scan_engine.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <limits>
#include <new>

namespace filch::inline FILCH_ABI::detail {

/// An element that its range makes at each access. It is made once, at the first access.
template <class Iterator> class made_element {
 public:
  explicit made_element(Iterator const& i) : i_(i) {}
  FILCH_INLINE auto& operator*() {
    if (!value_) value_.emplace(*i_);
    return *value_;
  }
  Iterator const& position() const noexcept { return i_; }

 private:
  Iterator const& i_;
  std::optional<std::iter_reference_t<Iterator>> value_;
};
/// Where a filter reads an element: the iterator, if it refers to an element in memory.
template <class Iterator>
using place_of =
    std::conditional_t<std::is_reference_v<std::iter_reference_t<Iterator>>, Iterator const&, made_element<Iterator>>;
template <class Iterator> FILCH_INLINE Iterator const& position_of_place(Iterator const& i) noexcept { return i; }
template <class Iterator>
FILCH_INLINE Iterator const& position_of_place(made_element<Iterator> const& element) noexcept {
  return element.position();
}
/// The element, for its last use.
template <class Iterator> FILCH_INLINE decltype(auto) last_read(Iterator const& i) { return *i; }
template <class Iterator> FILCH_INLINE auto&& last_read(made_element<Iterator>& element) {
  return std::move(*element);
}

/// The elements from `begin` on that a predicate takes.
template <class Iterator, class Pred, class Proj> struct selection {
  using iterator = Iterator;
  Iterator begin;
  body_of<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>> pred;
  body_of<Proj, std::iter_reference_t<Iterator>> proj;

  template <class Place> FILCH_INLINE bool takes(Place&& i) const { return static_cast<bool>(pred(proj(*i))); }
  Iterator at(std::size_t position) const { return detail::iterator_after(begin, position); }
};

// Where filters write. `from(position, n)` writes from `position` on; n positions below it were taken.

/// Elements that were taken.
template <class Iterator, class Out> struct elements_out {
  template <class Sched> using scheduler = scheduler_for<Sched, Out>;
  static constexpr bool k_writes_others = false;
  Iterator begin;
  Out out;
  struct cursor {
    Out to;
    template <class Place> FILCH_INLINE void take(Place& i) {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(detail::last_read(i)), static_cast<void>(++to);
    }
    template <class Place> FILCH_INLINE void leave(Place&) const noexcept {}
  };
  cursor from(std::size_t, std::size_t n) const { return {detail::iterator_after(out, n)}; }
};
/// Their positions.
template <class Out> struct positions_out {
  template <class Sched> using scheduler = scheduler_for<Sched, Out>;
  static constexpr bool k_writes_others = false;
  Out out;
  struct cursor {
    Out to;
    std::iter_difference_t<Out> position;
    template <class Place> FILCH_INLINE void take(Place&) {
      *to = static_cast<std::iter_value_t<Out>>(position++);
      ++to;
    }
    template <class Place> FILCH_INLINE void leave(Place&) noexcept { ++position; }
  };
  cursor from(std::size_t position, std::size_t n) const {
    return {detail::iterator_after(out, n), static_cast<std::iter_difference_t<Out>>(position)};
  }
};
/// Elements that were taken, and elements that were not.
template <class Iterator, class Out, class Out2> struct both_out {
  template <class Sched> using scheduler = scheduler_for<Sched, Out, Out2>;
  static constexpr bool k_writes_others = true;
  Iterator begin;
  Out out;
  Out2 out2;
  struct cursor {
    Out to;
    Out2 to2;
    template <class Place> FILCH_INLINE void take(Place& i) {
      *to = detail::assigned_to<std::iter_reference_t<Out>>(detail::last_read(i)), static_cast<void>(++to);
    }
    template <class Place> FILCH_INLINE void leave(Place& i) {
      *to2 = detail::assigned_to<std::iter_reference_t<Out2>>(detail::last_read(i)), static_cast<void>(++to2);
    }
  };
  cursor from(std::size_t position, std::size_t n) const {
    return {detail::iterator_after(out, n), detail::iterator_after(out2, position - n)};
  }
};

/// Where a filter ends because an output is full.
class full_output {
 public:
  explicit full_output(std::size_t n) noexcept : at_(n) {}
  /// Position `at` has no room. `taken` positions below it were taken. Only one position of a loop is such.
  void set(std::size_t at, std::size_t taken) noexcept {
    at_ = at;
    taken_ = taken;
    is_full_ = true;
  }
  /// The position that has no room, else the number of positions.
  std::size_t at() const noexcept { return at_; }
  /// The positions below it that were taken, of all that were.
  std::size_t taken_of(std::size_t all) const noexcept { return is_full_ ? taken_ : all; }

 private:
  // The worker that finds it; read after the loop.
  std::size_t at_;
  std::size_t taken_ = 0;
  bool is_full_ = false;
};

/// The room in the outputs of a filter: for elements that it takes, and for others.
struct filter_room {
  static constexpr std::size_t k_unbounded = std::numeric_limits<std::size_t>::max();
  std::size_t taken = k_unbounded;
  std::size_t others = k_unbounded;
};

/// The serial loop of a filter to another range. Its carry is the number of elements taken, or more than there is
/// room for behind the position at which an output was full.
template <class Selection, class Output> struct serial_filter {
  using iterator = typename Selection::iterator;
  Selection in;
  Output out;
  filter_room room;
  full_output* full;

  FILCH_INLINE bool direct(std::size_t first, std::size_t last, std::size_t& taken) const {
    return write(first, last, taken, [this](auto& i) { return in.takes(i); });
  }
  /// Writes positions. `taken` positions below were taken.
  template <class Takes>
  FILCH_INLINE bool write(std::size_t first, std::size_t last, std::size_t& taken, Takes takes) const {
    if (!has_room_for(first, last, taken)) [[unlikely]]
      return write_bounded(first, last, taken, takes);
    auto cursor = out.from(first, taken);
    auto const start = cursor.to;
    iterator i = in.at(first);
    FILCH_UNROLL_FILTER
    for (std::size_t left = last - first; left != 0; --left, static_cast<void>(++i)) {
      place_of<iterator> place{i};
      if (takes(place)) {
        cursor.take(place);
      } else {
        cursor.leave(place);
      }
    }
    taken += static_cast<std::size_t>(cursor.to - start);
    return true;
  }

 private:
  static bool has_room(std::size_t room, std::size_t used, std::size_t more) noexcept {
    return used <= room && more <= room - used;
  }
  FILCH_INLINE bool has_room_for(std::size_t first, std::size_t last, std::size_t taken) const noexcept {
    if constexpr (Output::k_writes_others) {
      if (!has_room(room.others, first - taken, last - first)) return false;
    }
    return has_room(room.taken, taken, last - first);
  }
  /// The same where not all positions may have room. Nothing is written behind the first one that has none.
  template <class Takes>
  FILCH_OUTLINE bool write_bounded(std::size_t first, std::size_t last, std::size_t& taken, Takes takes) const {
    if (taken > room.taken || first - taken > room.others) return false;
    auto cursor = out.from(first, taken);
    iterator i = in.at(first);
    for (; first != last; ++first, static_cast<void>(++i)) {
      place_of<iterator> place{i};
      bool const is_taken = takes(place);
      if (is_taken ? taken == room.taken : Output::k_writes_others && first - taken == room.others) break;
      if (is_taken) {
        cursor.take(place);
        ++taken;
      } else {
        cursor.leave(place);
      }
    }
    if (first == last) return true;
    full->set(first, taken);
    taken = room.taken + 1;
    return false;
  }
};

/// A filter to another range, as a loop whose carry is the number of elements taken.
template <class Selection, class Output> class filter_work {
 public:
  using carry = std::size_t;
  static constexpr std::size_t k_turn = 1;
  using sum = std::size_t;
  using iterator = typename Selection::iterator;

  filter_work(Selection const& in, Output const& out, std::size_t n, filter_room room = {})
      : n_(n),
        full_(n),
        serial_{in, out, {std::min(room.taken, n), std::min(room.others, n)}, std::addressof(full_)} {}
  filter_work(filter_work const&) = delete;
  filter_work& operator=(filter_work const&) = delete;

  serial_filter<Selection, Output> const& serial() const noexcept { return serial_; }
  void ahead(std::size_t first, std::size_t last, std::optional<std::size_t>& total) {
    unsigned char* const marks = marks_.get();
    std::size_t taken = 0;
    iterator i = serial_.in.at(first);
    for (; first != last; ++first, static_cast<void>(++i)) {
      bool const is_taken = serial_.in.takes(i);
      marks[first] = is_taken;
      taken += is_taken;
    }
    total = total.value_or(0) + taken;
  }
  bool can_run_ahead() const noexcept { return static_cast<bool>(marks_); }
  /// The first split is made before any other worker has a part of the loop.
  void about_to_split(std::size_t, std::size_t) {
    if (was_split_) return;
    was_split_ = true;
    marks_.reset(new (std::nothrow) unsigned char[n_]);
  }
  void again(std::size_t first, std::size_t last, std::size_t& taken) {
    serial_.write(first, last, taken, [mark = marks_.get() + first](auto&) mutable { return *mark++ != 0; });
  }
  std::size_t after(std::size_t taken, std::size_t more) const noexcept { return taken + more; }
  std::size_t both(std::size_t low, std::size_t high) const noexcept { return low + high; }

  /// Where the filter has ended.
  full_output const& full() const noexcept { return full_; }

 private:
  std::size_t const n_;
  full_output full_;
  serial_filter<Selection, Output> const serial_;
  // The first split.
  bool was_split_ = false;
  owned<unsigned char[]> marks_;  // null: no memory
};

struct selected {
  std::size_t count;  // elements taken and written
  std::size_t end;    // first position that has no room, else n
};

/// Writes what `in` takes of n positions.
template <class Sched, class Stop, class Selection, class Output>
selected copy_selected(Stop& stop, std::size_t n, Selection const& in, Output const& out, filter_room room = {}) {
  using work = filter_work<Selection, Output>;
  work w(in, out, n, room);
  using sched = typename Output::template scheduler<Sched>;
  carrying_piece<sched, Stop, work> piece(w, stop, n, 0);
  detail::run_pieces<sched>(0, n, piece, stop);
  return {w.full().taken_of(piece.last_carry()), w.full().at()};
}

}  // namespace filch::inline FILCH_ABI::detail
