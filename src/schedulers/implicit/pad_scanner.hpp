// Which landing pads may be run while younger frames lie below the stack pointer.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Is there a way through the code at a landing pad, as far as implicit_offering's statement, on which nothing is
/// called or pushed? Reads the code alone. Code that it can't take apart has no such way.
bool may_run_pad(std::uint64_t pad) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
