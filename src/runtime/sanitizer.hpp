// Which sanitizer this is built for, and what it wants to be told of a change of stacks. Valgrind, which runs any
// build, is told where stacks are.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define FILCH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define FILCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FILCH_ASAN 1
#elif __has_feature(thread_sanitizer)
#define FILCH_TSAN 1
#endif
#endif

#if defined(FILCH_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FILCH_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if defined(FILCH_WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

#include <filch/detail/platform.hpp>

#include <cstddef>

namespace filch::runtime {

// Inlined also where nothing else is: a function that is entered on one fiber and left on another confuses the
// sanitizer of threads.
#if defined(FILCH_ASAN)
FILCH_INLINE void leave_stack(void** kept, void const* low, std::size_t bytes) noexcept {
  __sanitizer_start_switch_fiber(kept, low, bytes);
}
FILCH_INLINE void arrive_on_stack(void* kept, void const** old_low, std::size_t* old_bytes) noexcept {
  __sanitizer_finish_switch_fiber(kept, old_low, old_bytes);
}
/// Before a stack is given back: what was around the variables of frames that never returned may be somebody else's
/// next.
FILCH_INLINE void forget_frames(void const* low, std::size_t bytes) noexcept {
  __asan_unpoison_memory_region(low, bytes);
}
#else
FILCH_INLINE void leave_stack(void**, void const*, std::size_t) noexcept {}
FILCH_INLINE void arrive_on_stack(void*, void const**, std::size_t*) noexcept {}
FILCH_INLINE void forget_frames(void const*, std::size_t) noexcept {}
#endif

#if defined(FILCH_TSAN)
FILCH_INLINE void* this_fiber() noexcept { return __tsan_get_current_fiber(); }
FILCH_INLINE void* new_fiber() noexcept { return __tsan_create_fiber(0); }
FILCH_INLINE void end_fiber(void* f) noexcept { __tsan_destroy_fiber(f); }
FILCH_INLINE void switch_fiber(void* to) noexcept { __tsan_switch_to_fiber(to, 0); }
#else
FILCH_INLINE void* this_fiber() noexcept { return nullptr; }
FILCH_INLINE void* new_fiber() noexcept { return nullptr; }
FILCH_INLINE void end_fiber(void*) noexcept {}
FILCH_INLINE void switch_fiber(void*) noexcept {}
#endif

/// Does Valgrind watch every access?
inline bool is_on_valgrind() noexcept {
#if defined(FILCH_WITH_VALGRIND)
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

/// While this lives, Valgrind takes [low, high) for a stack: a stack pointer that moves there has not left frames
/// behind.
class known_stack {
 public:
#if defined(FILCH_WITH_VALGRIND)
  known_stack(void const* low, void const* high) noexcept : id_(VALGRIND_STACK_REGISTER(low, high)) {}
  known_stack(known_stack const&) = delete;
  known_stack& operator=(known_stack const&) = delete;
  ~known_stack() { VALGRIND_STACK_DEREGISTER(id_); }

 private:
  unsigned long id_;
#else
  known_stack(void const*, void const*) noexcept {}
#endif
};

}  // namespace filch::runtime
