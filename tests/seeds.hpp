// Random trees that exist nowhere: everything about a node follows from its seed.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace filch_test {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return mix(a * 31 + b); }

/// From the environment.
inline std::uint64_t number_from(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

}  // namespace filch_test
