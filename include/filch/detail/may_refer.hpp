// May a result refer to what its callable captured? A join calls such a callable in place and copies it nowhere, so
// that its captures live as long as in a program without forks.
#pragma once

#include <filch/detail/platform.hpp>
#include <filch/detail/standard.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// May an object of this type refer to other objects, as pointers, views, spans and iterators do? True if the type
/// does not tell.
template <class Type> consteval bool may_refer() noexcept;

/// Converts to the type of any element of the aggregate. The conversion is noexcept if that type refers to nothing.
/// It does not convert to the aggregate, or an aggregate could be initialised as a copy.
template <class Aggregate, std::size_t> struct any_element {
  template <class Type>
    requires(!std::is_same_v<Type, Aggregate>)
  operator Type() const noexcept(!detail::may_refer<Type>());
};

template <class Type, std::size_t... Index> consteval bool has_elements(std::index_sequence<Index...>) noexcept {
  return requires { Type{any_element<Type, Index>()...}; };
}
template <class Type, std::size_t... Index>
consteval bool elements_may_refer(std::index_sequence<Index...>) noexcept {
  // There is one more element: one for which any_element is ambiguous.
  if constexpr (requires { Type{any_element<Type, Index>()..., {}}; }) {
    return true;
  } else {
    return !noexcept(Type{any_element<Type, Index>()...});
  }
}

/// For an aggregate that has Count elements or fewer.
template <class Type, std::size_t Count> consteval bool aggregate_may_refer() noexcept {
  if constexpr (Count == 0) {
    return true;
  } else if constexpr (detail::has_elements<Type>(std::make_index_sequence<Count>())) {
    return detail::elements_may_refer<Type>(std::make_index_sequence<Count>());
  } else {
    return detail::aggregate_may_refer<Type, Count - 1>();
  }
}

template <class Type>
inline constexpr bool class_may_refer = [] {
  constexpr std::size_t k_most_elements = 8;
  // An aggregate that is not assignable may have a reference, which any_element cannot initialise.
  if constexpr (std::is_aggregate_v<Type> && std::is_copy_assignable_v<Type> &&
                !detail::has_elements<Type>(std::make_index_sequence<k_most_elements + 1>())) {
    return detail::aggregate_may_refer<Type, k_most_elements>();
  } else {
    return true;
  }
}();
template <class... Type>
inline constexpr bool class_may_refer<std::pair<Type...>> = (detail::may_refer<Type>() || ...);
template <class... Type>
inline constexpr bool class_may_refer<std::tuple<Type...>> = (detail::may_refer<Type>() || ...);

template <class Type> consteval bool may_refer() noexcept {
  if constexpr (std::is_reference_v<Type>) {
    return true;
  } else if constexpr (std::is_pointer_v<Type>) {
    return !std::is_function_v<std::remove_pointer_t<Type>>;
  } else if constexpr (std::is_union_v<Type>) {
    return sizeof(Type) >= sizeof(void*);
  } else if constexpr (std::is_class_v<Type>) {
    if constexpr (detail::is_copied_as_bytes<Type>() && (std::is_empty_v<Type> || sizeof(Type) < sizeof(void*))) {
      return false;
    } else {
      return class_may_refer<std::remove_cv_t<Type>>;
    }
  } else {
    return false;
  }
}

}  // namespace filch::inline FILCH_ABI::detail
