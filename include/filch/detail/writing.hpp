// Algorithms that write one output element for each position: where the output ends, and how it is written.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/one_writer.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/standard.hpp>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <vector>

namespace filch::inline FILCH_ABI {

/// A range that an algorithm can write to: sized, with random access. Several workers write at once, but for bits, as
/// those of std::vector<bool>: neighbours share a word, so one worker writes them.
template <class Range>
concept sized_random_access_output = sized_random_access_range<Range>;

namespace detail {

/// Does a copy of bytes write the values of Source to Out?
template <class Source, class Out> inline constexpr bool copies_bytes = false;
template <class Iterator, class Fn, class Out>
  requires is_identity<Fn> && points_to_values<Iterator> && points_to_values<Out> &&
               std::is_same_v<std::iter_value_t<Iterator>, std::iter_value_t<Out>>
inline constexpr bool copies_bytes<elements<Iterator, Fn>, Out> =
    std::is_trivially_copyable_v<std::iter_value_t<Out>> &&
    std::is_trivially_assignable_v<std::iter_reference_t<Out>, std::iter_reference_t<Iterator>>;

/// Has std::fill a way of its own for Source, which is one value, and Out: words of bits, parts of a deque?
template <class Source, class Out> inline constexpr bool fills_parts = false;

/// Writes the values of Source to the output from `out` on.
template <class Source, class Out> struct writing_piece {
  static constexpr bool k_long_stretches = true;
  static constexpr bool is_short_copy = copies_bytes<Source, Out> && sizeof(std::iter_value_t<Out>) <= 16;
  /// std::fill first looks for the part, and then fills faster than any loop: a stretch has 8 KiB of bits, or 4096
  /// elements of a deque.
  static constexpr std::size_t k_turn_of_parts =
      std::is_same_v<Out, std::vector<bool>::iterator>         ? 64 * k_arithmetic_turn
      : std::is_lvalue_reference_v<std::iter_reference_t<Out>> ? 4 * k_arithmetic_turn
                                                               : 1;
  static constexpr std::size_t k_turn = fills_parts<Source, Out> ? k_turn_of_parts
                                        : (Source::is_arithmetic && points_to_numbers<Out>) || is_short_copy
                                            ? k_arithmetic_turn
                                            : 1;
  Source in;
  Out out;

  void run(std::size_t first, std::size_t last) {
    if constexpr (copies_bytes<Source, Out>) {
      // Not std::copy_n, which completes template arguments of the values' type.
      std::memmove(static_cast<void*>(std::to_address(out) + first), std::to_address(in.begin) + first,
                   (last - first) * sizeof(std::iter_value_t<Out>));
    } else if constexpr (fills_parts<Source, Out>) {
      std::fill(detail::iterator_after(out, first), detail::iterator_after(out, last), in.f(first));
    } else {
      run_each(first, last);
    }
  }
  writing_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(writing_piece&) const noexcept {}

 private:
  FILCH_INLINE void run_each(std::size_t first, std::size_t last) {
    Out o = detail::iterator_after(out, first);
    in.each(first, last, [&o](auto&& x) {
      *o = detail::assigned_to<std::iter_reference_t<Out>>(static_cast<decltype(x)>(x));
      ++o;
    });
  }
};

/// Writes n values of `source`, and returns n.
template <class Sched, class Stop, class Source, class Out>
std::size_t write_source(Stop& stop, Source const& source, std::size_t n, Out const& out) {
  writing_piece<Source, Out> piece{source, out};
  detail::run_pieces<scheduler_for<Sched, Out>>(0, n, piece, stop);
  return n;
}

/// Values that depend on the position only, or on nothing: f(position).
template <class Fn> struct positions {
  using value = std::invoke_result_t<Fn&, std::size_t>;
  static constexpr bool is_arithmetic = is_arithmetic_function<Fn>;
  body_of<Fn, std::size_t> f;
  template <class Callee> FILCH_INLINE void each(std::size_t first, std::size_t last, Callee g) const {
    for (; first != last; ++first) g(f(first));
  }
};

/// The value that lies so many steps after `value`.
template <class Value> struct counted_from {
  Value value;
  FILCH_INLINE Value operator()(std::size_t n) const {
    if constexpr (std::integral<Value>) {
      return static_cast<Value>(static_cast<std::make_unsigned_t<Value>>(value) +
                                static_cast<std::make_unsigned_t<Value>>(n));
    } else if constexpr (std::random_access_iterator<Value>) {
      return detail::iterator_after(value, n);
    } else {
      return static_cast<Value>(value + static_cast<Value>(n));
    }
  }
};

template <class Value>
inline constexpr bool is_arithmetic_function<counted_from<Value>> = std::is_arithmetic_v<Value>;

/// One value at each position: a copy, since the caller's may be an element. The caller's own, if it can't be copied.
template <class Value> struct constant {
  std::conditional_t<std::copy_constructible<Value>, Value, Value const&> value;
  FILCH_INLINE Value const& operator()(std::size_t) const noexcept { return value; }
};
template <class Value> inline constexpr bool is_arithmetic_function<constant<Value>> = std::is_arithmetic_v<Value>;

template <class Value, class Out>
  requires(!std::contiguous_iterator<Out>) && std::derived_from<typename std::iterator_traits<Out>::iterator_category,
                                                                std::random_access_iterator_tag>
inline constexpr bool fills_parts<positions<constant<Value>>, Out> =
    std::is_arithmetic_v<Value> && std::is_arithmetic_v<std::iter_value_t<Out>>;

/// The value of g() at each position.
template <class Fn> struct generated {
  body_of<Fn> g;
  FILCH_INLINE decltype(auto) operator()(std::size_t) const { return g(); }
};

/// Writes f(position) to all of `out`.
template <class Sched, class Stop, class Iterator, class Fn>
Iterator write_positions(Stop& stop, input<Iterator> const& out, Fn&& f) {
  detail::write_source<Sched>(stop, positions<std::remove_reference_t<Fn>>{{f}}, out.length, out.first);
  return out.end();
}

/// Writes f of each value of a projection to `out`, no more than the output has room for.
template <class Sched, class Stop, class Iterator, class Out, class Fn, class Proj = std::identity>
std::size_t transform(Stop& stop, input<Iterator> const& in, input<Out> const& out, Fn&& f, Proj&& proj = Proj{}) {
  projected_of<Iterator, std::remove_reference_t<Fn>, std::remove_reference_t<Proj>> const fn{{proj}, {f}};
  return detail::write_source<Sched>(stop, elements(in.first, fn), std::min(in.length, out.length), out.first);
}
template <class Sched, class Stop, class Iterator, class Iterator2, class Out, class Fn, class Proj = std::identity,
          class Proj2 = std::identity>
std::size_t transform2(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, input<Out> const& out,
                       Fn&& f, Proj&& proj = Proj{}, Proj2&& proj2 = Proj2{}) {
  projected_pair_of<Iterator, Iterator2, std::remove_reference_t<Fn>, std::remove_reference_t<Proj>,
                    std::remove_reference_t<Proj2>> const fn{{proj}, {proj2}, {f}};
  std::size_t const n = std::min({in.length, in2.length, out.length});
  return detail::write_source<Sched>(stop, element_pairs(in.first, in2.first, fn), n, out.first);
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
