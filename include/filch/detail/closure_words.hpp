// Passes callables of two words to the functions that fork, as two arguments of one word each. The joins of
// schedulers with outlined forks use it (task_stack.hpp, cactus_join.hpp).
//
// GCC keeps an argument of two words in memory: it stores the two registers, and loads both as one vector. The
// processor waits there for the stores, 6 ns for each callable. Two arguments stay in their registers
// (docs/decisions/0001-outlined-join.md). Clang keeps an argument of two words in registers.
#pragma once

#include <filch/detail/result.hpp>

#include <cstdint>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

#if defined(__clang__)
inline constexpr bool k_closures_can_travel_in_words = false;
#else
inline constexpr bool k_closures_can_travel_in_words = true;
#endif
template <class Fn> consteval bool has_two_words() {
  if constexpr (travels_by_value<Fn>) {
    return sizeof(Fn) > sizeof(std::uintptr_t);
  } else {
    return false;
  }
}
/// Do these two travel so? If one of them has one word, its second argument is not used.
template <class Fn, class Gn>
inline constexpr bool travel_in_words =
    k_closures_can_travel_in_words && travels_by_value<Fn> && travels_by_value<Gn> &&
    (detail::has_two_words<Fn>() || detail::has_two_words<Gn>());

struct closure_words {
  std::uintptr_t first;
  std::uintptr_t second;
};
template <class Fn> FILCH_INLINE closure_words words_of_closure(Fn& f) noexcept {
  closure_words w{0, 0};
  __builtin_memcpy(&w, std::addressof(f), sizeof f);
  return w;
}
/// The callable again.
template <class Fn> FILCH_INLINE Fn closure_of_words(std::uintptr_t first, std::uintptr_t second) noexcept {
  closure_words const w{first, second};
  raw_bytes_of<Fn> f;
  __builtin_memcpy(f.bytes(), &w, sizeof(Fn));
  return static_cast<Fn&&>(f.value);
}

}  // namespace filch::inline FILCH_ABI::detail
