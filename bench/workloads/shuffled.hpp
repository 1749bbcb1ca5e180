// The input of sorts: a shuffle of 0..n-1, so that element i of the answer is i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace bench {

inline std::unique_ptr<int[]> shuffled(std::size_t n) {
  auto a = std::make_unique<int[]>(n);
  for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<int>(i);
  std::uint64_t x = 88172645463325252u;
  for (std::size_t i = n - 1; i > 0; --i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    std::swap(a[i], a[x % (i + 1)]);
  }
  return a;
}

inline bool is_counting(int const* a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (a[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace bench
