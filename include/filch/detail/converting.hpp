// How reductions and scans make values of their type from elements.
#pragma once

#include <filch/detail/platform.hpp>

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

/// x as a Value, by an implicit conversion.
template <class Value, class Element> FILCH_INLINE Value converted_to(Element&& x) {
  if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<std::remove_cvref_t<Element>>) {
    return static_cast<Value>(x);  // the same, without a warning that it is narrower
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
