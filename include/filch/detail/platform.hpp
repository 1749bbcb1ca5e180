// The compiler, the processor and the options of the build, as the headers need them.
#pragma once

#if __cplusplus < 202002L
#error "filch needs C++20: -std=c++20"
#endif
#if !defined(__cpp_exceptions)
#error "filch needs exceptions, which -fno-exceptions turns off"
#endif

#include <filch/config.hpp>

// The check for races: docs/races.md. FILCH_RACES_LIBRARY is for the library itself.
#if defined(FILCH_RACES) && !defined(FILCH_RACES_LIBRARY) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#error "filch: FILCH_RACES needs -fsanitize=thread"
#elif !__has_feature(thread_sanitizer)
#error "filch: FILCH_RACES needs -fsanitize=thread"
#endif
#endif

#define FILCH_API __attribute__((visibility("default")))

namespace filch::inline FILCH_ABI::detail {
inline constexpr unsigned k_no_worker = ~0u;
/// Is the program compiled for the check for races?
#if defined(FILCH_RACES)
inline constexpr bool k_checks_races = true;
#else
inline constexpr bool k_checks_races = false;
#endif
}  // namespace filch::inline FILCH_ABI::detail

// Always part of the caller: a thin wrapper whose own frame would cost more than its work.
// Nor may -finstrument-functions call anything in it.
#define FILCH_INLINE [[gnu::always_inline, gnu::no_instrument_function]] inline
// Before a loop over a stretch: a branch predictor learns 16 turns, but not 64. Clang unrolls by
// itself; with a given count it uses no vectors.
#if defined(__clang__)
#define FILCH_UNROLL
#else
#define FILCH_UNROLL _Pragma("GCC unroll 4")
#endif
// The same before a loop that no compiler turns into vectors.
#if defined(__clang__)
#define FILCH_UNROLL_FILTER _Pragma("clang loop unroll_count(4)")
#else
#define FILCH_UNROLL_FILTER _Pragma("GCC unroll 4")
#endif
// A frame of its own. A fork needs callee-saved registers. A leaf of the recursion would have to save them, too, if a
// fork were inlined beside it (docs/decisions/0001-outlined-join.md).
#define FILCH_OUTLINE [[gnu::noinline]]
// The same, on a cache line of its own: a recursion of a few instructions a call loses up to a fifth of its speed
// where the linker happens to put them across two (docs/decisions/0005-implicit.md).
#define FILCH_OUTLINE_ALIGNED [[gnu::noinline, gnu::aligned(64)]]
// Rarely run: kept apart from the fast path.
#define FILCH_COLD [[gnu::noinline, gnu::cold]]
