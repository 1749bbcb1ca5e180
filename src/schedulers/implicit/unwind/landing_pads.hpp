// The exception tables as a map from a return address to the landing pad of a continuation. Private to this folder;
// call_frames.cpp asks once for each return address. See protocol.md, "A join frame".
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct landing_pad {
  std::uint64_t address = 0;   // 0: none
  std::uint32_t selector = 0;  // rdx on the pad: the handler of `continuation`
  bool is_unknown = false;     // the table can't be read, so there may be a pad
};

/// `data`: language-specific data of the function that begins at `start`. `ip`: return address of the call.
landing_pad find_landing_pad(std::uint8_t const* data, std::uint64_t start, std::uint64_t ip) noexcept;

}  // namespace filch::inline FILCH_ABI::detail
