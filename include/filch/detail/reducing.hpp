// Reductions: how the value of a piece is kept, and how the values of pieces are combined in order.
#pragma once

#include <filch/detail/pieces.hpp>
#include <filch/detail/ranges.hpp>

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

}  // namespace filch::inline FILCH_ABI::detail
