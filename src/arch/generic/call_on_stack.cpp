// filch_call_on_stack (src/arch/x86_64/call_on_stack.S) for processors that have no assembly here. It uses the
// contexts of the C library, which cost two system calls each way.
#include "arch/call_on_stack.hpp"

#include <ucontext.h>

#include <cstddef>

namespace {

struct crossing {
  void (*call)(void*);
  void* argument;
};

/// makecontext passes ints only: what the other side calls.
constinit thread_local crossing const* crosses = nullptr;

void on_the_other_side() {
  crossing const c = *crosses;
  c.call(c.argument);
}

// Bytes that exist below `top` in any case: the smallest stack that the settings allow.
constexpr std::size_t k_known_room = 48 * 1024;

}  // namespace

void filch_call_on_stack(void* top, void (*call)(void*), void* argument) {
  crossing const c{call, argument};
  ucontext_t here;
  ucontext_t there;
  getcontext(&there);
  there.uc_stack.ss_sp = static_cast<std::byte*>(top) - k_known_room;
  there.uc_stack.ss_size = k_known_room;
  there.uc_link = &here;
  crosses = &c;
  makecontext(&there, on_the_other_side, 0);
  swapcontext(&here, &there);
}
