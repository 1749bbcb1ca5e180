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
template <class T> consteval bool may_refer() noexcept;

/// Becomes whatever an element of the aggregate is, with noexcept where such an element refers to nothing. Never the
/// aggregate itself: that would be a copy.
template <class Aggregate, std::size_t> struct any_element {
  template <class T>
    requires(!std::is_same_v<T, Aggregate>)
  operator T() const noexcept(!detail::may_refer<T>());
};

template <class T, std::size_t... I> consteval bool has_elements(std::index_sequence<I...>) noexcept {
  return requires { T{any_element<T, I>()...}; };
}
template <class T, std::size_t... I> consteval bool elements_may_refer(std::index_sequence<I...>) noexcept {
  // Another element: of a type that several conversions lead to.
  if constexpr (requires { T{any_element<T, I>()..., {}}; }) {
    return true;
  } else {
    return !noexcept(T{any_element<T, I>()...});
  }
}

/// Of so many elements, or fewer.
template <class T, std::size_t Count> consteval bool aggregate_may_refer() noexcept {
  if constexpr (Count == 0) {
    return true;
  } else if constexpr (detail::has_elements<T>(std::make_index_sequence<Count>())) {
    return detail::elements_may_refer<T>(std::make_index_sequence<Count>());
  } else {
    return detail::aggregate_may_refer<T, Count - 1>();
  }
}

template <class T>
inline constexpr bool class_may_refer = [] {
  constexpr std::size_t k_most_elements = 8;
  // One that can't be assigned may have a reference, which no element can be made for.
  if constexpr (std::is_aggregate_v<T> && std::is_copy_assignable_v<T> &&
                !detail::has_elements<T>(std::make_index_sequence<k_most_elements + 1>())) {
    return detail::aggregate_may_refer<T, k_most_elements>();
  } else {
    return true;
  }
}();
template <class... T> inline constexpr bool class_may_refer<std::pair<T...>> = (detail::may_refer<T>() || ...);
template <class... T> inline constexpr bool class_may_refer<std::tuple<T...>> = (detail::may_refer<T>() || ...);

template <class T> consteval bool may_refer() noexcept {
  if constexpr (std::is_reference_v<T>) {
    return true;
  } else if constexpr (std::is_pointer_v<T>) {
    return !std::is_function_v<std::remove_pointer_t<T>>;
  } else if constexpr (std::is_union_v<T>) {
    return sizeof(T) >= sizeof(void*);
  } else if constexpr (std::is_class_v<T>) {
    if constexpr (std::is_trivially_copyable_v<T> && (std::is_empty_v<T> || sizeof(T) < sizeof(void*))) {
      return false;
    } else {
      return class_may_refer<std::remove_cv_t<T>>;
    }
  } else {
    return false;
  }
}

}  // namespace filch::inline FILCH_ABI::detail
