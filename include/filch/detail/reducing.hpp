// Reductions: how the value of a piece is kept, and how the values of pieces are combined in order.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// The value of a piece is op over the elements of Source, from left to right. The lowest piece begins with the
/// caller's initial value, each other piece with its first element: so op needs no identity.
template <class Value, class Source, class Op> struct reducing_piece {
  Source in;
  body_of<Op, Value, typename Source::value> op;
  std::optional<Value> value;

  void run(std::size_t first, std::size_t last) {
    if (!value) value.emplace(in.at(first++));
    if constexpr (std::is_trivially_copyable_v<Value>) {
      Value sum = *value;  // in registers
      in.each(first, last, [&](auto&& x) { sum = op(std::move(sum), static_cast<decltype(x)>(x)); });
      *value = sum;
    } else {
      in.each(first, last, [&](auto&& x) { *value = op(std::move(*value), static_cast<decltype(x)>(x)); });
    }
  }
  reducing_piece split(std::size_t, std::size_t) const { return {in, op, std::nullopt}; }
  void merge(reducing_piece& upper) {
    if (!upper.value) return;  // the loop was stopped
    if (value) {
      *value = op(std::move(*value), std::move(*upper.value));
    } else {
      value.emplace(std::move(*upper.value));
    }
  }
};

/// op over `init` and n elements of `in`, in order.
template <class Sched, class Stop, class Value, class Source, class Op>
Value reduce_source(Stop& stop, Source const& in, std::size_t n, Value&& init, Op& op) {
  reducing_piece<Value, Source, Op> piece{in, {op}, std::optional<Value>(std::move(init))};
  detail::run_pieces<Sched>(0, n, piece, stop);
  return std::move(*piece.value);
}

template <class Sched, class Stop, class Iterator, class Value, class Op = std::plus<>>
Value reduce(Stop& stop, input<Iterator> const& in, Value&& init, Op&& op = Op{}) {
  std::identity all;
  return detail::reduce_source<Sched>(stop, elements(in.first, all), in.length, std::move(init), op);
}

template <class Sched, class Stop, class Iterator, class Value, class Op, class Map>
Value transform_reduce(Stop& stop, input<Iterator> const& in, Value&& init, Op& op, Map& map) {
  return detail::reduce_source<Sched>(stop, elements(in.first, map), in.length, std::move(init), op);
}

template <class Sched, class Stop, class Iterator, class Iterator2, class Value, class Op, class Map>
Value transform_reduce(Stop& stop, input<Iterator> const& in, input<Iterator2> const& in2, Value&& init, Op& op,
                       Map& map) {
  return detail::reduce_source<Sched>(stop, element_pairs(in.first, in2.first, map), std::min(in.length, in2.length),
                                      std::move(init), op);
}

/// 1 for what Test takes, else 0.
template <class Count, class Test> struct one_if {
  Test test;
  template <class X> FILCH_INLINE Count operator()(X&& x) const {
    return test(static_cast<X&&>(x)) ? Count{1} : Count{0};
  }
};

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
auto count_if(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  using count = std::iter_difference_t<Iterator>;
  using test = projected_of<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>>;
  one_if<count, test> const one{test{{proj}, {pred}}};
  std::plus<> sum;
  return detail::reduce_source<Sched>(stop, elements(in.first, one), in.length, count{0}, sum);
}

}  // namespace filch::inline FILCH_ABI::detail
