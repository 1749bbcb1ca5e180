// filch_call_on_stack (src/arch/x86_64/call_on_stack.S) for processors that have no assembly here. It uses the
// contexts of the C library, which cost two system calls each way.
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace {

struct crossing {
  void (*call)(void*);
  void* argument;
};

// makecontext passes ints, so a pointer is passed as two halves.
void on_the_other_side(unsigned high, unsigned low) {
  auto const bits = (static_cast<std::uint64_t>(high) << 32) | low;
  auto const& c = *reinterpret_cast<crossing const*>(static_cast<std::uintptr_t>(bits));
  c.call(c.argument);
}

// Bytes that exist below `top` in any case: the smallest stack that the settings allow.
constexpr std::size_t k_known_room = 48 * 1024;

}  // namespace

extern "C" void filch_call_on_stack(void* top, void (*call)(void*), void* argument) {
  crossing c{call, argument};
  ucontext_t here;
  ucontext_t there;
  getcontext(&there);
  there.uc_stack.ss_sp = static_cast<std::byte*>(top) - k_known_room;
  there.uc_stack.ss_size = k_known_room;
  there.uc_link = &here;
  auto const bits = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&c));
  makecontext(&there, reinterpret_cast<void (*)()>(on_the_other_side), 2, static_cast<unsigned>(bits >> 32),
              static_cast<unsigned>(bits));
  swapcontext(&here, &there);
}
