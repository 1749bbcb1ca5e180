// SHA-1 (FIPS 180-4) of messages of one block: the random numbers of Unbalanced Tree Search.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bench {

using sha1_digest = std::array<std::uint32_t, 5>;  // five words, as numbers

/// The digest of `words` (big-endian words of the message, at most 13 of them).
template <std::size_t N>
  requires(N <= 13)
sha1_digest sha1(std::array<std::uint32_t, N> const& words) {
  std::array<std::uint32_t, 16> w{};
  for (std::size_t i = 0; i < N; ++i) w[i] = words[i];
  w[N] = 0x80000000u;
  w[15] = static_cast<std::uint32_t>(N * 32);

  std::uint32_t a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476, e = 0xc3d2e1f0;
  auto const schedule = [&w](unsigned t) {
    std::uint32_t const x = std::rotl(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15], 1);
    return w[t & 15] = x;
  };
  auto const step = [&](std::uint32_t f, std::uint32_t k, std::uint32_t x) {
    std::uint32_t const next = std::rotl(a, 5) + f + e + k + x;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  for (unsigned t = 0; t < 16; ++t) step(d ^ (b & (c ^ d)), 0x5a827999, w[t]);
  for (unsigned t = 16; t < 20; ++t) step(d ^ (b & (c ^ d)), 0x5a827999, schedule(t));
  for (unsigned t = 20; t < 40; ++t) step(b ^ c ^ d, 0x6ed9eba1, schedule(t));
  for (unsigned t = 40; t < 60; ++t) step((b & c) | (d & (b | c)), 0x8f1bbcdc, schedule(t));
  for (unsigned t = 60; t < 80; ++t) step(b ^ c ^ d, 0xca62c1d6, schedule(t));
  return {0x67452301 + a, 0xefcdab89 + b, 0x98badcfe + c, 0x10325476 + d, 0xc3d2e1f0 + e};
}

}  // namespace bench
