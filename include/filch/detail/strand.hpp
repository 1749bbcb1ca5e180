// What the schedulers whose strands move between threads share: tasks, meetings, and the calling thread's worker.
// src/runtime/strand_team.hpp has the rest of it.
//
//   strand    code that runs on a stack of its own, from a task's begin to its end, on one worker after the other
//   task      what a thief may take
//   meeting   where those who ran the parts of a join arrive; whoever comes last goes on with its frame
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace filch::runtime {
class strand_stack;
}

namespace filch::inline FILCH_ABI::detail {

/// Where the parts of a join, or the tasks of a scope, meet. The owner adds the number of parts that were
/// stolen, once it has left its stack; each thief takes one off at its end. Who makes it zero comes last.
struct strand_meeting {
  std::int32_t balance;              // atomic; zero before any part of it is public
  unsigned begun_on;                 // the worker that made it public; of cactus, read where steals are forced only
  runtime::strand_stack* suspended;  // written before the owner adds, read by who comes last
};

struct strand_task {
  /// Runs it in the thief, keeps its result or exception for the owner, and returns where to arrive.
  strand_meeting& (*run)(strand_task&) noexcept;
};

enum class strand_kind : unsigned char {
  outside,  // no worker, or one whose strand is in another pool's run
  forked,   // outside, in a child of fork(); `outer` is what made it
  staying,  // joins run in order, here
  cactus,
  implicit,
};

/// A thief's request, in `poll`.
inline constexpr std::uint64_t k_asked = 1;

/// The part of a worker that fast paths touch. Each scheduler sees the workers of the other one as outside.
struct alignas(64) strand_worker {
  std::atomic<std::uint64_t> poll;  // implicit: not zero sends a fork to its slow path; thieves store k_asked
  strand_task** head = nullptr;     // cactus, owner: the next free place
  strand_kind kind;
  strand_worker* outer = nullptr;  // what the thread was before it became this worker

  // cactus: owner; thieves store k_raised only
  alignas(64) std::atomic<strand_task**> split;

  constexpr strand_worker(strand_kind k, std::uint64_t initial_poll, strand_task** initial_split) noexcept
      : poll(initial_poll), kind(k), split(initial_split) {}
};

/// Greater than every place's address: makes an owner's compare fail.
inline strand_task** strand_raised() noexcept { return reinterpret_cast<strand_task**>(~std::uintptr_t{0}); }

/// The calling thread's worker, read anew at every call: code that was at one thread before a join may be at
/// another one after it, so nobody may keep it, nor the address of the thread-local.
FILCH_INLINE strand_worker& strand_self() noexcept {
  strand_worker* w;
  asm volatile("movq filch_strand_self@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(w));
  return *w;
}

/// The calling worker's index in the innermost of that scheduler's pools, or k_no_worker.
FILCH_API unsigned strand_worker_index(strand_kind) noexcept;
FILCH_API void strand_poll_slow() noexcept;

/// As long as it exists, joins of strands run in order on the thread that made it.
struct strand_staying : strand_worker {
  strand_worker* within;  // whose code runs here: `outer`, or a worker further out
  FILCH_API strand_staying() noexcept;
  FILCH_API ~strand_staying();
  strand_staying(strand_staying const&) = delete;
  strand_staying& operator=(strand_staying const&) = delete;
};

}  // namespace filch::inline FILCH_ABI::detail
