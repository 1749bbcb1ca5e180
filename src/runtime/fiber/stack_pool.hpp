// The stacks of one fiber team, and the pages that they keep. The team takes a stack for each fiber that begins, and
// trims each stack that a fiber leaves. Protocol: ../fibers.md, "Giving pages back".
#pragma once

#include <filch/pool_options.hpp>

#include "runtime/fiber/stack.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace filch::runtime {

/// Does the processor compare return addresses with its own list of them? Then no stack can be changed. Prints one
/// line, once.
bool has_shadow_stack() noexcept;

/// Stacks of one size and one main, and their unused pages that are kept.
class fiber_stack_pool {
 public:
  fiber_stack_pool(std::size_t bytes, std::size_t lower_bytes, unsigned workers, give_back_policy policy,
                   void (*main)(void*), void* argument) noexcept
      : bytes_(bytes),
        lower_bytes_(lower_bytes),
        main_(main),
        argument_(argument),
        policy_(policy),
        most_with_slack_(workers * k_slack_stacks) {}

  /// A caller past the first is one more worker.
  void has_one_more_worker() noexcept;
  /// Null if the system has no more, or there would be more than so many.
  fiber_stack* take(std::size_t most = ~std::size_t{0}) noexcept;
  void give_back(fiber_stack*) noexcept;
  /// A caller's place has another thread each time. The page faults of the calling thread, if the stack that the
  /// caller will take has to know them; else 0.
  static std::uint64_t faults_before_entry(fiber_stack const* taken) noexcept;
  /// Before the calling thread goes to the stack. `faults` is what trim left there on this thread; before the first
  /// trim its page faults at its entry, or 0 if these are not known.
  static void enter(fiber_stack&, std::uint64_t faults) noexcept;
  /// Returns the pages below those in use to the system if some may be in memory; true if it did. The calling thread
  /// was on the stack last; no thread is on it, and none can resume it. Some stacks keep their next pages, so that
  /// pages in constant use cost nothing: up to k_slack_pages each, and k_kept_pages for each worker in all.
  bool trim(fiber_stack& left, std::uint64_t& faults) noexcept;
  /// The same for a waiting fiber: from `home`, on which the caller is. Nothing is returned if the fiber is on a
  /// stack of the program's own, since nothing tells which pages are in use.
  bool trim_waiting(fiber_stack& left, std::uint64_t& faults, fiber_stack& home, unsigned worker) noexcept;

  struct numbers {
    std::size_t in_use, made;
  };
  numbers count() const noexcept;
  /// Bytes in memory of all stacks. Asks the kernel for each page.
  std::size_t written_bytes() const noexcept;
  static constexpr unsigned k_kept_pages = 32;

 private:
  friend struct fiber_checks;
  static constexpr unsigned k_slack_pages = 8;
  static constexpr std::size_t k_slack_stacks = k_kept_pages / k_slack_pages;  // for each worker
  static constexpr std::int64_t k_between_looks = 2'000'000;                   // nanoseconds

  template <class May> bool trim_if(fiber_stack&, std::uint64_t& faults, May&& may) noexcept;
  static bool is_unused_below(fiber_stack&, std::uint64_t& faults, fiber_stack& home, unsigned worker) noexcept;
  std::byte* end_of_unused(fiber_stack const&) const noexcept;
  static bool may_have_touched(fiber_stack const&, std::byte* end, std::uint64_t& faults) noexcept;
  bool was_deeper(fiber_stack&, std::byte* end) const noexcept;

  std::size_t const bytes_;
  std::size_t const lower_bytes_;
  void (*const main_)(void*);
  void* const argument_;
  give_back_policy const policy_;
  mutable std::mutex mutex_;
  std::size_t most_with_slack_;                    // under mutex_
  std::size_t with_slack_ = 0;                     // under mutex_; the number of those made
  std::vector<std::unique_ptr<fiber_stack>> all_;  // under mutex_
  std::vector<fiber_stack*> free_;                 // under mutex_; has room for all, as the next
  std::vector<fiber_stack*> free_with_slack_;
};

}  // namespace filch::runtime
