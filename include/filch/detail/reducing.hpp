// Reductions: how the value of a piece is kept, and how the values of pieces are combined in order.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// The value of a piece is op over the elements of Source, from left to right. The lowest piece begins with the
/// caller's initial value, each other piece with its first element: so op needs no identity.
template <class Value, class Source, class Op> struct reducing_piece {
  static constexpr bool k_long_stretches = true;
  static constexpr std::size_t k_turn =
      Source::is_arithmetic && std::is_arithmetic_v<Value> && is_arithmetic_function<Op> ? k_arithmetic_turn : 1;
  Source in;
  operation_of<Value, Op, Value, typename Source::value> op;
  std::optional<Value> value;
  static_assert(detail::check_conversion<typename Source::value, Value>());
  static_assert(std::invocable<Op&, Value, Value>,
                "filch: op must take two values of the initial value's type, too: it combines the pieces");

  void run(std::size_t first, std::size_t last) {
    if (!value) {
      if constexpr (requires { in.begin_with(value, first, last); }) {
        first = in.begin_with(value, first, last);
        if (!value) return;
      } else {
        value.emplace(in.with(first++, converting_to<Value>{}));
      }
    }
    if constexpr (std::is_trivially_copyable_v<Value>) {
      Value sum = std::move(*value);  // in registers
      in.each(first, last, [&](auto&& x) { sum = op(std::move(sum), static_cast<decltype(x)>(x)); });
      *value = std::move(sum);
    } else {
      in.each(first, last, [&](auto&& x) { *value = op(std::move(*value), static_cast<decltype(x)>(x)); });
    }
  }
  reducing_piece split(std::size_t, std::size_t) const { return {in, op, std::nullopt}; }
  void merge(reducing_piece& upper) {
    if (!upper.value) return;  // the loop was stopped, or all was filtered out
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
  reducing_piece<Value, Source, Op> piece{in, {{op}}, std::optional<Value>(std::move(init))};
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

/// Counts the true values of Source.
template <class Source> struct counting_piece {
  static constexpr bool k_long_stretches = true;
  static constexpr std::size_t k_turn = Source::is_arithmetic ? k_arithmetic_turn : 1;
  Source in;
  std::size_t count = 0;

  void run(std::size_t first, std::size_t last) {
    std::uint32_t here = 0;  // as wide as most elements, so that more of them fit in a vector
    in.each(first, last, [&here](auto&& x) { here += static_cast<bool>(x) ? 1U : 0U; });
    count += here;
  }
  counting_piece split(std::size_t, std::size_t) const { return {in}; }
  void merge(counting_piece const& upper) noexcept { count += upper.count; }
};

template <class Sched, class Stop, class Iterator, class Pred, class Proj = std::identity>
auto count_if(Stop& stop, input<Iterator> const& in, Pred&& pred, Proj&& proj = Proj{}) {
  projected_of<Iterator, std::remove_reference_t<Pred>, std::remove_reference_t<Proj>> const test{{proj}, {pred}};
  counting_piece<elements<Iterator, decltype(test)>> piece{{in.first, test}};
  detail::run_pieces<Sched>(0, in.length, piece, stop);
  return static_cast<std::iter_difference_t<Iterator>>(piece.count);
}

}  // namespace filch::inline FILCH_ABI::detail
