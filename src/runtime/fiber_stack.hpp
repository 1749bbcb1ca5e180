// Stacks that run by turns: each holds a fiber of a program's execution, which may leave it in the middle and
// be resumed by another thread.
#pragma once

#include <filch/pool_options.hpp>

#include "os/linux/memory.hpp"
#include "os/linux/overflow.hpp"
#include "runtime/frames.hpp"
#include "runtime/places.hpp"
#include "runtime/sanitizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace filch::runtime {

class fiber_stack {
 public:
  /// The calling thread's own stack, as a place to come back to.
  fiber_stack() noexcept;
  /// A new stack on which main(argument) will run at the first switch to it. main never returns.
  /// With lower_bytes, the reservation is a power of two in size, and aligned to it, and begins with so many bytes
  /// for the scheduler. Throws setup_error where the address space can't be had.
  fiber_stack(std::size_t bytes, std::size_t lower_bytes, void (*main)(void*), void* argument);
  fiber_stack(fiber_stack const&) = delete;
  fiber_stack& operator=(fiber_stack const&) = delete;
  ~fiber_stack();

  /// Leaves this stack, on which the caller is, for `to`; returns when somebody switches back to this one,
  /// perhaps on another thread. `worker` is the number that a stack overflow on `to` is reported with.
  /// The C++ runtime's exceptions in flight stay with their stack.
  void switch_to(fiber_stack& to, unsigned worker) noexcept;
  /// For main, first of all.
  void arrived() noexcept;
  /// The same as switch_to(), for a fiber that waits; it answers questions from its home stack meanwhile.
  void wait_on(fiber_stack& home, unsigned worker) noexcept;
  os::reservation const& memory() const noexcept { return memory_; }

  std::uint64_t open_forks = 0;     // the scheduler's: of the fiber on it
  std::uint16_t root = k_any_root;  // of the same: the call that it belongs to

 private:
  friend class fiber_stack_pool;
  os::reservation memory_;
  void* resume_at_ = nullptr;
  void* unused_base_[3] = {};   // a thread's own stack has no base to be told of
  void** base_ = unused_base_;  // where unwinders find what switched here: src/arch/x86_64/switch_stack.S
  void* asan_kept_ = nullptr;
  void const* asan_low_ = nullptr;
  std::size_t asan_bytes_ = 0;
  fiber_stack* came_from_ = nullptr;
  void* tsan_fiber_ = nullptr;
  bool has_slack_ = false;  // fixed by the pool
  // whoever left it, until somebody may resume it
  bool is_asked_ = false;                             // where its frames lead
  frames_lead frames_lead_ = frames_lead::elsewhere;  // the answer
  void const* too_far_at_ = nullptr;  // where it was left when its frames led too far: where they do, lower down, too
  // The holder's, to know what the fiber cannot have touched. Without slack:
  std::byte* untouched_below_ = nullptr;      // when it was last left; null: not known
  std::byte* was_untouched_below_ = nullptr;  // when it was last entered
  std::uint64_t faults_before_ = 0;           // of the thread, at or before the same
  // with slack:
  std::uint64_t looked_at_ = 0;  // when the system was asked for its pages
  std::unique_ptr<os::guarded_stack> guard_;
  std::optional<known_stack> known_;
};

/// Stacks of one size and one main, and the pages of theirs that are kept without being in use.
class fiber_stack_pool {
 public:
  fiber_stack_pool(std::size_t bytes, std::size_t lower_bytes, unsigned workers, give_back_policy policy,
                   void (*main)(void*), void* argument) noexcept
      : bytes_(bytes),
        lower_bytes_(lower_bytes),
        main_(main),
        argument_(argument),
        policy_(policy),
        most_with_slack_(workers * std::size_t{k_kept_pages / k_slack_pages}) {}

  /// Null where no more can be had, or there would be more than so many.
  fiber_stack* take(std::size_t most = ~std::size_t{0}) noexcept;
  void give_back(fiber_stack*) noexcept;
  /// Before the calling thread goes to the stack. `faults` is what trim left there on this thread; 0 before the
  /// first.
  static void enter(fiber_stack&, std::uint64_t faults) noexcept;
  /// Returns the pages below those in use to the system, of a stack that nobody is on and nobody can resume, where
  /// some may be in memory; true if it did. For the thread that was on it last. Some stacks keep their next pages, so
  /// that those which are used over and over cost nothing: up to k_slack_pages each, and k_kept_pages for each worker
  /// in all.
  bool trim(fiber_stack& left, std::uint64_t& faults) noexcept;
  /// The same where the fiber waits: from `home`, on which the caller is. Nothing is returned where the fiber is on
  /// a stack of the program's own, since nothing tells which pages are in use.
  bool trim_waiting(fiber_stack& left, std::uint64_t& faults, fiber_stack& home, unsigned worker) noexcept;

  struct numbers {
    std::size_t in_use, made;
  };
  numbers count() const noexcept;
  /// Of all stacks; asks the kernel for each page.
  std::size_t written_bytes() const noexcept;
  static constexpr unsigned k_kept_pages = 32;

 private:
  static constexpr unsigned k_slack_pages = 8;
  static constexpr std::uint64_t k_cycles_between_looks = 5'000'000;  // some milliseconds

  template <class May> bool trim_if(fiber_stack&, std::uint64_t& faults, May&& may) noexcept;
  static bool is_unused_below(fiber_stack&, fiber_stack& home, unsigned worker) noexcept;
  std::byte* end_of_unused(fiber_stack const&) const noexcept;
  static bool may_have_touched(fiber_stack const&, std::byte* end, std::uint64_t& faults) noexcept;
  bool was_deeper(fiber_stack&, std::byte* end) const noexcept;

  std::size_t const bytes_;
  std::size_t const lower_bytes_;
  void (*const main_)(void*);
  void* const argument_;
  give_back_policy const policy_;
  std::size_t const most_with_slack_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<fiber_stack>> all_;  // under mutex_
  std::vector<fiber_stack*> free_;                 // under mutex_; has room for all, as the next
  std::vector<fiber_stack*> free_with_slack_;
};

}  // namespace filch::runtime
