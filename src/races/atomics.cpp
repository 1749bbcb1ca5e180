// Atomic operations of instrumented code, which calls these functions. All of them are sequentially consistent here:
// the program runs in order. Protocol: protocol.md.
#include "races/checker.hpp"

#include <cstdint>

using filch::races::access_kind;
using filch::races::address;

namespace filch::races {
namespace {

inline void check_atomic(void const volatile* a, std::size_t bytes, bool writes, void* pc) noexcept {
  if (!me.checks) return;
  check_slow(reinterpret_cast<address>(a), bytes, writes ? access_kind::atomic_write : access_kind::atomic_read,
             reinterpret_cast<address>(pc));
}
/// A count of references that is zero now: the section is the last one that uses the object.
template <class Value> inline void counted(Value before, Value after) noexcept {
  if (me.checks && before == Value{1} && after == Value{0}) now.dropped_last = true;
}

template <class Value> Value read(Value const volatile* a) noexcept {
  if constexpr (sizeof(Value) == 16) {
    return __sync_val_compare_and_swap(const_cast<Value volatile*>(a), Value{0}, Value{0});
  } else {
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);
  }
}
template <class Value> bool replace(Value volatile* a, Value& expected, Value value) noexcept {
  Value const found = __sync_val_compare_and_swap(a, expected, value);
  bool const is_done = found == expected;
  expected = found;
  return is_done;
}
/// Returns the value before.
template <class Value, class Fn> Value change(Value volatile* a, Fn f) noexcept {
  Value before = races::read(a);
  while (!races::replace(a, before, static_cast<Value>(f(before)))) {
  }
  return before;
}

}  // namespace
}  // namespace filch::races

#define FILCH_PC __builtin_return_address(0)
#define FILCH_ENTRY extern "C" __attribute__((visibility("default")))

#define FILCH_RMW(bits, type, name, expression)                                                \
  FILCH_ENTRY type __tsan_atomic##bits##_##name(type volatile* a, type v, int) {               \
    filch::races::check_atomic(a, sizeof(type), true, FILCH_PC);                               \
    return filch::races::change(a, [v]([[maybe_unused]] type x) { return type(expression); }); \
  }
#define FILCH_COUNT(bits, type, name, expression)                                          \
  FILCH_ENTRY type __tsan_atomic##bits##_##name(type volatile* a, type v, int) {           \
    filch::races::check_atomic(a, sizeof(type), true, FILCH_PC);                           \
    type const before = filch::races::change(a, [v](type x) { return type(expression); }); \
    type const x = before;                                                                 \
    filch::races::counted<type>(before, type(expression));                                 \
    return before;                                                                         \
  }
#define FILCH_EXCHANGE(bits, type, name)                                                                       \
  FILCH_ENTRY int __tsan_atomic##bits##_compare_exchange_##name(type volatile* a, type* expected, type v, int, \
                                                                int) {                                         \
    filch::races::check_atomic(a, sizeof(type), true, FILCH_PC);                                               \
    return filch::races::replace(a, *expected, v);                                                             \
  }

#define FILCH_ATOMIC(bits, type)                                                                                   \
  FILCH_ENTRY type __tsan_atomic##bits##_load(type const volatile* a, int) {                                       \
    filch::races::check_atomic(a, sizeof(type), false, FILCH_PC);                                                  \
    return filch::races::read(a);                                                                                  \
  }                                                                                                                \
  FILCH_ENTRY void __tsan_atomic##bits##_store(type volatile* a, type v, int) {                                    \
    filch::races::check_atomic(a, sizeof(type), true, FILCH_PC);                                                   \
    filch::races::change(a, [v](type) { return v; });                                                              \
  }                                                                                                                \
  FILCH_RMW(bits, type, exchange, v)                                                                               \
  FILCH_COUNT(bits, type, fetch_add, x + v)                                                                        \
  FILCH_COUNT(bits, type, fetch_sub, x - v)                                                                        \
  FILCH_RMW(bits, type, fetch_and, x& v)                                                                           \
  FILCH_RMW(bits, type, fetch_or, x | v)                                                                           \
  FILCH_RMW(bits, type, fetch_xor, x ^ v)                                                                          \
  FILCH_RMW(bits, type, fetch_nand, ~(x & v))                                                                      \
  FILCH_EXCHANGE(bits, type, strong)                                                                               \
  FILCH_EXCHANGE(bits, type, weak)                                                                                 \
  FILCH_ENTRY type __tsan_atomic##bits##_compare_exchange_val(type volatile* a, type expected, type v, int, int) { \
    filch::races::check_atomic(a, sizeof(type), true, FILCH_PC);                                                   \
    filch::races::replace(a, expected, v);                                                                         \
    return expected;                                                                                               \
  }

FILCH_ATOMIC(8, std::uint8_t)
FILCH_ATOMIC(16, std::uint16_t)
FILCH_ATOMIC(32, std::uint32_t)
FILCH_ATOMIC(64, std::uint64_t)
#if defined(__SIZEOF_INT128__)
__extension__ using filch_wide = unsigned __int128;
FILCH_ATOMIC(128, filch_wide)
#endif

FILCH_ENTRY void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
FILCH_ENTRY void __tsan_atomic_signal_fence(int) {}
