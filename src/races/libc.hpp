// Checked copies, and what the wrappers of libc's functions share.
#pragma once

#include "races/checker.hpp"

namespace filch::races {

/// An access of any length, which may be 0.
inline void check_range(void const* a, std::size_t n, access_kind kind, address pc) noexcept {
  if (me.checks) check_slow_range(reinterpret_cast<address>(a), n, kind, pc);
}

void* copy(void* to, void const* from, std::size_t n, address pc) noexcept;
void* move(void* to, void const* from, std::size_t n, address pc) noexcept;
void* fill(void* to, int value, std::size_t n, address pc) noexcept;

/// libc's own function of that name.
void* original(char const* name) noexcept;

}  // namespace filch::races

/// A function that programs and libraries call in place of libc's.
#define FILCH_WRAPPER extern "C" __attribute__((visibility("default")))
#define FILCH_WRAPPER_PC (reinterpret_cast<filch::races::address>(__builtin_return_address(0)))
