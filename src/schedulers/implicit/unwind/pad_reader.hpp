// Which landing pads can be read instead of run. Private to this folder; read_pad() is in walk.hpp.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// Can read_pad() follow the code at a landing pad? Reads code only.
bool can_read_pad(std::uint64_t pad) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
