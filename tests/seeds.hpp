// Random trees that exist nowhere: everything about a node follows from its seed.
#pragma once

#include "scale.hpp"

#include <gtest/gtest.h>
#include <filch/pool_options.hpp>

#include <cstdint>
#include <cstdlib>
#include <random>

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

/// Calls try_tree(pool, seed) for FILCH_TEST_TREES seeds, or scaled(trees), in pools of 1 to `most_workers` of S's
/// workers, until one fails. FILCH_TEST_SEED=n: for that one.
template <class S, class Try> void for_each_seed(unsigned most_workers, std::size_t trees, Try try_tree) {
  std::size_t const count = number_from("FILCH_TEST_TREES", scaled(trees));
  bool const is_one = std::getenv("FILCH_TEST_SEED") != nullptr;
  std::uint64_t const first = number_from("FILCH_TEST_SEED", std::random_device{}());
  for (unsigned workers = 1; workers <= most_workers; ++workers) {
    // Where every join changes threads, most of the time would go into stacks that are trimmed at each.
    auto const give_back = workers % 4 == 2 ? filch::give_back_policy::madvise : filch::give_back_policy::none;
    typename S::pool pool({.workers = workers, .stack_give_back = give_back});
    for (std::size_t i = 0; i < (count + most_workers - 1) / most_workers; ++i) {
      try_tree(pool, is_one ? first : first + i * most_workers + workers);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace filch_test
