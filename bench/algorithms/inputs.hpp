// Inputs and answers that several entries of the list share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::algorithms {

/// The same pseudo-random number for the same i: the finaliser of splitmix64.
constexpr std::uint64_t scrambled(std::uint64_t i) {
  i += 0x9e3779b97f4a7c15u;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return i ^ (i >> 31);
}

template <class T, class F> std::vector<T> filled(std::size_t n, F const& f) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(f(i));
  return v;
}

/// Whole numbers from 0 to 7, so that sums of floating-point numbers are exact in each order.
template <class T> std::vector<T> small_numbers(std::size_t n) {
  return filled<T>(n, [](std::size_t i) { return scrambled(i) % 8; });
}
inline std::vector<std::uint32_t> random_numbers(std::size_t n) {
  return filled<std::uint32_t>(n, [](std::size_t i) { return scrambled(i); });
}

/// The predicate of filters: true for half of random_numbers, in no order.
inline constexpr auto is_chosen = [](std::uint32_t x) { return (x & 0x100) != 0; };

/// The lowest position below n with hit(i), or n. Blocks above a hit are left out.
template <class P, class Hit> std::size_t find_on_peer(std::size_t n, Hit const& hit) {
  constexpr std::size_t k_block = 4096;
  std::atomic<std::size_t> lowest{n};
  P::for_index(std::size_t{0}, (n + k_block - 1) / k_block, [&](std::size_t block) {
    std::size_t i = block * k_block;
    std::size_t const end = std::min(n, i + k_block);
    std::size_t known = lowest.load(std::memory_order_relaxed);  // the result is read after the loop's end
    if (i > known) return;
    while (i < end && !hit(i)) ++i;
    if (i == end) return;
    while (i < known && !lowest.compare_exchange_weak(known, i, std::memory_order_relaxed)) {
    }
  });
  return lowest.load(std::memory_order_relaxed);
}

}  // namespace bench::algorithms
