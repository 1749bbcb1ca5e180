// How a loop holds the functions of its caller.
#pragma once

#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// May each piece of a loop call a copy of f? No pointer refers to the copy, so its captures stay in registers
/// although the loop writes through pointers.
template <class Fn, class... Args> consteval bool body_is_copied() {
  if constexpr (std::is_object_v<Fn>) {
    return is_small_and_trivial<Fn>(64, 16) && std::is_trivially_copy_constructible_v<Fn> &&
           std::is_invocable_v<Fn const&, Args...>;
  } else {
    return false;
  }
}

/// f, which is called with Args..., in a piece: a copy of a small one, otherwise a reference.
template <class Fn, class... Args> struct body_of {
  std::conditional_t<body_is_copied<Fn, Args...>(), Fn, Fn&> f;
  template <class... Actual> FILCH_INLINE decltype(auto) operator()(Actual&&... args) const {
    static_assert(std::is_invocable_v<decltype((f)), Actual...>,
                  "filch: the function takes other arguments than this algorithm passes: the types of Actual");
    return detail::call_with(f, static_cast<Actual&&>(args)...);
  }
};

}  // namespace filch::inline FILCH_ABI::detail
