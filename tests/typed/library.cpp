// The source of two libraries (library.hpp): trees of joins under cactus and implicit. typed.libraries loads them.
#include "library.hpp"

#include <filch/filch.hpp>

extern "C" {
library_tree filch_test_tree_cactus __attribute__((visibility("default")));
library_tree filch_test_tree_implicit __attribute__((visibility("default")));
library_tree filch_test_expected __attribute__((visibility("default")));
}

namespace {

// Both take four bytes in an instruction: the libraries have the same code but for them.
constexpr long k_add = LIBRARY_NUMBER * 10'000;
constexpr int k_room = LIBRARY_NUMBER * 1000;

template <class S> long tree(int depth) {
  if (depth == 0) return k_add;
  char volatile room[k_room];
  room[0] = static_cast<char>(depth);
  room[k_room - 1] = static_cast<char>(depth + 1);
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1); }, [=] { return tree<S>(depth - 1); });
  return a + b + room[k_room - 1] - room[0];
}

}  // namespace

long filch_test_tree_cactus(int depth) { return tree<filch::cactus>(depth); }
long filch_test_tree_implicit(int depth) { return tree<filch::implicit>(depth); }
long filch_test_expected(int depth) { return (k_add << depth) + (1L << depth) - 1; }
