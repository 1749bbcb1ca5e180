// A stack of a fiber: the fiber may leave it in the middle, and another thread may resume it. team.cpp switches
// stacks, stack_pool.hpp makes and trims them. Assembly: src/arch/x86_64/switch_stack.S. Protocol: ../fibers.md.
#pragma once

#include "os/linux/memory.hpp"
#include "os/linux/overflow.hpp"
#include "runtime/frames.hpp"
#include "runtime/places.hpp"
#include "runtime/sanitizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace filch::runtime {

class alignas(64) fiber_stack {
 public:
  /// A worker's own stack, to which switches return.
  fiber_stack() noexcept = default;
  /// A new stack on which main(argument) will run at the first switch to it. main never returns.
  /// With lower_bytes, the reservation is a power of two in size, and aligned to it, and begins with so many bytes
  /// for the scheduler. Throws setup_error if there is no address space.
  fiber_stack(std::size_t bytes, std::size_t lower_bytes, void (*main)(void*), void* argument);
  fiber_stack(fiber_stack const&) = delete;
  fiber_stack& operator=(fiber_stack const&) = delete;
  ~fiber_stack();

  /// A worker's own stack is the calling thread's from now on. Called before the first switch from it.
  void begin_on_thread() noexcept;
  /// Leaves this stack, on which the caller is, for `to`; returns when a worker switches back to this one, perhaps on
  /// another thread. `worker` is the number that a stack overflow on `to` is reported with.
  /// The C++ runtime's exceptions in flight stay with their stack.
  void switch_to(fiber_stack& to, unsigned worker) noexcept;
  /// The first call of main.
  void arrived() noexcept;
  /// The same as switch_to(), for a fiber that waits; it answers questions from its home stack meanwhile.
  void wait_on(fiber_stack& home, unsigned worker) noexcept;
  os::reservation const& memory() const noexcept { return memory_; }
  /// Pages from the stack pointer to the top, while no thread is on the stack. 0: the fiber is on another stack.
  std::size_t pages_in_use() const noexcept;

  char const* name = nullptr;       // for hooks; null: they were not called with it yet
  std::uint64_t open_forks = 0;     // the scheduler's count for the fiber on it
  std::uint16_t root = k_any_root;  // the call that the fiber belongs to

 private:
  friend class fiber_stack_pool;
  friend struct fiber_checks;
  os::reservation memory_;
  void* resume_at_ = nullptr;
  void* unused_base_[3] = {};   // a thread's own stack has no base
  void** base_ = unused_base_;  // where unwinders find what switched here: src/arch/x86_64/switch_stack.S
  void* asan_kept_ = nullptr;
  void const* asan_low_ = nullptr;
  std::size_t asan_bytes_ = 0;
  fiber_stack* came_from_ = nullptr;
  void* tsan_fiber_ = nullptr;
  bool has_slack_ = false;  // fixed by the pool
  // the worker that left it, until another one may resume it
  bool is_asked_ = false;                             // where its frames lead
  frames_lead frames_lead_ = frames_lead::elsewhere;  // the answer
  void const* too_far_at_ = nullptr;  // stack pointer of the last walk that was too far; lower ones are too far, too
  // The holder's: which pages the fiber cannot have touched. Without slack:
  std::byte* untouched_below_ = nullptr;      // when it was last left; null: not known
  std::byte* was_untouched_below_ = nullptr;  // when it was last entered
  std::uint64_t faults_before_ = 0;           // the thread's page faults, at or before the same time
  // with slack:
  std::int64_t looked_at_ = 0;  // when the system was asked for its pages
  std::unique_ptr<os::guarded_stack> guard_;
  std::optional<known_stack> known_;
};

}  // namespace filch::runtime
