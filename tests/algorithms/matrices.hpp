// Values whose operation does not commute, for tests of scans.
#pragma once

#include "pieces.hpp"

#include <cstdint>
#include <vector>

namespace filch_test {

/// Composition is associative and not commutative.
struct matrix {
  std::uint32_t a, b, c, d;
  friend matrix operator*(matrix const& x, matrix const& y) {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
  bool operator==(matrix const&) const = default;
};

inline std::vector<matrix> matrices(std::size_t n) {
  std::vector<matrix> v;
  for (int x : numbers(n)) {
    auto const u = static_cast<std::uint32_t>(x);
    v.push_back({u, 1, u * 3, u + 2});
  }
  return v;
}

}  // namespace filch_test
