// The fast path of filch::channel: a task descriptor, the part of a worker that forks and joins touch, and the
// scheduler's side of task_stack.hpp. Protocol: src/schedulers/channel/protocol.md, "Fork" and "Join".
#pragma once

#include <filch/detail/channel_words.hpp>
#include <filch/detail/task_stack.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Runs a task that was sent away, and leaves its result or its exception in the room. Returns whether it is a
/// result.
using channel_run = bool (*)(channel_task&, void* outcome) noexcept;

/// A descriptor. One worker has it at a time: its owner until it is sent, then the thief that received it, then its
/// owner again.
struct alignas(k_cache_line) channel_task {
  channel_future future;
  channel_run run;
  alignas(16) std::byte payload[k_task_payload];
};
static_assert(sizeof(channel_task) == k_cache_line, "a descriptor is a cache line: one transfer a steal");

/// A detached task, which no join waits for: on the heap, in its worker's list or on its way to another worker.
struct channel_detached {
  channel_detached* next = nullptr;
  void (*run)(channel_detached&) noexcept;  // runs the task, then destroys it

  explicit channel_detached(void (*r)(channel_detached&) noexcept) noexcept : run(r) {}
};

template <class Fn> struct channel_closure : channel_detached {
  Fn f;

  template <class Gn> explicit channel_closure(Gn&& g) : channel_detached(run_and_delete), f(std::forward<Gn>(g)) {}
  void call() noexcept {
    try {
      static_cast<void>(detail::call_with(std::move(f)));
    } catch (...) {
      detail::drop_caught_exception();
      std::terminate();  // in the handler: the line on stderr tells what was thrown
    }
  }
  static void run_and_delete(channel_detached& t) noexcept {
    owned<channel_closure> const self(static_cast<channel_closure*>(&t));
    self->call();
  }
};

/// The part of a worker that the fast path touches.
struct alignas(k_cache_line) channel_worker {
  // owner
  channel_task* top = nullptr;  // the next free descriptor
  channel_task* end = nullptr;  // the array ends here
  std::uint64_t forks = 0;      // number of forks, if FILCH_COUNT_FORKS
  // Calls on the stack that let nothing else run on top of their waits: conservative ones of Parlay; tasks of groups,
  // and parts of either that were stolen.
  unsigned lone_waits = 0;
  unsigned lone_tasks = 0;
  channel_task* lone_from = nullptr;  // while one of them is not 0: what is forked meanwhile begins here

  // owner and thieves
  alignas(k_cache_line) channel_doorbell doorbell;  // of its request channel; place: the tasks below are sent away

  explicit constexpr channel_worker(channel_task* place) noexcept : doorbell(place) {}

  bool waits_alone() const noexcept { return (lone_waits | lone_tasks) != 0; }
  /// One of its counts, before that may become 1.
  unsigned* lone_count(unsigned channel_worker::* count) noexcept {
    if (end == nullptr) return nullptr;  // no worker
    if (!waits_alone()) lone_from = top;
    return &(this->*count);
  }
};
static_assert(sizeof(channel_worker) == 2 * k_cache_line, "words of other threads lie on a cache line of their own");

/// The calling thread's worker. Outside all pools: a worker without room, whose doorbell no thief rings.
extern FILCH_API constinit thread_local channel_worker* channel_self __attribute__((tls_model("initial-exec")));

/// `run` of an emptied task.
FILCH_API bool channel_run_nothing(channel_task&, void*) noexcept;

/// See task_stack.hpp.
struct FILCH_API channel_stack {
  using worker = channel_worker;
  using task = channel_task;

  FILCH_INLINE static worker*& self() noexcept { return channel_self; }
  /// Was t sent away, or may thieves request tasks?
  FILCH_INLINE static bool is_slow(worker const& w, task const* t) noexcept { return w.doorbell.is_above(t); }
  /// After a push while tasks are requested: serves thieves.
  static void pushed_slow(worker&, task&) noexcept;
  /// A join whose compare failed: serves thieves, or waits for the task's future.
  static join_outcome join_slow(worker&, task&) noexcept;
  /// Runs call(argument) as a worker of the default pool. `call` must not throw.
  static void enter_default(void (*call)(void*), void* argument);
  static constexpr bool k_gets_several_back = true;
  static void begins_sync(worker&) noexcept;
  static channel_run take_slow(worker&, task&) noexcept;
  FILCH_INLINE static void emptied(task& t) noexcept {
    // take_slow() has emptied it already, if thieves were served there. A store would race with a thief then.
    if (t.run != &channel_run_nothing) t.run = &channel_run_nothing;
  }
  static task* drop_emptied(worker&, task* base) noexcept;
  static bool is_done(task const&) noexcept;
  static bool is_orphan(worker&) noexcept;
  static void answer(worker&) noexcept;
};

using channel_staying = task_staying<channel_stack>;
template <> FILCH_API channel_staying::task_staying();
template <> FILCH_API channel_staying::~task_staying();

/// There are requests: does a thief wait for tasks that this worker may have?
FILCH_API bool channel_wanted_slow(channel_worker&) noexcept;
/// For loops, on a worker. See filch::scheduler.
FILCH_API bool channel_pays_to_wake(std::uint64_t ticks) noexcept;
FILCH_API void channel_ran_alone(std::uint64_t ticks) noexcept;
FILCH_API bool channel_works_alone() noexcept;
class task_source;
FILCH_API void channel_attach(task_source&);
/// There are requests: answers them, or passes them on.
FILCH_API void channel_poll_slow(channel_worker&) noexcept;
/// Outside all pools, or staying: detached tasks run in place.
FILCH_API bool channel_has_no_list(channel_worker&) noexcept;
FILCH_API void channel_detach(channel_worker&, channel_detached&) noexcept;
FILCH_API void channel_barrier(channel_worker&) noexcept;
/// The calling worker's index in the innermost of channel's pools, or k_no_worker.
FILCH_API unsigned channel_worker_index() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
