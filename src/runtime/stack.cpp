// Calls a function on another stack, by the assembly of src/arch, and registers that stack for the overflow handler
// and the sanitizers. Called for workers' own stacks and for calls that run in order.
#include "runtime/stack.hpp"

#include "arch/call_on_stack.hpp"
#include "os/linux/overflow.hpp"
#include "runtime/sanitizer.hpp"

namespace filch::runtime {
namespace {

struct crossing {
  void (*call)(void*);
  void* argument;
};

void on_the_other_side(void* p) {
  auto const& c = *static_cast<crossing*>(p);
  void const* old_low = nullptr;
  std::size_t old_bytes = 0;
  arrive_on_stack(nullptr, &old_low, &old_bytes);
  c.call(c.argument);
  leave_stack(nullptr, old_low, old_bytes);
}

}  // namespace

void call_on(worker_space const& space, unsigned worker, void (*call)(void*), void* argument) {
  known_stack const known(space.low(), space.middle());
  os::guarded_stack here(space.reservation(), space.stack_bytes());
  here.enter(worker);
  crossing c{call, argument};
  void* kept = nullptr;
  leave_stack(&kept, space.low(), space.stack_bytes());
  filch_call_on_stack(space.middle(), on_the_other_side, &c);
  arrive_on_stack(kept, nullptr, nullptr);
  here.leave();
}

}  // namespace filch::runtime
