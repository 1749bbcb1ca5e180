// The work of a scan: what the serial loop does, and the sums that a piece without a carry runs ahead. Run by
// scan_engine.hpp.
#pragma once

#include <filch/detail/converting.hpp>
#include <filch/detail/ranges.hpp>
#include <filch/detail/scan_engine.hpp>

namespace filch::inline FILCH_ABI::detail {

enum class scan_kind { inclusive, exclusive };

/// A scan of the values of Source, from left to right. The carry is empty at the beginning of an inclusive scan
/// without initial value.
template <scan_kind Kind, class Value, class Source, class Out, class Op> struct scan_work {
  using carry = std::optional<Value>;
  using sum = Value;
  static constexpr std::size_t k_turn =
      Source::is_arithmetic && points_to_numbers<Out> && std::is_arithmetic_v<Value> && is_arithmetic_function<Op>
          ? k_arithmetic_turn
          : 1;
  Source in;
  Out out;
  operation_of<Value, Op, Value, Value> op;
  using reference = std::iter_reference_t<Out>;
  static_assert(detail::check_conversion<typename Source::value, Value>());

  scan_work const& serial() const noexcept { return *this; }
  FILCH_INLINE bool direct(std::size_t first, std::size_t last, carry& at) const {
    Out to = detail::iterator_after(out, first);
    if constexpr (Kind == scan_kind::inclusive) {
      if (!at) {
        at.emplace(in.with(first++, converting_to<Value>{}));
        *to = detail::assigned_to<reference>(*at);
        ++to;
      }
    }
    if constexpr (std::is_trivially_copyable_v<Value>) {
      Value value = *at;  // in registers
      each(first, last, to, value);
      *at = value;
    } else {
      each(first, last, to, *at);
    }
    return true;
  }
  void ahead(std::size_t first, std::size_t last, std::optional<Value>& total) const {
    if (!total) total.emplace(in.with(first++, copying{}));
    if constexpr (std::is_trivially_copyable_v<Value>) {
      Value value = *total;
      if constexpr (std::is_floating_point_v<Value>) {
        for (; last - first >= 8; first += 8) value = op(Value(value), sum_of_eight(first));
      }
      in.each(first, last, [&](auto&& x) { value = op(std::move(value), copy_of(static_cast<decltype(x)>(x))); });
      *total = value;
    } else {
      in.each(first, last, [&](auto&& x) {
        if constexpr (is_operand<decltype(x)>) {
          *total = op(std::move(*total), std::as_const(x));
        } else {
          *total = op(std::move(*total), copy_of(static_cast<decltype(x)>(x)));
        }
      });
    }
  }
  static bool can_run_ahead() noexcept { return true; }
  static void about_to_split(std::size_t, std::size_t) noexcept {}
  void again(std::size_t first, std::size_t last, carry& at) const { direct(first, last, at); }
  carry after(carry const& at, Value const& total) const {
    return at ? carry(detail::converted_to<Value>(op(Value(*at), Value(total)))) : carry(total);
  }
  Value both(Value&& low, Value&& high) const { return op(std::move(low), std::move(high)); }

 private:
  using called = decltype((std::declval<body_of<Op, Value, Value> const&>().f));
  /// Does op take an element in memory in place of a copy, which may allocate?
  template <class Element>
  static constexpr bool is_operand =
      !std::is_trivially_copyable_v<Value> && std::is_lvalue_reference_v<Element> &&
      std::is_same_v<std::remove_cvref_t<Element>, Value> && std::is_invocable_v<called, Value, Value const&>;
  template <class Element> FILCH_INLINE static decltype(auto) operand(Element&& x) {
    if constexpr (is_operand<Element>) {
      return std::as_const(x);
    } else {
      return detail::converted_to<Value>(static_cast<Element&&>(x));
    }
  }
  template <class Element> FILCH_INLINE static Value copy_of(Element&& x) {
    return detail::converted_to<Value>(detail::read_again_later<typename Source::value>(static_cast<Element&&>(x)));
  }
  struct copying {
    template <class Element> FILCH_INLINE Value operator()(Element&& x) const {
      return copy_of(static_cast<Element&&>(x));
    }
  };
  /// The sum of the eight values from `first` on. Its calls of op need not wait for one another.
  FILCH_INLINE Value sum_of_eight(std::size_t first) const {
    Value x[8];
    for (Value& value : x) value = in.with(first++, copying{});
    auto const& plus = op.op;
    return op(plus(plus(Value(x[0]), Value(x[1])), plus(Value(x[2]), Value(x[3]))),
              plus(plus(Value(x[4]), Value(x[5])), plus(Value(x[6]), Value(x[7]))));
  }
  FILCH_INLINE void each(std::size_t first, std::size_t last, Out to, Value& value) const {
    in.each(first, last, [&](auto&& x) {
      if constexpr (Kind == scan_kind::inclusive) {
        value = op(std::move(value), operand(static_cast<decltype(x)>(x)));
        *to = detail::assigned_to<reference>(value);
      } else {
        Value next = op(Value(value), operand(static_cast<decltype(x)>(x)));
        *to = detail::assigned_to<reference>(std::move(value));
        value = std::move(next);
      }
      ++to;
    });
  }
};

}  // namespace filch::inline FILCH_ABI::detail
