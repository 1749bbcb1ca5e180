// Which landing pads may be run while younger frames lie below the stack pointer.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Is there a way through the code at a landing pad, as far as implicit_offering's statement, on which nothing is
/// called or pushed? Reads the code alone. Code that it can't take apart has no such way.
bool may_run_pad(std::uint64_t pad) noexcept;

/// Assemblers that align branches pad what is in front of them with prefixes that mean nothing.
constexpr bool is_padding(std::uint8_t prefix) noexcept {
  return prefix == 0x2e || prefix == 0x36 || prefix == 0x3e || prefix == 0x26;
}

/// Where implicit_offering's statement has its lea, if the instruction here is its look at the thread-local variable;
/// else null.
std::uint8_t const* lea_of_offering(std::uint8_t const* at) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
