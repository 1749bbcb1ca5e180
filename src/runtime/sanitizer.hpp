// Tells sanitizers of each change of stacks. Their functions are looked up when the program is linked or loaded, so a
// library that was built without a sanitizer serves a program that was built with one. Valgrind, which runs any
// build, is told where stacks are.
#pragma once

#if defined(FILCH_WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

#include <filch/detail/platform.hpp>

#include <cstddef>

namespace filch::runtime {

// <sanitizer/common_interface_defs.h>, <sanitizer/asan_interface.h>, <sanitizer/tsan_interface.h>: null without them.
namespace sanitizers {
[[gnu::weak]] void start_switch(void** kept, void const* low,
                                std::size_t bytes) __asm__("__sanitizer_start_switch_fiber");
[[gnu::weak]] void finish_switch(void* kept, void const** old_low,
                                 std::size_t* old_bytes) __asm__("__sanitizer_finish_switch_fiber");
[[gnu::weak]] void unpoison(void const volatile* low, std::size_t bytes) __asm__("__asan_unpoison_memory_region");
[[gnu::weak]] void* fake_stack() __asm__("__asan_get_current_fake_stack");
[[gnu::weak]] void* in_fake_stack(void* fake, void* at, void** low,
                                  void** high) __asm__("__asan_addr_is_in_fake_stack");
[[gnu::weak]] void* tsan_current() __asm__("__tsan_get_current_fiber");
[[gnu::weak]] void* tsan_create(unsigned flags) __asm__("__tsan_create_fiber");
[[gnu::weak]] void tsan_destroy(void* fiber) __asm__("__tsan_destroy_fiber");
[[gnu::weak]] void tsan_switch(void* fiber, unsigned flags) __asm__("__tsan_switch_to_fiber");
}  // namespace sanitizers

// Inlined in each build: a function that is entered on one fiber and left on another confuses ThreadSanitizer.
FILCH_INLINE void leave_stack(void** kept, void const* low, std::size_t bytes) noexcept {
  if (sanitizers::start_switch) sanitizers::start_switch(kept, low, bytes);
}
FILCH_INLINE void arrive_on_stack(void* kept, void const** old_low, std::size_t* old_bytes) noexcept {
  if (sanitizers::finish_switch) sanitizers::finish_switch(kept, old_low, old_bytes);
}
/// Before a stack is given back: the marks around variables of frames that never returned would be wrong for the next
/// fiber.
FILCH_INLINE void forget_frames(void const* low, std::size_t bytes) noexcept {
  if (sanitizers::unpoison) sanitizers::unpoison(low, bytes);
}

/// AddressSanitizer keeps variables of functions on the heap. The stack pointer of the one that has this variable;
/// null: none has.
inline void const* stack_pointer_of_owner(void* variable) noexcept {
  if (!sanitizers::in_fake_stack || !sanitizers::fake_stack) return nullptr;
  auto* const at =
      static_cast<char*>(sanitizers::in_fake_stack(sanitizers::fake_stack(), variable, nullptr, nullptr));
  constexpr std::ptrdiff_t k_of_call = 16;  // return address and frame pointer, below which it was noted
  return at ? at + k_of_call : nullptr;
}

/// Is the program built with ThreadSanitizer?
FILCH_INLINE bool is_on_tsan() noexcept { return sanitizers::tsan_switch != nullptr; }
FILCH_INLINE void* this_fiber() noexcept { return is_on_tsan() ? sanitizers::tsan_current() : nullptr; }
FILCH_INLINE void* new_fiber() noexcept { return is_on_tsan() ? sanitizers::tsan_create(0) : nullptr; }
FILCH_INLINE void end_fiber(void* f) noexcept {
  if (is_on_tsan()) sanitizers::tsan_destroy(f);
}
FILCH_INLINE void switch_fiber(void* to) noexcept {
  if (is_on_tsan()) sanitizers::tsan_switch(to, 0);
}

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
