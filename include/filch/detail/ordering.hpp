// The order of a sort, and the sorts of few elements. No comparator can make them leave their range or lose an
// element.
#pragma once

#include <filch/detail/body.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/standard.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// comp(proj(x), proj(y)).
template <class Iterator, class Comp, class Proj> struct order {
  using projected = std::invoke_result_t<Proj&, std::iter_reference_t<Iterator>>;
  [[no_unique_address]] body_of<Comp, projected, projected> comp;
  [[no_unique_address]] body_of<Proj, std::iter_reference_t<Iterator>> proj;
  template <class Left, class Right> FILCH_INLINE bool operator()(Left&& x, Right&& y) const {
    return static_cast<bool>(comp(proj(static_cast<Left&&>(x)), proj(static_cast<Right&&>(y))));
  }
};
template <class Iterator, class Comp, class Proj> order<Iterator, Comp, Proj> order_of(Comp& comp, Proj& proj) {
  return {{comp}, {proj}};
}

/// Is Comp an order of the standard for numbers of this type? Its calls can't be observed.
template <class Comp, class Number>
inline constexpr bool is_order_of_numbers =
    std::is_arithmetic_v<Number> &&
    (std::is_same_v<Comp, std::ranges::less> || std::is_same_v<Comp, std::less<>> ||
     std::is_same_v<Comp, std::less<Number>> || std::is_same_v<Comp, std::ranges::greater> ||
     std::is_same_v<Comp, std::greater<>> || std::is_same_v<Comp, std::greater<Number>>);

/// Are its elements so cheap to move that a move costs less than a branch that is predicted wrong?
template <class Iterator>
inline constexpr bool moves_always =
    points_to_values<Iterator> && std::is_trivially_copyable_v<std::iter_value_t<Iterator>> &&
    std::is_copy_constructible_v<std::iter_value_t<Iterator>> &&
    std::is_copy_assignable_v<std::iter_value_t<Iterator>> && sizeof(std::iter_value_t<Iterator>) <= 16;

/// A small value that is compared with many elements: a copy, so that it is in a register. Otherwise a place. Not
/// const: a comparator may take its arguments as elements of the range.
template <class Iterator, bool IsCopied = moves_always<Iterator>> class compared_element {
 public:
  explicit compared_element(Iterator const& i) : value_(*i) {}
  FILCH_INLINE std::iter_value_t<Iterator>& operator*() const noexcept { return value_; }

 private:
  mutable std::iter_value_t<Iterator> value_;
};
template <class Iterator> class compared_element<Iterator, false> {
 public:
  explicit compared_element(Iterator const& i) : at_(i) {}
  FILCH_INLINE decltype(auto) operator*() const { return *at_; }

 private:
  Iterator at_;
};

/// An element that was taken out of its range, and the hole that it goes to. An exception puts it there, too.
template <class Iterator> class element_in_hand {
 public:
  explicit element_in_hand(Iterator const& i) : hole_(i), value_(std::ranges::iter_move(i)) {}
  element_in_hand(element_in_hand const&) = delete;
  element_in_hand& operator=(element_in_hand const&) = delete;
  ~element_in_hand() {
    if (is_put_) return;
    try {
      *hole_ = std::move(value_);
    } catch (...) {  // the exception that is on its way leaves
    }
  }
  std::iter_value_t<Iterator>& value() noexcept { return value_; }
  /// Moves an element to the hole, and the hole to its place.
  FILCH_INLINE void take_from(Iterator const& i) {
    *hole_ = std::ranges::iter_move(i);
    hole_ = i;
  }
  FILCH_INLINE void put() {
    *hole_ = std::move(value_);
    is_put_ = true;
  }

 private:
  Iterator hole_;
  std::iter_value_t<Iterator> value_;
  bool is_put_ = false;
};

/// Sorts [first, last), of which [first, sorted) is sorted and not empty. Gives up after more than so many moves, and
/// returns false.
template <class Iterator, class Less>
FILCH_OUTLINE bool insert_each(Iterator const& first, Iterator const& sorted, Iterator const& last, Less const& less,
                               std::size_t most_moves = k_greatest_position) {
  std::size_t moves = 0;
  for (Iterator i = sorted; i != last; ++i) {
    Iterator j = i;
    --j;
    if (!less(*i, *j)) continue;
    element_in_hand<Iterator> x(i);
    x.take_from(j);
    while (j != first) {
      Iterator below = j;
      --below;
      if (!less(x.value(), *below)) break;
      x.take_from(below);
      j = below;
    }
    x.put();
    moves += static_cast<std::size_t>(i - j);
    if (moves > most_moves) return false;
  }
  return true;
}
template <class Iterator, class Less>
void insertion_sort(Iterator const& first, Iterator const& last, Less const& less) {
  if (last - first > 1) detail::insert_each(first, first + 1, last, less);
}

/// Moves an element of a heap down to its place.
template <class Iterator, class Less>
FILCH_OUTLINE void sift_down(Iterator const& first, std::size_t hole, std::size_t n, Less const& less) {
  element_in_hand<Iterator> x(detail::iterator_after(first, hole));
  for (std::size_t child = 2 * hole + 1; child < n; child = 2 * hole + 1) {
    Iterator greater = detail::iterator_after(first, child);
    if (child + 1 < n && less(*greater, *(greater + 1))) {
      ++child;
      ++greater;
    }
    if (!less(x.value(), *greater)) break;
    x.take_from(greater);
    hole = child;
  }
  x.put();
}
template <class Iterator, class Less> void make_heap(Iterator const& first, std::size_t n, Less const& less) {
  for (std::size_t i = n / 2; i != 0; --i) detail::sift_down(first, i - 1, n, less);
}
template <class Iterator, class Less> void sort_heap(Iterator const& first, std::size_t n, Less const& less) {
  while (n > 1) {
    --n;
    std::ranges::iter_swap(first, detail::iterator_after(first, n));
    detail::sift_down(first, 0, n, less);
  }
}
template <class Iterator, class Less>
FILCH_COLD void heap_sort(Iterator const& first, std::size_t n, Less const& less) {
  detail::make_heap(first, n, less);
  detail::sort_heap(first, n, less);
}

/// Runs both calls, perhaps in parallel. One join for all calls of a sort: it compiles faster, and where a call takes
/// some microseconds the indirection costs nothing.
template <class Sched>
FILCH_OUTLINE void join_calls(void (*run)(void const*), void const* first, void const* second) {
  Sched::join([run, first] { run(first); }, [run, second] { run(second); });
}
template <class Sched, class Call> void join_two(Call const& first, Call const& second) {
  detail::join_calls<Sched>([](void const* call) { (*static_cast<Call const*>(call))(); }, std::addressof(first),
                            std::addressof(second));
}

/// The input as pointers, if its elements are in memory: sorts of all such iterators are one.
template <class Iterator> auto in_memory(input<Iterator> const& in) {
  if constexpr (points_to_values<Iterator>) {
    return input<std::iter_value_t<Iterator>*>{std::to_address(in.first), in.length};
  } else {
    return in;
  }
}

/// Are loops, and sorts, split as far as they can be? Tests want that.
inline bool splits_all() noexcept {
  // acquire: as in run_piece.
  piece_observer const* const observer = observer_of_pieces.load(std::memory_order_acquire);
  return observer != nullptr && observer->splits_all;
}

}  // namespace filch::inline FILCH_ABI::detail
