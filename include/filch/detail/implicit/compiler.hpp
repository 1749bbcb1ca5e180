// The differences between compilers and builds that the joins of filch::implicit depend on, as constants and types.
// The macros of compilers are read here alone, with one exception in offering.hpp; this file defines none. The
// measurements behind each choice are in docs/decisions/0005-implicit.md.
#pragma once

#include <filch/detail/platform.hpp>

#include <type_traits>

#if defined(__has_feature)
#if __has_feature(safe_stack)
#error "filch: cactus and implicit change stacks and threads, which -fsanitize=safe-stack does not support"
#endif
#endif

namespace filch::inline FILCH_ABI::detail {

#if defined(__clang__)
inline constexpr bool k_is_clang = true;
inline constexpr int k_gcc_version = 0;
#else
inline constexpr bool k_is_clang = false;
inline constexpr int k_gcc_version = __GNUC__;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_is_sanitized = true;
#elif !defined(__has_feature)
inline constexpr bool k_is_sanitized = false;
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool k_is_sanitized = true;
#else
inline constexpr bool k_is_sanitized = false;
#endif

#if defined(__OPTIMIZE__)
inline constexpr bool k_is_optimized = true;
#else
inline constexpr bool k_is_optimized = false;
#endif

#if defined(__NO_INLINE__)
inline constexpr bool k_inlines = false;
#else
inline constexpr bool k_inlines = true;
#endif

/// A small join is a function of its own. Clang makes a larger frame for a function that has landing pads, so it is
/// faster where the joining function has none.
inline constexpr bool k_joins_are_functions = k_is_clang;

/// A small join is inlined late: it is called through a pointer, which GCC resolves after its first inlining passes.
/// GCC splits a function that begins with a short exit, as recursions do, and inlines the beginning into the callers;
/// a leaf is no call then. It splits no function that has handlers, so the join must come after that pass.
inline constexpr bool k_joins_are_inlined_late = !k_is_clang;

/// The child's address is passed to inline assembly, so that the compiler must assume unknown callers. The return
/// barrier finds the child's result where the calling convention puts it, and a compiler that knows all callers may
/// change the convention or drop a constant result. GCC before 14 drops only a result that is not used: it gets a use
/// instead (use_result).
inline constexpr bool k_child_address_escapes = k_is_clang || k_gcc_version >= 14;

/// Marks a join frame in the exception tables. No code throws one.
struct __attribute__((visibility("default"))) continuation {};

/// The type by which a join's handler catches the marker. Clang assumes that the end of a handler cannot throw if it
/// catches a pointer, so it catches by reference. With GCC, the sanitizer for undefined behaviour reports a reference
/// to null, which is the address of an exception that is not a C++ exception; so it catches by pointer.
using caught_continuation = std::conditional_t<k_is_clang, continuation const&, continuation*>;

}  // namespace filch::inline FILCH_ABI::detail
