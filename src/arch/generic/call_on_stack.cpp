// Calling a function on another stack where there is no assembly for it: by the C library's contexts, which
// cost two system calls a crossing.
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace {

struct crossing {
  void (*call)(void*);
  void* argument;
};

// makecontext passes ints: a pointer travels as two.
void on_the_other_side(unsigned high, unsigned low) {
  auto const bits = (static_cast<std::uint64_t>(high) << 32) | low;
  auto const& c = *reinterpret_cast<crossing const*>(static_cast<std::uintptr_t>(bits));
  c.call(c.argument);
}

// Below `top` there is at least this much: the smallest stack that settings allow.
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
