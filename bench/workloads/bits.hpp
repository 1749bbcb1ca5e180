// The bits of many doubles as one number, so that an answer is compared with the serial program's without a copy.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace bench {

/// Each step is reversible: if one double differs, so does the number.
inline std::uint64_t add_bits(std::uint64_t bits, double x) {
  bits = (bits ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
  return bits ^ (bits >> 32);
}

inline std::uint64_t bits_of(double const* at, std::size_t count) {
  std::uint64_t bits = count;
  for (std::size_t i = 0; i < count; ++i) bits = add_bits(bits, at[i]);
  return bits;
}

}  // namespace bench
