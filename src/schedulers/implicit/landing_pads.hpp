// The exception tables as a map from a return address to the landing pad of a continuation.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct landing_pad {
  std::uint64_t address = 0;  // 0: none
  std::uint32_t selector = 0;
  bool is_unknown = false;  // there may be one: the table can't be read
};

/// By the language-specific data of the function that begins at `start`, for a call that returns to `ip`.
landing_pad find_landing_pad(std::uint8_t const* data, std::uint64_t start, std::uint64_t ip) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
