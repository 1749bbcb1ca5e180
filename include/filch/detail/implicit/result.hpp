// How the result of a join's f travels from its child to the join frame: in the registers that the calling convention
// names, so that the return barrier can save it, or else through a slot in the join frame.
//
//   carrier   the type that the child returns: the result itself, its bytes as one or two words, or its address
//   carried   the carrier in the join frame, until the result is wanted
#pragma once

#include <filch/detail/implicit/compiler.hpp>
#include <filch/detail/result.hpp>
#include <filch/detail/standard.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace filch::inline FILCH_ABI::detail {

/// The registers in which a function returns a result, saved by the return barrier.
struct implicit_registers {
  std::uint64_t rax;
  std::uint64_t rdx;
  std::uint64_t xmm0;
};

struct two_words {
  std::uint64_t a;
  std::uint64_t b;
};

/// Is it a scalar of the standard? std::is_scalar also takes complex numbers of C for one in libc++.
template <class Type>
inline constexpr bool is_standard_scalar =
    std::is_arithmetic_v<Type> || std::is_enum_v<Type> || std::is_pointer_v<Type> || std::is_member_pointer_v<Type> ||
    std::is_null_pointer_v<Type>;

/// The carrier of a result. A carrier in registers is in the same ones with every compiler.
template <class FnResult> consteval auto choose_carrier() {
  if constexpr (std::is_reference_v<FnResult>) {
    return std::type_identity<std::remove_reference_t<FnResult>*>{};
  } else if constexpr (std::is_same_v<FnResult, nothing>) {
    return std::type_identity<void>{};
  } else if constexpr (is_standard_scalar<FnResult> && sizeof(FnResult) <= 8) {
    return std::type_identity<FnResult>{};
  } else if constexpr (is_small_and_trivial<FnResult>(8, 8)) {
    return std::type_identity<std::uint64_t>{};
  } else if constexpr (is_small_and_trivial<FnResult>(16, 8)) {
    return std::type_identity<two_words>{};
  } else {
    return std::type_identity<result_slot<FnResult>>{};
  }
}
template <class FnResult> using carrier_of = typename decltype(choose_carrier<FnResult>())::type;
template <class FnResult>
inline constexpr bool comes_in_slot = std::is_same_v<carrier_of<FnResult>, result_slot<FnResult>>;
/// The return type of a child.
template <class FnResult>
using child_returns = std::conditional_t<comes_in_slot<FnResult>, void, carrier_of<FnResult>>;

/// In place of a slot where none is needed.
struct no_slot {
  no_slot() noexcept {}
};
template <class FnResult>
using child_slot = std::conditional_t<comes_in_slot<FnResult>, result_slot<FnResult>, no_slot>;

/// Calls f, in the child, and makes a carrier of its result.
template <class FnResult, class Fn>
FILCH_INLINE child_returns<FnResult> call_and_carry(Fn&& f, child_slot<FnResult>& slot) {
  static_cast<void>(slot);
  if constexpr (comes_in_slot<FnResult>) {
    slot.make(static_cast<Fn&&>(f));
  } else if constexpr (std::is_same_v<FnResult, nothing>) {
    static_cast<void>(detail::call_with(static_cast<Fn&&>(f)));
  } else if constexpr (std::is_reference_v<FnResult>) {
    result_slot<FnResult> r;
    r.make(static_cast<Fn&&>(f));
    return r.value;
  } else if constexpr (std::is_same_v<child_returns<FnResult>, FnResult>) {
    return detail::call_with(static_cast<Fn&&>(f));
  } else {
    FnResult const a = detail::call_with(static_cast<Fn&&>(f));
    child_returns<FnResult> words{};
    std::memcpy(&words, static_cast<void const*>(std::addressof(a)), sizeof a);
    return words;
  }
}

/// The carrier, kept until the result is wanted. Trivial if it came in registers.
template <class FnResult> struct carried {
  carrier_of<FnResult> value;
  FILCH_INLINE FnResult take() noexcept {
    if constexpr (std::is_reference_v<FnResult>) {
      return static_cast<FnResult>(*value);
    } else if constexpr (std::is_same_v<carrier_of<FnResult>, FnResult>) {
      return value;
    } else {
      raw_bytes_of<FnResult> a;
      std::memcpy(a.bytes(), std::addressof(value), sizeof(FnResult));
      return static_cast<FnResult&&>(a.value);
    }
  }
};
template <class FnResult>
  requires std::is_same_v<FnResult, nothing>
struct carried<FnResult> {
  FILCH_INLINE FnResult take() noexcept { return {}; }
};

/// The carrier from the registers that the return barrier saved.
template <class FnResult> carried<FnResult> carried_from(implicit_registers const& r) noexcept {
  carried<FnResult> c;
  if constexpr (!std::is_same_v<FnResult, nothing>) {
    if constexpr (std::is_floating_point_v<carrier_of<FnResult>>) {
      std::memcpy(std::addressof(c.value), &r.xmm0, sizeof c.value);
    } else {
      static_assert(sizeof c.value <= 16);
      std::memcpy(std::addressof(c.value), &r, sizeof c.value);
    }
  }
  return c;
}

/// In the join frame: a use of what the child returned, where k_child_address_escapes is false.
template <class Carrier> FILCH_INLINE void use_result(Carrier& c) noexcept {
  if constexpr (k_child_address_escapes) {
    static_cast<void>(c);
  } else if constexpr (std::is_floating_point_v<Carrier>) {
    asm volatile("" : "+x"(c));
  } else if constexpr (std::is_same_v<Carrier, two_words>) {
    asm volatile("" : "+r"(c.a), "+r"(c.b));
  } else {
    asm volatile("" : "+r"(c));
  }
}

}  // namespace filch::inline FILCH_ABI::detail
