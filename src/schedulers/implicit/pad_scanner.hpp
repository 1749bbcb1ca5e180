// Which landing pads may be run while younger frames lie below the stack pointer.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Is there a way through the code at a landing pad, as far as implicit_offering's statement, on which nothing is
/// called or pushed? Reads the code alone. Code that it can't take apart has no such way.
enum class [[nodiscard]] pad_scan { may_run, may_not_run, has_breakpoint };
/// has_breakpoint: no, but there may be such a way again when a debugger, or a probe, has taken its breakpoint away.
pad_scan scan_pad(std::uint64_t pad) noexcept;
inline bool may_run_pad(std::uint64_t pad) noexcept { return scan_pad(pad) == pad_scan::may_run; }

/// Assemblers that align branches pad what is in front of them with prefixes that mean nothing.
constexpr bool is_padding(std::uint8_t prefix) noexcept {
  return prefix == 0x2e || prefix == 0x36 || prefix == 0x3e || prefix == 0x26;
}

/// Where implicit_offering's statement has its lea, if the instruction here is its look at the thread-local variable;
/// else null.
std::uint8_t const* lea_of_offering(std::uint8_t const* at) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
