// How a closure of more than two words travels in the registers of a call. By reference it would go through memory:
// the joining function would store the captures, and f would wait to load them. So each word of the closure is an
// argument. The types of the captures are not known: a word may be one value or two of four bytes. An 8-byte load of
// two 4-byte stores stalls. Each compiler keeps the captures in registers for one way of copying only:
//
//   Clang   each word is copied by memcpy
//   GCC     a word is read as two halves, and written as a whole
#pragma once

#include <filch/detail/implicit/compiler.hpp>
#include <filch/detail/implicit/result.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

struct [[gnu::may_alias]] leaving_word {
  std::uint32_t low;
  std::uint32_t high;
};
struct [[gnu::may_alias]] arriving_word {
  std::uint64_t bits;
};
struct [[gnu::may_alias]] half_word {
  std::uint32_t bits;
};

template <class Fn, class FnResult> struct words_of {
  using object = std::conditional_t<std::is_reference_v<Fn>, char, Fn>;  // never a function
  static constexpr bool are_whole = alignof(object) == 8;                // else words of four bytes
  using leaving = std::conditional_t<are_whole, std::conditional_t<k_is_clang, std::uint64_t, leaving_word>,
                                     std::conditional_t<k_is_clang, std::uint32_t, half_word>>;
  using arriving = std::conditional_t<are_whole, arriving_word, half_word>;
  /// The type of the arguments. A closure with a floating-point result has likely captured floating-point values.
  using travelling =
      std::conditional_t<std::is_floating_point_v<FnResult>, std::conditional_t<are_whole, double, float>, leaving>;
  static constexpr std::size_t k_registers = std::is_floating_point_v<FnResult> ? 8 : comes_in_slot<FnResult> ? 5 : 6;
  static constexpr bool fit = !k_is_sanitized && !travels_by_value<Fn> && !std::is_const_v<Fn> &&
                              alignof(object) >= sizeof(leaving) &&
                              is_small_closure<Fn>(k_registers * sizeof(leaving), 8);
  static constexpr std::size_t k_count = sizeof(object) / sizeof(leaving);
  using indices = std::make_index_sequence<k_count>;

  template <std::size_t At> FILCH_INLINE static travelling take(Fn const& f) noexcept {
    if constexpr (k_is_clang) {
      travelling w;
      __builtin_memcpy(&w, reinterpret_cast<std::byte const*>(__builtin_addressof(f)) + At * sizeof w, sizeof w);
      return w;
    } else {
      leaving const w = reinterpret_cast<leaving const*>(__builtin_addressof(f))[At];
      // No bit_cast between equal types: GCC would read the two halves at once.
      if constexpr (std::is_same_v<leaving, travelling>) {
        return w;
      } else {
        return __builtin_bit_cast(travelling, w);
      }
    }
  }
  template <std::size_t At> FILCH_INLINE static void put(raw_bytes_of<Fn>& f, travelling w) noexcept {
    if constexpr (k_is_clang) {
      __builtin_memcpy(reinterpret_cast<std::byte*>(__builtin_addressof(f)) + At * sizeof w, &w, sizeof w);
    } else {
      reinterpret_cast<arriving*>(__builtin_addressof(f))[At] = __builtin_bit_cast(arriving, w);
    }
  }
  /// Copies all words into memory.
  template <std::size_t... At>
  FILCH_INLINE static void copy(raw_bytes_of<Fn>& room, Fn const& f, std::index_sequence<At...>) noexcept {
    (put<At>(room, take<At>(f)), ...);
  }
};

}  // namespace filch::inline FILCH_ABI::detail
