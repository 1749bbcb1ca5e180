#include "runtime/strand_stack.hpp"

#include <filch/pool_options.hpp>

#include "runtime/exceptions_in_flight.hpp"
#include "runtime/sanitizer.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>

extern "C" void filch_switch_stack(void** from, void* to);
extern "C" void filch_stack_begins();

namespace filch::runtime {
strand_stack::strand_stack() noexcept : tsan_fiber_(this_fiber()) {}

strand_stack::strand_stack(std::size_t bytes, std::size_t lower_bytes, void (*main)(void*), void* argument)
    : memory_(lower_bytes ? os::reservation(bytes, lower_bytes) : os::reservation(bytes)) {
  if (!memory_.valid()) {
    throw setup_error("filch: can't reserve a stack of " + std::to_string(bytes / 1024) + " KiB (" +
                      os::describe_errno(errno) + "): lower FILCH_STACK_SIZE or raise the limit (ulimit -v)");
  }
  guard_ = std::make_unique<os::guarded_stack>(memory_, bytes);
  tsan_fiber_ = new_fiber();
  asan_low_ = memory_.low();
  asan_bytes_ = memory_.bytes();
  // As filch_switch_stack leaves one: r15 r14 r13 r12 rbx rbp, the return address, and an end for frame pointers.
  auto* const top = reinterpret_cast<std::uintptr_t*>(memory_.high());
  std::uintptr_t* const words = top - 8 - 7;
  words[2] = reinterpret_cast<std::uintptr_t>(argument);
  words[3] = reinterpret_cast<std::uintptr_t>(main);
  words[6] = reinterpret_cast<std::uintptr_t>(&filch_stack_begins);
  resume_at_ = words;
}

strand_stack::~strand_stack() {
  if (memory_.valid()) end_fiber(tsan_fiber_);
}

void strand_stack::switch_to(strand_stack& to, unsigned worker) noexcept {
  exceptions_in_flight const mine = take_exceptions();
  to.came_from_ = this;
  if (to.guard_) to.guard_->enter(worker);
  if (guard_) guard_->leave();
  leave_stack(&asan_kept_, to.asan_low_, to.asan_bytes_);
  switch_fiber(to.tsan_fiber_);
  filch_switch_stack(&resume_at_, to.resume_at_);
  arrived();
  put_exceptions(mine);
}

void strand_stack::arrived() noexcept {
  // Address sanitizer tells where one came from: the bounds of a thread's own stack are learnt like that.
  void const* low = nullptr;
  std::size_t bytes = 0;
  arrive_on_stack(asan_kept_, &low, &bytes);
  if (!came_from_->memory_.valid() && low) {
    came_from_->asan_low_ = low;
    came_from_->asan_bytes_ = bytes;
  }
}

namespace {

/// A processor that compares return addresses with its own list of them lets nobody change stacks.
bool has_shadow_stack() noexcept {
  constexpr int k_status = 0x5005;  // ARCH_SHSTK_STATUS
  unsigned long features = 0;
  if (syscall(SYS_arch_prctl, k_status, &features) != 0 || (features & 1) == 0) return false;
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs("filch: shadow stacks are on: cactus and implicit run in order; filch::direct runs in parallel\n",
               stderr);
  });
  return true;
}

}  // namespace

strand_stack* strand_stack_pool::take(std::size_t most) noexcept {
  std::lock_guard const lock(mutex_);
  if (all_.empty() && has_shadow_stack()) return nullptr;
  if (free_.empty() && all_.size() >= most) return nullptr;
  try {
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);
      all_.reserve(all_.size() + 1);
      free_.push_back(
          all_.emplace_back(std::make_unique<strand_stack>(bytes_, lower_bytes_, main_, argument_)).get());
    }
  } catch (std::exception const&) {
    return nullptr;
  }
  strand_stack* const s = free_.back();
  free_.pop_back();
  return s;
}

void strand_stack_pool::give_back(strand_stack* s) noexcept {
  std::lock_guard const lock(mutex_);
  free_.push_back(s);
}

}  // namespace filch::runtime
