// Which results may refer to what a callable captured. Such a callable is called where it is: its captures then live
// as long as in a program without forks.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// May an object of this type refer to others, as pointers, views, spans and iterators do? True where nobody can
/// tell.
template <class Type> consteval bool may_refer() noexcept;

/// Becomes whatever an element of the aggregate is, with noexcept where such an element refers to nothing. Never the
/// aggregate itself: that would be a copy.
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
  // Another element: of a type that several conversions lead to.
  if constexpr (requires { Type{any_element<Type, Index>()..., {}}; }) {
    return true;
  } else {
    return !noexcept(Type{any_element<Type, Index>()...});
  }
}

/// Of so many elements, or fewer.
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
  // One that can't be assigned may have a reference, which no element can be made for.
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
    if constexpr (std::is_trivially_copyable_v<Type> && (std::is_empty_v<Type> || sizeof(Type) < sizeof(void*))) {
      return false;
    } else {
      return class_may_refer<std::remove_cv_t<Type>>;
    }
  } else {
    return false;
  }
}

}  // namespace filch::inline FILCH_ABI::detail
