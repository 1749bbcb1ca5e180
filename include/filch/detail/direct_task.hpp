// The direct task stack: types, and the fast path of a fork. The protocol is argued in
// src/schedulers/direct/protocol.md; the edge ids below are its.
//
//   task         a descriptor: one stealable sibling, stored in an array that its owner uses as a stack
//   private      a task above `public_end`: only its owner touches it, its state is empty
//   public       a task below `public_end`: its state word says who may run it
//   raised       `split` holds k_requested: a thief asks the owner to make more tasks public
#pragma once

#include <filch/detail/task_stack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct direct_task;

/// Runs a stolen task in the thief and leaves its result or its exception in the descriptor.
/// Returns whether there is a result.
using direct_run = bool (*)(direct_task&, void* outcome) noexcept;

struct alignas(k_cache_line) direct_task {
  std::atomic<std::uintptr_t> state;              // public: owner and thieves; private: empty
  direct_run run;                                 // owner, before the task is public
  alignas(16) std::byte payload[k_task_payload];  // owner, then the thief that claimed the task, then the owner
};
static_assert(sizeof(direct_task) == k_cache_line, "a descriptor is a cache line: one transfer a steal");

/// The part of a worker that the fast path touches. Equations: base <= bot <= public_end;
/// bot <= top <= end between the owner's steps; split == public_end or split == k_requested.
struct alignas(k_cache_line) direct_worker {
  // owner
  direct_task* top = nullptr;  // the next free descriptor
  direct_task* end = nullptr;  // the array ends here
  std::uint64_t forks = 0;     // where forks are counted

  // owner; thieves store k_requested only
  alignas(k_cache_line) std::atomic<direct_task*> split;
  // owner
  std::atomic<direct_task*> public_end{nullptr};
  // who holds the task that it points to: see protocol.md
  std::atomic<direct_task*> bot{nullptr};

  explicit constexpr direct_worker(direct_task* initial_split) noexcept : split(initial_split) {}
};

static_assert(sizeof(direct_worker) == 2 * k_cache_line, "what thieves read is apart from what the owner writes");

/// Greater than every descriptor's address: makes the owner's compare fail.
inline direct_task* direct_requested() noexcept { return reinterpret_cast<direct_task*>(~std::uintptr_t{0}); }

/// The calling thread's worker. Outside all pools: a worker that is raised and never changes, so that the
/// same compare that looks for requests finds threads that are no workers.
extern FILCH_API constinit thread_local direct_worker* direct_self __attribute__((tls_model("initial-exec")));

/// State of a public task whose owner takes it while others lie above it; see src/schedulers/direct/protocol.md.
inline constexpr std::uintptr_t k_direct_taken = 5;
/// What an emptied task runs.
FILCH_API bool direct_run_nothing(direct_task&, void*) noexcept;

/// See task_stack.hpp.
struct FILCH_API direct_stack {
  using worker = direct_worker;
  using task = direct_task;

  FILCH_INLINE static worker*& self() noexcept { return direct_self; }
  FILCH_INLINE static bool is_slow(worker const& w, task const* t) noexcept {
    // relaxed: whether t is public is known from this thread's own stores; a thief's is only a request.
    return t < w.split.load(std::memory_order_relaxed);
  }
  /// After a push in a slow fork: makes the task public where its place is, or answers a request.
  static void pushed_slow(worker&, task&) noexcept;
  /// A join whose compare failed: answers a request, takes a public task back, or waits for its thief.
  static join_outcome join_slow(worker&, task&) noexcept;
  /// Runs call(argument) as a worker of the default pool. `call` must not throw.
  static void enter_default(void (*call)(void*), void* argument);
  static constexpr bool k_gets_several_back = false;
  static direct_run take_slow(worker&, task&) noexcept;
  FILCH_INLINE static void emptied(task& t) noexcept {
    // It may be public already: see take_slow().
    if (t.run != &direct_run_nothing) t.run = &direct_run_nothing;
    // relaxed: the owner's own store; thieves change nothing else.
    if (t.state.load(std::memory_order_relaxed) == k_direct_taken) [[unlikely]]
      emptied_slow(t);
  }
  static void emptied_slow(task&) noexcept;
  static task* drop_emptied(worker&, task* base) noexcept;
  static bool is_done(task const&) noexcept;
  static bool is_orphan(worker&) noexcept;
  static void answer(worker&) noexcept;
};

using direct_staying = task_staying<direct_stack>;
template <> FILCH_API direct_staying::task_staying();
template <> FILCH_API direct_staying::~task_staying();

/// The calling worker's index in the innermost of direct's pools, or k_no_worker.
FILCH_API unsigned direct_worker_index() noexcept;
FILCH_API void direct_poll_slow() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
