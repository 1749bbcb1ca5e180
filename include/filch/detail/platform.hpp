// What the headers need to know of the compiler and of the way the library was built.
#pragma once

#include <filch/config.hpp>

#if defined(FILCH_STATIC)
#define FILCH_API
#else
#define FILCH_API __attribute__((visibility("default")))
#endif

namespace filch::inline FILCH_ABI::detail {
inline constexpr unsigned k_no_worker = ~0u;
}

// Always part of the caller: a thin wrapper whose own frame would cost more than its work.
#define FILCH_INLINE [[gnu::always_inline]] inline
// A frame of its own. A fork needs callee-saved registers; a leaf of the recursion does not, and should
// not have to save them because a fork was inlined beside it (docs/decisions/0001-outlined-join.md).
#define FILCH_OUTLINE [[gnu::noinline]]
// Rarely run: kept out of the way of the fast path.
#define FILCH_COLD [[gnu::noinline, gnu::cold]]
