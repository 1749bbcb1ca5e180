// How reductions and scans make values of their type from elements.
#pragma once

#include <filch/detail/body.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// Each piece but the lowest begins with its first element, as a value. An explicit conversion may mean something
/// else than op does with an element: a vector of as many elements, for instance. std::reduce has the same rule.
template <class Element, class Value> consteval bool check_conversion() {
  static_assert(
      std::convertible_to<Element, Value>,
      "filch: elements do not convert to the type of the initial value without a cast, so a piece can't begin "
      "with one: use transform_reduce or a transform scan with a function that makes a value of an element");
  return true;
}

// Numbers are converted explicitly: the result is the same, and no compiler warns that the type is narrower.
template <class Number, class Number2>
inline constexpr bool are_numbers =
    std::is_arithmetic_v<Number> && std::is_arithmetic_v<std::remove_cvref_t<Number2>>;

/// x as a Value, by an implicit conversion.
template <class Value, class Element> FILCH_INLINE Value converted_to(Element&& x) {
  if constexpr (are_numbers<Value, Element>) {
    return static_cast<Value>(x);
  } else {
    return static_cast<Element&&>(x);
  }
}
template <class Value> struct converting_to {
  template <class Element> FILCH_INLINE Value operator()(Element&& x) const {
    return detail::converted_to<Value>(static_cast<Element&&>(x));
  }
};
/// f(args...), which is assigned to a Value.
template <class Value, class Fn, class... Args> FILCH_INLINE decltype(auto) result_for(Fn const& f, Args&&... args) {
  if constexpr (are_numbers<Value, decltype(f(static_cast<Args&&>(args)...))>) {
    return static_cast<Value>(f(static_cast<Args&&>(args)...));
  } else {
    return f(static_cast<Args&&>(args)...);
  }
}
/// The operation of a piece that keeps a Value.
template <class Value, class Op, class... Args> struct operation_of {
  body_of<Op, Args...> op;
  template <class... Actual> FILCH_INLINE decltype(auto) operator()(Actual&&... args) const {
    return detail::result_for<Value>(op, static_cast<Actual&&>(args)...);
  }
};

/// The number that a Reference refers to, or void.
template <class Reference>
using number_at = std::conditional_t<std::is_lvalue_reference_v<Reference> &&
                                         std::is_arithmetic_v<std::remove_reference_t<Reference>>,
                                     std::remove_reference_t<Reference>, void>;
/// x, which is assigned through an iterator's Reference.
template <class Reference, class Element> FILCH_INLINE decltype(auto) assigned_to(Element&& x) {
  if constexpr (are_numbers<number_at<Reference>, Element>) {
    return static_cast<number_at<Reference>>(x);
  } else {
    return static_cast<Element&&>(x);
  }
}

/// An element of type Reference that is read again later: it must not be moved from.
template <class Reference, class Element> FILCH_INLINE decltype(auto) read_again_later(Element&& x) {
  if constexpr (std::is_rvalue_reference_v<Reference>) {
    return std::as_const(x);
  } else {
    return static_cast<Element&&>(x);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
