// Calls into a profiler at each change of fibers. See docs/profiling.md.
#pragma once

#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI {

/// Functions that a profiler which knows fibers wants to be called; null: none. The argument names the stack of the
/// fiber: one address and one text as long as the fiber exists, and valid until the process ends. Stacks, and so
/// names, are used again for other fibers.
struct fiber_hooks {
  /// The calling thread is about to run code of that fiber. Called on the thread's own stack.
  void (*enter)(char const* fiber) noexcept = nullptr;
  /// It has left the fiber, which has ended or continues later, perhaps on another thread.
  void (*leave)(char const* fiber) noexcept = nullptr;
};

/// Pools of cactus and implicit that are made after it call these hooks; pools that exist do not. On each thread
/// calls of enter and leave alternate, also if a fiber enters another pool: it is left first, and entered again at
/// the end. No fiber is entered on two threads at once. A hook may neither fork nor enter a pool. Any thread. Without
/// hooks a change of fibers costs a load and a compare more; forks and joins never call hooks.
#if FILCH_HAS_CACTUS && !defined(FILCH_RACES)
FILCH_API void set_fiber_hooks(fiber_hooks hooks) noexcept;
#else
inline void set_fiber_hooks(fiber_hooks /*hooks*/) noexcept {}  // there are no fibers
#endif

}  // namespace filch::inline FILCH_ABI
