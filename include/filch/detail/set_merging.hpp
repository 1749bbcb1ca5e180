// Set operations on sorted ranges: a merge that leaves elements out. Positions are elements read of both inputs.
#pragma once

#include <filch/detail/merging.hpp>
#include <filch/detail/moving.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace filch::inline FILCH_ABI::detail {

// Which elements an operation writes: those of the first input only, of the second only, of both.
struct union_rule {
  static constexpr bool of_first = true, of_second = true, of_both = true;
};
struct intersection_rule {
  static constexpr bool of_first = false, of_second = false, of_both = true;
};
struct difference_rule {
  static constexpr bool of_first = true, of_second = false, of_both = false;
};
struct symmetric_difference_rule {
  static constexpr bool of_first = true, of_second = true, of_both = false;
};

/// How far an operation is in its inputs, and how many elements it has written.
struct set_place {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t count = 0;
};

template <class Rule, class Iterator, class Iterator2, class Less> struct set_operation {
  Iterator begin;
  Iterator2 begin2;
  [[no_unique_address]] Less less;

  /// May elements wait in memory, and be read again if the output has no room for them?
  template <class Out>
  static constexpr bool can_keep =
      can_wait_for<std::iter_reference_t<Iterator>, Out> &&
      !std::is_rvalue_reference_v<std::iter_reference_t<Iterator>> &&
      (!Rule::of_second || (can_wait_for<std::iter_reference_t<Iterator2>, Out> &&
                            !std::is_rvalue_reference_v<std::iter_reference_t<Iterator2>>));

  /// Goes on from `at` until so many elements have been read, or one more, or until both inputs or the output end.
  /// write(n, from) writes element n.
  template <class Write>
  FILCH_INLINE set_place run(set_place at, set_place const& ends, std::size_t most_read, Write const& write) const {
    Iterator from = detail::iterator_after(begin, at.i);
    Iterator2 from2 = detail::iterator_after(begin2, at.j);
    if constexpr (can_advance_always) {
      std::size_t const last_count = ends.count;
      while (at.i < ends.i && at.j < ends.j && at.i + at.j < most_read && at.count != last_count) {
        bool const is_first = less(from, from2);
        bool const is_second = less.second_is_less(from, from2) && !is_first;  // one input goes on, also if comp lies
        if (Rule::of_both || is_first != is_second) write(at.count++, is_second ? from2 : from);
        std::size_t const read = is_second ? 0 : 1;
        std::size_t const read2 = is_first ? 0 : 1;
        at.i += read;
        at.j += read2;
        from = detail::iterator_after(from, read);
        from2 = detail::iterator_after(from2, read2);
      }
    }
    while (at.i + at.j < most_read) {
      bool const has_first = at.i < ends.i;
      bool const has_second = at.j < ends.j;
      if (!has_first && (!has_second || !Rule::of_second)) return {at.i, ends.j, at.count};
      if (!has_second && !Rule::of_first) return {ends.i, at.j, at.count};
      bool const is_first = has_first && (!has_second || less(from, from2));
      bool const is_second = !is_first && (!has_first || less.second_is_less(from, from2));
      if (is_first ? Rule::of_first : is_second ? Rule::of_second : Rule::of_both) {
        if (at.count == ends.count) return at;
        if constexpr (Rule::of_second) {
          if (is_second) {
            write(at.count++, from2);
          } else {
            write(at.count++, from);
          }
        } else {
          write(at.count++, from);
        }
      }
      if (!is_second) {
        ++at.i;
        ++from;
      }
      if (!is_first) {
        ++at.j;
        ++from2;
      }
    }
    return at;
  }

  /// The ends of the parts of both inputs that must be read. Elements behind the other input's last one may be left
  /// out if they are not written. In short inputs none are: to look for them takes calls of the comparator, which the
  /// standard limits.
  set_place ends_of(std::size_t n, std::size_t n2) const {
    constexpr std::size_t k_few = 65'536;
    set_place ends{n, n2};
    if (detail::sum_of_lengths(n, n2) <= k_few && !detail::splits_all()) return ends;
    if constexpr (!Rule::of_second) {
      ends.j = n == 0 ? 0 : lowest_where(0, n2, [&, last = detail::iterator_after(begin, n - 1)](std::size_t p) {
        return less(last, detail::iterator_after(begin2, p));
      });
    }
    if constexpr (!Rule::of_first) {
      ends.i =
          ends.j == 0 ? 0 : lowest_where(0, n, [&, last = detail::iterator_after(begin2, ends.j - 1)](std::size_t p) {
            return less.second_is_less(detail::iterator_after(begin, p), last);
          });
    }
    return ends;
  }

  /// A place between `at` and `ends` that `run` comes by when about `read` elements have been read.
  set_place place_of(std::size_t read, set_place const& at, set_place const& ends) const {
    // A piece below may have left less than its positions are.
    std::size_t const left = detail::sum_of_lengths(ends.i - at.i, ends.j - at.j);
    std::size_t const k = read > at.i + at.j ? std::min(read - at.i - at.j, left) : 0;
    std::size_t const n = detail::elements_of_first(k, detail::iterator_after(begin, at.i), ends.i - at.i,
                                                    detail::iterator_after(begin2, at.j), ends.j - at.j, less);
    std::size_t const i = at.i + n;
    std::size_t const j = at.j + (k - n);
    Iterator const from = detail::iterator_after(begin, i);
    Iterator2 const from2 = detail::iterator_after(begin2, j);
    if (i == ends.i && j == ends.j) return {i, j};
    if (j == ends.j || (i != ends.i && !less.second_is_less(from, from2))) {
      return place_among_equals(
          at, {i, j}, ends, [&](Iterator const& x) { return less.is_less(x, from); },
          [&](Iterator2 const& y) { return less.second_is_less(from, y); },
          [&](Iterator const& x) { return less.is_less(from, x); },
          [&](Iterator2 const& y) { return less(from, y); });
    }
    return place_among_equals(
        at, {i, j}, ends, [&](Iterator const& x) { return less(x, from2); },
        [&](Iterator2 const& y) { return less.both_second(y, from2); },
        [&](Iterator const& x) { return less.second_is_less(x, from2); },
        [&](Iterator2 const& y) { return less.both_second(from2, y); });
  }

 private:
  /// Most elements are written, and they are numbers: no branch depends on the order.
  static constexpr bool can_advance_always =
      Rule::of_first && Rule::of_second && std::is_same_v<Iterator, Iterator2> && points_to_numbers<Iterator>;

  /// A place near `to` among elements that equal the next one there, by functions that say which elements are below
  /// those, or above. `run` takes them in pairs, and then the rest of one input.
  template <class Below, class Below2, class Above, class Above2>
  set_place place_among_equals(set_place const& at, set_place const& to, set_place const& ends, Below const& is_below,
                               Below2 const& is_below2, Above const& is_above, Above2 const& is_above2) const {
    constexpr std::size_t k_few = 32;
    auto const at1 = [this](std::size_t p) { return detail::iterator_after(begin, p); };
    auto const at2 = [this](std::size_t p) { return detail::iterator_after(begin2, p); };
    std::size_t const i = lowest_where(at.i, to.i, [&](std::size_t p) { return !is_below(at1(p)); });
    std::size_t const j = lowest_where(at.j, to.j, [&](std::size_t p) { return !is_below2(at2(p)); });
    std::size_t const n = to.i - i + (to.j - j);
    if (n <= k_few) return {i, j};
    std::size_t const last = std::min(ends.i - i, n) + i;
    std::size_t const last2 = std::min(ends.j - j, n) + j;
    std::size_t const equal = lowest_where(to.i, last, [&](std::size_t p) { return is_above(at1(p)); }) - i;
    std::size_t const equal2 = lowest_where(to.j, last2, [&](std::size_t p) { return is_above2(at2(p)); }) - j;
    std::size_t const pairs = std::min({n / 2, equal, equal2});
    if (pairs == equal) return {i + pairs, j + (n - pairs)};
    if (pairs == equal2) return {i + (n - pairs), j + pairs};
    return {i + pairs, j + pairs};
  }
  /// The lowest position of [low, high) that pred takes, and all above it; else high.
  template <class Pred> static std::size_t lowest_where(std::size_t low, std::size_t high, Pred const& pred) {
    while (low < high) {
      std::size_t const middle = low + (high - low) / 2;
      if (pred(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

/// The lowest piece writes to the output. Any other piece writes to memory, which is moved to the output when its
/// place there is known. A piece without memory does the rest of its work then.
template <class Sched, class Operation, class Out> class set_piece {
 public:
  static constexpr bool has_memory = Operation::template can_keep<Out>;

  set_piece(Operation const& operation, set_place const& ends, input<Out> const& out)
      : operation_(operation), out_(out), ends_{ends.i, ends.j, out.length}, is_lowest_(true) {}
  set_piece(set_piece const&) = delete;
  set_piece& operator=(set_piece const&) = delete;

  bool run(std::size_t, std::size_t last) {
    if (is_lowest_) {
      run_to_output(last);
      return !is_full_;
    }
    if constexpr (has_memory) {
      if (parts_ != nullptr) {
        part& mine = *parts_;  // one: nothing was merged yet
        mine.at = operation_.run(mine.at, mine.ends, last,
                                 [&mine](std::size_t n, auto const& from) { mine.memory.make(n, *from); });
      }
    }
    return true;
  }
  set_piece split(std::size_t middle, std::size_t) { return set_piece(*this, middle); }
  void merge(set_piece& upper) {
    if (is_lowest_) return append(upper);
    ends_ = upper.ends_;
    if (parts_ == nullptr) return;
    part* last = parts_.get();
    while (last->next != nullptr) last = last->next.get();
    if (upper.parts_ != nullptr) {
      last->next = std::move(upper.parts_);
    } else {
      last->ends = upper.ends_;
    }
  }
  /// No split pays without memory.
  std::size_t split_ticks(std::size_t, std::size_t) const noexcept
    requires(!has_memory)
  {
    return k_greatest_position;
  }
  set_place const& at() const noexcept { return at_; }

 private:
  using value = std::iter_value_t<Out>;
  /// Elements in memory: of a part of the inputs from `begin` to `at`. The inputs from there to `ends` are left. It
  /// takes no more elements than the whole output has room for.
  struct part {
    part(set_place const& from, set_place const& to)
        : begin(from),
          at(from),
          ends(to),
          memory(std::min(detail::sum_of_lengths(to.i - from.i, to.j - from.j), to.count)) {}
    set_place begin;
    set_place at;
    set_place ends;
    raw_buffer<value> memory;
    std::unique_ptr<part> next;
  };

  set_piece(set_piece& lower, std::size_t middle) : operation_(lower.operation_), out_(lower.out_) {
    set_place& lower_ends = lower.parts_ != nullptr ? lower.parts_->ends : lower.ends_;
    begin_ = operation_.place_of(middle,
                                 lower.is_lowest_          ? lower.at_
                                 : lower.parts_ != nullptr ? lower.parts_->at
                                                           : lower.begin_,
                                 lower_ends);
    ends_ = lower_ends;
    ends_.count = out_.length;
    lower.ends_.i = lower_ends.i = begin_.i;
    lower.ends_.j = lower_ends.j = begin_.j;
    if (begin_.i == ends_.i && begin_.j == ends_.j) return;
    if constexpr (has_memory) {
      parts_.reset(new (std::nothrow) part(begin_, ends_));
      if (parts_ != nullptr && !static_cast<bool>(parts_->memory)) parts_.reset();
    }
  }

  void run_to_output(std::size_t last) {
    at_ = operation_.run(at_, ends_, last, [this](std::size_t n, auto const& from) {
      *out_.at(n) = detail::assigned_to<std::iter_reference_t<Out>>(*from);
    });
    is_full_ = at_.i + at_.j < last && (at_.i != ends_.i || at_.j != ends_.j);
  }
  void append(set_piece& upper) {
    if (upper.parts_ == nullptr) return run_rest(upper.ends_);
    if constexpr (has_memory) {
      for (part* p = upper.parts_.get(); p != nullptr && !is_full_; p = p->next.get()) {
        std::size_t const n = p->at.count;
        if (n <= ends_.count - at_.count) {
          never_stopped never;
          if (n != 0) detail::move<Sched>(never, std::addressof(p->memory[0]), n, out_.at(at_.count));
          at_ = {p->at.i, p->at.j, at_.count + n};
        }  // else again, up to the end of the output
        run_rest(p->ends);
      }
    }
  }
  void run_rest(set_place const& ends) {
    ends_.i = ends.i;
    ends_.j = ends.j;
    if (!is_full_) run_to_output(k_greatest_position);
  }

  Operation operation_;
  input<Out> out_;
  set_place begin_;
  set_place at_;  // of the lowest piece
  set_place ends_;
  bool is_lowest_ = false;
  bool is_full_ = false;  // is there an element without room?
  std::unique_ptr<part> parts_;
};

template <class Rule, class Sched, class Stop, class Iterator, class Iterator2, class Out, class Comp, class Proj,
          class Proj2>
set_place set_operate(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, input<Out> const& out,
                      Comp& comp, Proj& proj, Proj2& proj2) {
  using less = order_of_two<Iterator, Iterator2, Comp, Proj, Proj2>;
  using operation = set_operation<Rule, Iterator, Iterator2, less>;
  using sched = scheduler_for<Sched, Out>;
  if (in.length == 0 && in2.length == 0) return {};
  return detail::inside_pool<sched>([&] {
    operation const of{in.first, in2.first, less{{comp}, {proj}, {proj2}}};
    set_place const ends = of.ends_of(in.length, in2.length);
    set_piece<sched, operation, Out> piece(of, ends, out);
    detail::run_pieces<sched>(0, detail::sum_of_lengths(ends.i, ends.j), piece, stop);
    set_place const at = piece.at();
    if (at.i != ends.i || at.j != ends.j) return at;
    return set_place{in.length, in2.length, at.count};
  });
}

/// The end of what is written to an output with room enough.
template <class Rule, class Sched, class Stop, class Iterator, class Iterator2, class Out, class Comp>
FILCH_INLINE Out set_operate_to(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Out const& out,
                                Comp& comp) {
  std::identity same;
  input<Out> const to{out, detail::sum_of_lengths(in.length, in2.length)};
  return to.at(detail::set_operate<Rule, Sched>(stop, in, in2, to, comp, same, same).count);
}

/// Where an operation ended in each input, and in the output.
template <class Rule, class Sched, class Stop, class Iterator, class Iterator2, class Out, class Comp, class Proj,
          class Proj2>
std::ranges::set_union_result<Iterator, Iterator2, Out> set_operate_bounded(Stop& stop, input<Iterator> const& in,
                                                                            input<Iterator2> const& in2,
                                                                            input<Out> const& to, Comp& comp,
                                                                            Proj& proj, Proj2& proj2) {
  set_place const at = detail::set_operate<Rule, Sched>(stop, in, in2, to, comp, proj, proj2);
  return {in.at(at.i), in2.at(at.j), to.at(at.count)};
}

template <class Range, class Range2, class OutRange>
using ends_of_sets =
    std::ranges::set_union_result<std::ranges::borrowed_iterator_t<Range>, std::ranges::borrowed_iterator_t<Range2>,
                                  std::ranges::borrowed_iterator_t<OutRange>>;
/// Where an operation ended in each range.
template <class Rule, class Sched, class Stop, class Range, class Range2, class OutRange, class Comp, class Proj,
          class Proj2>
ends_of_sets<Range, Range2, OutRange> set_operate_ranges(Stop& stop, Range&& range, Range2&& range2, OutRange&& out,
                                                         Comp& comp, Proj& proj, Proj2& proj2) {
  auto const ends = detail::set_operate_bounded<Rule, Sched>(stop, detail::input_of(range), detail::input_of(range2),
                                                             detail::input_of(out), comp, proj, proj2);
  return {ends.in1, ends.in2, ends.out};
}

/// Is there an element that only the first input has?
template <class Operation> struct lacking_piece {
  static constexpr bool k_ends_all = true;
  Operation operation;
  set_place at;
  set_place ends;
  bool lacks = false;

  bool run(std::size_t, std::size_t last) {
    at = operation.run(at, ends, last, [this](std::size_t, auto const&) { lacks = true; });
    return !lacks;
  }
  lacking_piece split(std::size_t middle, std::size_t) {
    set_place from = operation.place_of(middle, at, ends);
    lacking_piece upper{operation, from, ends};
    ends.i = from.i;
    ends.j = from.j;
    return upper;
  }
  void merge(lacking_piece const& upper) noexcept { lacks = lacks || upper.lacks; }
  void abandon(lacking_piece const& upper) noexcept { merge(upper); }
};

/// Are all elements of in2 in `in`?
template <class Sched, class Stop, class Iterator, class Iterator2, class Comp, class Proj, class Proj2>
bool includes(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Comp& comp, Proj& proj,
              Proj2& proj2) {
  using less = order_of_two<Iterator2, Iterator, Comp, Proj2, Proj>;
  using operation = set_operation<difference_rule, Iterator2, Iterator, less>;
  if (in2.length == 0) return true;
  return detail::inside_pool<Sched>([&] {
    operation const of{in2.first, in.first, less{{comp}, {proj2}, {proj}}};
    set_place const ends = of.ends_of(in2.length, in.length);
    lacking_piece<operation> piece{of, {}, {ends.i, ends.j, 1}};
    detail::run_pieces<Sched>(0, detail::sum_of_lengths(ends.i, ends.j), piece, stop);
    if (piece.lacks) stop.forget();
    return !piece.lacks;
  });
}

}  // namespace filch::inline FILCH_ABI::detail
