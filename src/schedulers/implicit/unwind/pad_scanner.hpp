// Which landing pads may be run while younger frames lie below the stack pointer. Private to this folder;
// may_run_pad() is in walk.hpp. See protocol.md, "A pad that calls something can't be run".
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

enum class [[nodiscard]] pad_scan {
  may_run,         // a path leads to implicit_offering's statement without a call or a push
  may_not_run,     // no such path, or code that the scanner does not know
  has_breakpoint,  // no such path while a debugger's or a probe's breakpoint is there
};
/// Follows the code at a landing pad to implicit_offering's statement. Reads code only.
pad_scan scan_pad(std::uint64_t pad) noexcept;

/// Prefixes without meaning, by which assemblers align branches.
constexpr bool is_padding(std::uint8_t prefix) noexcept {
  return prefix == 0x2e || prefix == 0x36 || prefix == 0x3e || prefix == 0x26;
}

/// The address of the lea in implicit_offering's statement, if the instruction at `at` is the statement's load of the
/// thread-local variable; else null.
std::uint8_t const* lea_of_offering(std::uint8_t const* at) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
