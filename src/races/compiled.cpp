// The functions that compilers call under -fsanitize=thread, except for atomics: see atomics.cpp. Each one checks its
// accesses by checker.hpp.
#include <algorithm>
#include <cstring>

#include "races/checker.hpp"
#include "races/libc.hpp"
#include "races/setup.hpp"

using filch::races::access_kind;
using filch::races::address;

#define FILCH_PC (reinterpret_cast<address>(__builtin_return_address(0)))
#define FILCH_AT(a) (reinterpret_cast<address>(a))
#define FILCH_ENTRY extern "C" __attribute__((visibility("default"))) void

#define FILCH_ONE(name, bytes, writes) \
  FILCH_ENTRY __tsan_##name(void* a) { filch::races::check<bytes, writes>(FILCH_AT(a), FILCH_PC); }
#define FILCH_ONE_WITH_PC(name, bytes, writes) \
  FILCH_ENTRY __tsan_##name(void* a, void* pc) { filch::races::check<bytes, writes>(FILCH_AT(a), FILCH_AT(pc)); }
// A compound access reads, then writes: the write finds what the read would.
#define FILCH_SIZE(bytes)                                 \
  FILCH_ONE(read##bytes, bytes, false)                    \
  FILCH_ONE(write##bytes, bytes, true)                    \
  FILCH_ONE(unaligned_read##bytes, bytes, false)          \
  FILCH_ONE(unaligned_write##bytes, bytes, true)          \
  FILCH_ONE(volatile_read##bytes, bytes, false)           \
  FILCH_ONE(volatile_write##bytes, bytes, true)           \
  FILCH_ONE(unaligned_volatile_read##bytes, bytes, false) \
  FILCH_ONE(unaligned_volatile_write##bytes, bytes, true) \
  FILCH_ONE(read_write##bytes, bytes, true)               \
  FILCH_ONE(unaligned_read_write##bytes, bytes, true)     \
  FILCH_ONE_WITH_PC(read##bytes##_pc, bytes, false)       \
  FILCH_ONE_WITH_PC(write##bytes##_pc, bytes, true)

FILCH_SIZE(1)
FILCH_SIZE(2)
FILCH_SIZE(4)
FILCH_SIZE(8)
FILCH_SIZE(16)

FILCH_ENTRY __tsan_init() { filch::races::set_up(); }

FILCH_ENTRY __tsan_func_entry(void* pc) {
  if (filch::races::me.calls == nullptr) return;
  filch::races::me.calls->enter(FILCH_AT(pc), FILCH_AT(__builtin_frame_address(0)));
}
FILCH_ENTRY __tsan_func_exit() {
  if (filch::races::me.calls != nullptr) filch::races::me.calls->leave();
}

FILCH_ENTRY __tsan_read_range(void* a, unsigned long n) {
  filch::races::check_range(a, n, access_kind::read, FILCH_PC);
}
FILCH_ENTRY __tsan_write_range(void* a, unsigned long n) {
  filch::races::check_range(a, n, access_kind::write, FILCH_PC);
}
FILCH_ENTRY __tsan_read_range_pc(void* a, unsigned long n, void* pc) {
  filch::races::check_range(a, n, access_kind::read, FILCH_AT(pc));
}
FILCH_ENTRY __tsan_write_range_pc(void* a, unsigned long n, void* pc) {
  filch::races::check_range(a, n, access_kind::write, FILCH_AT(pc));
}

// Destructors store the pointer that is there already.
FILCH_ENTRY __tsan_vptr_update(void** a, void* value) {
  if (*a != value) filch::races::check<sizeof(void*), true>(FILCH_AT(a), FILCH_PC);
}
FILCH_ENTRY __tsan_vptr_read(void** a) { filch::races::check<sizeof(void*), false>(FILCH_AT(a), FILCH_PC); }

// Code between these is not to be looked at.
namespace {
constinit thread_local unsigned ignored = 0;
constinit thread_local bool checked_before = false;
}  // namespace
FILCH_ENTRY __tsan_ignore_thread_begin() {
  if (ignored++ == 0) checked_before = std::exchange(filch::races::me.checks, false);
}
FILCH_ENTRY __tsan_ignore_thread_end() {
  if (--ignored == 0) filch::races::me.checks = checked_before;
}

extern "C" __attribute__((visibility("default"))) void* __tsan_memcpy(void* to, void const* from, unsigned long n) {
  return filch::races::copy(to, from, n, FILCH_PC);
}
extern "C" __attribute__((visibility("default"))) void* __tsan_memmove(void* to, void const* from, unsigned long n) {
  return filch::races::move(to, from, n, FILCH_PC);
}
extern "C" __attribute__((visibility("default"))) void* __tsan_memset(void* to, int value, unsigned long n) {
  return filch::races::fill(to, value, n, FILCH_PC);
}
