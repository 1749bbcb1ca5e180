// Makes a stack of a fiber, and switches between stacks. team.cpp and stack_pool.cpp of this folder call it.
// Protocol:
// ../fibers.md, "The way back".
#include "runtime/fiber/stack.hpp"

#include <filch/pool_options.hpp>

#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber/hooks.hpp"
#include "runtime/sanitizer.hpp"

#include <cerrno>
#include <cstdint>
#include <string>

extern "C" void filch_switch_stack(void** from, void* to, void** base);
extern "C" void filch_stack_begins();

namespace filch::runtime {

void fiber_stack::begin_on_thread() noexcept { tsan_fiber_ = this_fiber(); }

fiber_stack::fiber_stack(std::size_t bytes, std::size_t lower_bytes, void (*main)(void*), void* argument)
    : memory_(lower_bytes ? os::reservation(bytes, lower_bytes) : os::reservation(bytes)) {
  if (!memory_.valid()) {
    throw setup_error("filch: can't reserve a stack of " + std::to_string(bytes / 1024) + " KiB (" +
                      os::describe_errno(errno) + "): lower FILCH_STACK_SIZE or raise the limit (ulimit -v)");
  }
  memory_.use_small_pages();
  guard_ = std::make_unique<os::guarded_stack>(memory_, bytes);
  known_.emplace(memory_.low(), memory_.high());
  tsan_fiber_ = new_fiber();
  asan_low_ = memory_.low();
  asan_bytes_ = memory_.bytes();
  // As filch_switch_stack leaves one: r15 r14 r13 r12 rbx rbp, and the return address. Above it the base.
  auto* const top = reinterpret_cast<std::uintptr_t*>(memory_.high());
  std::uintptr_t* const words = top - 8 - 7;
  words[2] = reinterpret_cast<std::uintptr_t>(argument);
  words[3] = reinterpret_cast<std::uintptr_t>(main);
  base_ = reinterpret_cast<void**>(words + 8);
  words[5] = reinterpret_cast<std::uintptr_t>(base_);
  words[6] = reinterpret_cast<std::uintptr_t>(&filch_stack_begins);
  resume_at_ = words;
  untouched_below_ = memory_.high() - os::page_size();
}

fiber_stack::~fiber_stack() {
  if (!memory_.valid()) return;
  give_fiber_name_back(name);
  end_fiber(tsan_fiber_);
  // Those below have returned. (All of it would be slow: shadow memory of stacks that were never written.)
  auto* const from = static_cast<std::byte*>(resume_at_);
  forget_frames(from, static_cast<std::size_t>(memory_.high() - from));
}

void fiber_stack::switch_to(fiber_stack& to, unsigned worker) noexcept {
  exceptions_in_flight const mine = take_exceptions();
  to.came_from_ = this;
  if (to.guard_) to.guard_->enter(worker);
  if (guard_) guard_->leave();
  leave_stack(&asan_kept_, to.asan_low_, to.asan_bytes_);
  switch_fiber(to.tsan_fiber_);
  filch_switch_stack(&resume_at_, to.resume_at_, to.base_);
  arrived();
  put_exceptions(mine);
}

std::size_t fiber_stack::pages_in_use() const noexcept {
  auto const* const from = static_cast<std::byte const*>(resume_at_);
  if (from < memory_.low() || from >= memory_.high()) return 0;
  return (static_cast<std::size_t>(memory_.high() - from) + os::page_size() - 1) / os::page_size();
}

void fiber_stack::arrived() noexcept {
  // Address sanitizer tells where one came from: the bounds of a thread's own stack are learnt like that.
  void const* low = nullptr;
  std::size_t bytes = 0;
  arrive_on_stack(asan_kept_, &low, &bytes);
  if (!came_from_->memory_.valid() && low) {
    came_from_->asan_low_ = low;
    came_from_->asan_bytes_ = bytes;
  }
}

void fiber_stack::wait_on(fiber_stack& home, unsigned worker) noexcept {
  switch_to(home, worker);
  while (is_asked_) {
    is_asked_ = false;
    frames_lead_ = where_frames_lead(memory_.low(), memory_.high());
    switch_to(home, worker);
  }
}

}  // namespace filch::runtime
