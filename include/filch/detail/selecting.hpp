// The least elements of a range, in order, in another range.
#pragma once

#include <filch/detail/merging.hpp>
#include <filch/detail/quicksort.hpp>

namespace filch::inline FILCH_ABI::detail {

/// A heap of at most `room` elements from `begin` on: the least ones that were pushed.
template <class Iterator, class Less> struct least_elements {
  Iterator begin;
  std::size_t room;
  std::size_t count = 0;

  /// `is_less(x, y)` compares an x that is pushed with an element y. `make(i, x)` makes element i.
  template <class Element, class IsLess, class Make>
  FILCH_INLINE void push(Element&& x, Less const& less, IsLess const& is_less, Make const& make) {
    if (count == room) [[likely]] {
      if (!is_less(x, *begin)) return;
      *begin = detail::assigned_to<std::iter_reference_t<Iterator>>(static_cast<Element&&>(x));
      detail::sift_down(begin, 0, count, less);
      return;
    }
    make(count, static_cast<Element&&>(x));
    if (++count == room) detail::make_heap(begin, count, less);
  }
};

/// The lowest piece has the least elements in the output. Any other piece has them in memory of its own; without that
/// its elements are pushed when it is merged.
template <class Iterator, class Out, class Comp, class Proj, class Proj2> class selecting_piece {
 public:
  using value = std::iter_value_t<Out>;
  using out_less = order<Out, Comp, Proj2>;
  using memory_less = order<value*, Comp, Proj2>;

  selecting_piece(input<Iterator> const& in, input<Out> const& out, Comp& comp, Proj& proj, Proj2& proj2)
      : in_(in), comp_(comp), proj_(proj), proj2_(proj2), lowest_{out.first, out.length}, is_lowest_(true) {}
  selecting_piece(selecting_piece const&) = delete;

  void run(std::size_t first, std::size_t last) {
    end_ = last;
    if (is_lowest_) {
      push_all(lowest_, out_less{{comp_}, {proj2_}}, out_maker(), first, last);
    } else if constexpr (has_memory) {
      if (buffer_) push_all(upper_, memory_less{{comp_}, {proj2_}}, memory_maker(), first, last);
    }
  }
  selecting_piece split(std::size_t middle, std::size_t) { return selecting_piece(*this, middle); }
  void merge(selecting_piece& upper) {
    if (is_lowest_) {
      push_piece(lowest_, out_less{{comp_}, {proj2_}}, out_maker(), upper);
    } else if constexpr (has_memory) {
      if (buffer_) push_piece(upper_, memory_less{{comp_}, {proj2_}}, memory_maker(), upper);
    }
    end_ = upper.end_;
  }
  std::size_t split_ticks(std::size_t, std::size_t left) const noexcept {
    constexpr std::size_t k_ticks = 1'000;  // for each element of a heap, which is replaced some times
    return has_memory ? std::min(lowest_.room, left) * k_ticks : k_greatest_position;
  }
  std::size_t count() const noexcept { return lowest_.count; }

 private:
  static constexpr bool has_memory = can_wait_for<std::iter_reference_t<Iterator>, Out> &&
                                     std::is_assignable_v<value&, std::iter_reference_t<Iterator>>;

  selecting_piece(selecting_piece& lower, std::size_t middle)
      : in_(lower.in_),
        comp_(lower.comp_),
        proj_(lower.proj_),
        proj2_(lower.proj2_),
        lowest_{lower.lowest_.begin, lower.lowest_.room},
        begin_(middle),
        end_(middle) {
    if constexpr (has_memory) {
      if (!lower.is_lowest_ && !lower.buffer_) return;  // its elements would be pushed again
      buffer_.emplace(lowest_.room);
      if (!static_cast<bool>(*buffer_)) {
        buffer_.reset();
        return;
      }
      upper_.begin = std::addressof((*buffer_)[0]);
      upper_.room = lowest_.room;
    }
  }
  auto out_maker() const {
    return [begin = lowest_.begin](std::size_t i, auto&& x) {
      *detail::iterator_after(begin, i) =
          detail::assigned_to<std::iter_reference_t<Out>>(static_cast<decltype(x)>(x));
    };
  }
  auto memory_maker() const {
    return [this](std::size_t i, auto&& x) { buffer_->make(i, static_cast<decltype(x)>(x)); };
  }
  template <class Least, class Less, class Make>
  void push_all(Least& least, Less const& less, Make const& make, std::size_t first, std::size_t last) const {
    auto const is_less = [this](auto&& x, auto&& y) {
      return static_cast<bool>(detail::call_with(comp_, detail::call_with(proj_, x), detail::call_with(proj2_, y)));
    };
    for (Iterator i = in_.at(first); first != last; ++first, static_cast<void>(++i)) {
      if constexpr (std::is_reference_v<std::iter_reference_t<Iterator>>) {
        least.push(*i, less, is_less, make);
      } else {
        auto x = *i;
        least.push(std::move(x), less, is_less, make);
      }
    }
  }
  template <class Least, class Less, class Make>
  void push_piece(Least& least, Less const& less, Make const& make, selecting_piece& upper) const {
    if (!upper.buffer_) return push_all(least, less, make, upper.begin_, upper.end_);
    if constexpr (has_memory) {
      for (std::size_t i = 0; i != upper.upper_.count; ++i)
        least.push(std::move((*upper.buffer_)[i]), less, less, make);
    }
  }

  input<Iterator> in_;
  Comp& comp_;
  Proj& proj_;
  Proj2& proj2_;
  least_elements<Out, out_less> lowest_;
  bool is_lowest_ = false;
  std::size_t begin_ = 0;  // [begin_, end_) has run
  std::size_t end_ = 0;
  least_elements<value*, memory_less> upper_{nullptr, 0};
  std::optional<raw_buffer<value>> buffer_;
};

template <class Sched, class Stop, class Iterator, class Out, class Comp, class Proj, class Proj2>
std::size_t partial_sort_copy(Stop& stop, input<Iterator> const& in, input<Out> const& out, Comp& comp, Proj& proj,
                              Proj2& proj2) {
  std::size_t const n = std::min(in.length, out.length);
  if (n == 0) return 0;
  detail::inside_pool<Sched>([&] {
    selecting_piece<Iterator, Out, Comp, Proj, Proj2> piece(in, input<Out>{out.first, n}, comp, proj, proj2);
    detail::run_pieces<Sched>(0, in.length, piece, stop);
    if (!stop.was_seen()) detail::sort<Sched>(stop, input<Out>{out.first, n}, comp, proj2);
  });
  return n;
}

template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void select_in_memory(Stop& stop, input<Iterator> const& in, std::size_t nth, Comp& comp, Proj& proj) {
  using less_type = order<Iterator, Comp, Proj>;
  using sorting = quicksort<Sched, Stop, Iterator, less_type>;
  detail::sort_in_pool<Sched>(in.length, sorting::k_partitioned_by_all,
                              [&] { sorting(stop, in.first, less_type{{comp}, {proj}}).select(in.length, nth); });
}
/// Puts the element of position nth in its place, if there is one.
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void nth_element(Stop& stop, input<Iterator> const& in, std::size_t nth, Comp& comp, Proj& proj) {
  if (nth >= in.length || in.length < 2 || stop.is_requested()) return;
  detail::select_in_memory<scheduler_for<Sched, Iterator>>(stop, detail::in_memory(in), nth, comp, proj);
}
template <class Sched, class Stop, class Iterator, class Comp, class Proj>
void partial_sort(Stop& stop, input<Iterator> const& in, std::size_t n, Comp& comp, Proj& proj) {
  if (n == 0) return;
  if (n < in.length) detail::nth_element<Sched>(stop, in, n - 1, comp, proj);
  detail::sort<Sched>(stop, input<Iterator>{in.first, std::min(n, in.length)}, comp, proj);
}

}  // namespace filch::inline FILCH_ABI::detail
