// The words that schedulers with moving fibers share: tasks, join counters, and the calling thread's worker.
// src/runtime/fiber/team.hpp has the team.
//
//   fiber          code that runs on a stack of its own, on one worker after the other
//   task           work that a thief may take
//   join counter   the word at which the parts of a join arrive; the last to arrive continues its frame
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace filch::runtime {
class fiber_stack;
}

namespace filch::inline FILCH_ABI::detail {

/// Counts the stolen parts of a join, or the stolen tasks of a scope. The owner adds their number once it has left
/// its stack; each thief takes one off at the end of its part. The one that makes the balance zero is the last, and
/// continues with the frame. All others must not touch the counter any more: the frame may be gone.
struct join_counter {
  std::int32_t balance;             // atomic; zero before any part is public, and after the last has arrived
  unsigned begun_on;                // the worker that made the parts public
  runtime::fiber_stack* suspended;  // the owner's stack; written before it adds, read by the last

  /// Owner, on its stack: have all stolen parts arrived? Then the counter is zero again.
  /// edge fiber-1: acquire, their results.
  [[nodiscard]] bool close_if_arrived(std::int32_t stolen) noexcept {
    if (std::atomic_ref<std::int32_t>(balance).load(std::memory_order_acquire) != -stolen) return false;
    std::atomic_ref<std::int32_t>(balance).store(0, std::memory_order_relaxed);  // relaxed: no thief is left
    return true;
  }
  /// Owner, off its stack, before it adds. relaxed: a hint; a part may arrive meanwhile.
  [[nodiscard]] bool may_be_last(std::int32_t stolen) noexcept { return arrived() == stolen; }
  /// Owner, off its stack. True: it is the last.
  /// edge fiber-1: release, the stack is left; acquire, the results of all parts.
  [[nodiscard]] bool add_stolen(std::int32_t stolen) noexcept {
    return std::atomic_ref<std::int32_t>(balance).fetch_add(stolen, std::memory_order_acq_rel) == -stolen;
  }
  /// Thief, at the end of its part. True: it is the last.
  /// edge fiber-1: release, its result; acquire, the suspended stack, and the results of the others.
  [[nodiscard]] bool arrive() noexcept {
    return std::atomic_ref<std::int32_t>(balance).fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// Owner, which ran a part itself that it had taken as a thief does: it is not the last. edge fiber-1: as arrive().
  void arrive_as_owner() noexcept { std::atomic_ref<std::int32_t>(balance).fetch_sub(1, std::memory_order_acq_rel); }
  /// Owner, before it adds: how many parts have arrived? relaxed: a hint.
  [[nodiscard]] std::int32_t arrived() noexcept {
    return -std::atomic_ref<std::int32_t>(balance).load(std::memory_order_relaxed);
  }
};
static_assert(sizeof(join_counter) == 16);

struct fiber_task {
  /// Runs it in the thief, keeps its result or exception for the owner, and returns where to arrive.
  join_counter& (*run)(fiber_task&) noexcept;
};

/// The state of a thread for the schedulers that move fibers. Other values are tags: each scheduler has a number of
/// its own from k_first_tag on, and its workers bear it. Its forks compare with that constant.
enum class fiber_kind : unsigned char {
  outside,  // no worker, or a worker whose fiber is in another pool's run
  forked,   // outside, in a child of fork(); `outer` is the worker that made the child
  staying,  // joins run in order, here
};
inline constexpr unsigned char k_first_tag = 3;
constexpr fiber_kind fiber_tag(unsigned char number) noexcept {
  return static_cast<fiber_kind>(k_first_tag + number);
}
/// Does a worker bear it?
constexpr bool is_tag(fiber_kind kind) noexcept { return static_cast<unsigned char>(kind) >= k_first_tag; }

/// A thief's request, in `poll`.
inline constexpr std::uint64_t k_requested = 1;

/// The part of a worker that fast paths touch. Each scheduler sees the workers of the other one as outside.
struct alignas(64) fiber_worker {
  // Thieves store k_requested. A scheduler whose forks read it: not zero sends a fork to its slow path.
  std::atomic<std::uint64_t> poll;
  fiber_task** head = nullptr;  // owner: the next free place, where forks push to places
  fiber_kind kind;
  fiber_worker* outer = nullptr;  // the thread's state before it became this worker

  // The same: owner; thieves store fiber_requested() only.
  alignas(64) std::atomic<fiber_task**> split;

  constexpr fiber_worker(fiber_kind k, std::uint64_t initial_poll, fiber_task** initial_split) noexcept
      : poll(initial_poll), kind(k), split(initial_split) {}
};

/// Greater than every place's address: makes an owner's compare fail.
inline fiber_task** fiber_requested() noexcept { return reinterpret_cast<fiber_task**>(~std::uintptr_t{0}); }

/// The calling thread's worker, read anew at every call. Code may be on another thread after a join, so callers keep
/// neither the worker nor the address of the thread-local.
FILCH_INLINE fiber_worker& fiber_self() noexcept {
  fiber_worker* w;
  asm volatile("movq filch_fiber_self@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(w));
  return *w;
}

/// The calling worker's index in the innermost of that scheduler's pools, or k_no_worker.
FILCH_API unsigned fiber_worker_index(fiber_kind) noexcept;
FILCH_API void fiber_poll_slow() noexcept;
/// For loops, on a worker. See filch::scheduler.
FILCH_API bool fiber_somebody_looks(bool is_next_fork_public) noexcept;
FILCH_API bool fiber_pays_to_wake(std::uint64_t ticks) noexcept;
FILCH_API void fiber_ran_alone(std::uint64_t ticks) noexcept;
FILCH_API bool fiber_works_alone() noexcept;

/// As long as it exists, joins of fibers run in order on the thread that made it.
struct fiber_staying : fiber_worker {
  fiber_worker* within;  // the worker whose code runs here: `outer`, or a worker further out
  FILCH_API fiber_staying() noexcept;
  FILCH_API ~fiber_staying();
  fiber_staying(fiber_staying const&) = delete;
  fiber_staying& operator=(fiber_staying const&) = delete;
};

}  // namespace filch::inline FILCH_ABI::detail
