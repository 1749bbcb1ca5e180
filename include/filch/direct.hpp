// filch::direct, and its side of the fast path (direct_stack). Users name filch::direct; filch::join calls it.
// Protocol: src/schedulers/direct/protocol.md. Paper: K.-F. Faxen, Efficient work stealing for fine grained
// parallelism, ICPP 2010. Portable C++; code never moves to another thread at a join.
#pragma once

#if defined(FILCH_RACES)
#include <filch/detail/race_scheduler.hpp>

namespace filch::inline FILCH_ABI {

/// See docs/races.md.
struct direct : detail::race_scheduler<direct, 0> {
  static constexpr std::string_view name = "direct";
  using pool = detail::race_pool<0, pool_options, pool_stats>;
};
template <> struct detail::staying_of_scheduler<direct> {
  using type = race_staying;
};

}  // namespace filch::inline FILCH_ABI
#else

#include <filch/detail/direct_words.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/detail/task_frame.hpp>
#include <filch/scheduler.hpp>

#if defined(direct)
#error "filch: a header before this one, <sys/dir.h> perhaps, defines direct as a macro: <dirent.h> does not"
#endif

namespace filch::inline FILCH_ABI {
namespace detail {
class direct_team;
extern template class FILCH_API pool_of<direct_team>;

/// The function of an emptied task.
FILCH_API bool direct_run_nothing(direct_task&, void*) noexcept;

/// See task_stack.hpp, which says what each of these is for. The slow paths are in src/schedulers/direct.
struct FILCH_API direct_stack {
  using worker = direct_worker;
  using task = direct_task;
  static constexpr bool k_gets_several_back = false;

  FILCH_INLINE static worker*& self() noexcept { return direct_self; }
  FILCH_INLINE static bool is_slow(worker const& w, task const* t) noexcept { return w.split.is_above(t); }
  static void pushed_slow(worker&, task&) noexcept;
  static join_outcome join_slow(worker&, task&) noexcept;
  static void enter_default(void (*call)(void*), void* argument);
  static void begins_sync(worker&) noexcept;
  static direct_run take_slow(worker&, task&) noexcept;
  FILCH_INLINE static void emptied(task& t) noexcept {
    // It may be public already: see take_slow().
    if (t.run != &direct_run_nothing) t.run = &direct_run_nothing;
    if (t.state.is_taken()) [[unlikely]]
      emptied_slow(t);
  }
  static void emptied_slow(task&) noexcept;
  static task* drop_emptied(worker&, task* base) noexcept;
  static bool is_done(task const&) noexcept;
  static bool is_orphan(worker&) noexcept;
  static void answer(worker&) noexcept;
};

using direct_staying = task_staying<direct_stack>;
extern template void task_frame<direct_stack>::drain() noexcept;
extern template void task_frame<direct_stack>::reclaim() noexcept;
template <> FILCH_API direct_staying::task_staying();
template <> FILCH_API direct_staying::~task_staying();

/// The calling worker's index in the innermost of direct's pools, or k_no_worker.
FILCH_API unsigned direct_worker_index() noexcept;
FILCH_API void direct_poll_slow() noexcept;
FILCH_API void direct_attach(task_source&);
/// For loops, on a worker. See filch::scheduler.
FILCH_API bool direct_pays_to_wake(std::uint64_t ticks) noexcept;
FILCH_API void direct_ran_alone(std::uint64_t ticks) noexcept;
FILCH_API bool direct_works_alone() noexcept;
}  // namespace detail

/// Work stealing in which a fork leaves the sibling's closure in a descriptor and a thief takes the oldest.
/// A fork costs three stores and two compares while no thief waits for tasks; its join costs a store and a compare. A
/// worker that waits for a stolen task runs what that task forks (leapfrogging), so stack use is that of the serial
/// program, and a lock held across a join can deadlock with itself.
struct direct {
  /// See filch::scheduler.
  static constexpr std::string_view name = "direct";

  /// See filch::join.
  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
    return detail::task_stack_join<detail::direct_stack>(std::forward<Fn>(f), std::forward<Gn>(g));
  }

  /// See filch::spawner.
  using frame = detail::task_frame<detail::direct_stack>;

  class pool;

  /// See filch::scheduler.
  static bool wanted() noexcept { return detail::direct_self->split.is_requested() && inside(); }
  /// For loops. See filch::scheduler.
  static bool pays_to_wake(std::uint64_t ticks) noexcept { return detail::direct_pays_to_wake(ticks); }
  static void ran_alone(std::uint64_t ticks) noexcept { detail::direct_ran_alone(ticks); }
  static bool works_alone() noexcept { return detail::direct_works_alone(); }
  /// See filch::scheduler.
  static unsigned* lone_waits() noexcept { return inside() ? &detail::direct_self->lone_waits : nullptr; }
  /// For task groups. See filch::scheduler.
  static void attach(detail::task_source& source) { detail::direct_attach(source); }
  /// See filch::poll.
  static void poll() noexcept {
    if (wanted()) [[unlikely]]
      detail::direct_poll_slow();
  }
  /// See filch::scheduler. Does not throw; a load or two.
  static bool inside() noexcept { return detail::direct_self->end != nullptr; }
  /// See filch::scheduler. Does not throw; a load or two.
  static unsigned worker_index() noexcept { return detail::direct_worker_index(); }
  /// The pool that calls from outside enter; made at the first, never destroyed. If the environment asks
  /// for what can't be had, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers: see detail::pool_of. `run` calls its function on the calling thread, which takes tasks
/// of this call only while it waits.
class direct::pool : public detail::pool_of<detail::direct_team> {
 public:
  using pool_of::pool_of;
};

template <> struct detail::staying_of_scheduler<direct> {
  using type = direct_staying;
};

static_assert(scheduler<direct>);

}  // namespace filch::inline FILCH_ABI
#endif
