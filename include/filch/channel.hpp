// filch::channel: work stealing by messages (paper: A. Prell, T. Rauber, Channel-based Work Stealing, 2014). Portable
// C++; code never moves to another thread at a join. The scheduler is in src/schedulers/channel.
#pragma once

#if defined(FILCH_RACES)
#include <filch/channel_options.hpp>
#include <filch/channel_stats.hpp>
#include <filch/detail/race_scheduler.hpp>

namespace filch::inline FILCH_ABI {

/// See docs/races.md.
struct channel : detail::race_scheduler<channel, 1> {
  static constexpr std::string_view name = "channel";
  using pool = detail::race_pool<1, channel_options, channel_stats>;
  template <class Fn> static void detach(Fn&& f) {
    using closure = std::decay_t<Fn>;
    static_assert(std::is_invocable_v<closure>, "filch::channel::detach: a task is called without arguments");
    detail::owned<closure> task(new closure(std::forward<Fn>(f)));
    detail::race_detach(&frame::run<closure>, task.release());
  }
  static void barrier() noexcept { detail::race_barrier(); }
};
template <> struct detail::staying_of_scheduler<channel> {
  using type = race_staying;
};

}  // namespace filch::inline FILCH_ABI
#else

#include <filch/channel_options.hpp>
#include <filch/channel_stats.hpp>
#include <filch/detail/channel_task.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/detail/task_frame.hpp>
#include <filch/scheduler.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {
class channel_team;
template <> struct options_of_team<channel_team> {
  using type = channel_options;
};
template <> struct stats_of_team<channel_team> {
  using type = channel_stats;
};
extern template class FILCH_API pool_of<channel_team>;
extern template void task_frame<channel_stack>::drain() noexcept;
extern template void task_frame<channel_stack>::reclaim() noexcept;
}  // namespace detail

/// Work stealing by messages. Each worker's tasks are its own. A thief sends a steal request, and the victim answers
/// with tasks at its next fork, join or poll.
///   * Cost: a fork costs what it does under `direct`, while no thief requests tasks.
///   * A task that runs long without a fork, a join or a poll keeps what was forked before it. It should call
///     filch::poll.
///   * Workers share channels only, and the words by which sleepers are woken.
///   * A worker that waits for a task that it sent away runs other tasks of the same call. A lock that is held
///     across a join can deadlock with itself.
struct channel {
  /// See filch::scheduler.
  static constexpr std::string_view name = "channel";

  /// See filch::join.
  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
    return detail::task_stack_join<detail::channel_stack>(std::forward<Fn>(f), std::forward<Gn>(g));
  }

  /// See filch::spawner.
  using frame = detail::task_frame<detail::channel_stack>;

  class pool;

  /// See filch::scheduler. Costs a look at the requests, if there are any.
  static bool wanted() noexcept {
    detail::channel_worker& w = *detail::channel_self;
    return w.doorbell.is_requested() && detail::channel_wanted_slow(w);
  }
  /// For loops: wanted() is a call while a request waits.
  static constexpr bool k_looks_are_dear = true;
  /// For loops. See filch::scheduler.
  static bool pays_to_wake(std::uint64_t ticks) noexcept { return detail::channel_pays_to_wake(ticks); }
  static void ran_alone(std::uint64_t ticks) noexcept { detail::channel_ran_alone(ticks); }
  static bool works_alone() noexcept { return detail::channel_works_alone(); }
  /// For task groups: tasks of one call run on top of each other's waits here, and one might wait for the other.
  static unsigned* group_tasks() noexcept {
    return detail::channel_self->lone_count(&detail::channel_worker::lone_tasks);
  }
  /// See filch::scheduler.
  static unsigned* lone_waits() noexcept {
    return detail::channel_self->lone_count(&detail::channel_worker::lone_waits);
  }
  /// For task groups. See filch::scheduler.
  static void attach(detail::task_source& source) { detail::channel_attach(source); }
  /// See filch::poll.
  static void poll() noexcept {
    detail::channel_worker& w = *detail::channel_self;
    if (w.doorbell.is_requested()) detail::channel_poll_slow(w);
  }

  /// Runs f() at some time before the next barrier() of the same call returns, or the pool ends, perhaps on another
  /// worker. No join waits for it.
  ///   * pool.run does not wait for what its call detached: the pool's threads run that later. A pool of one worker
  ///     has no threads: there the call runs it before it returns.
  ///   * Outside all pools, in filch::stay, and in a call past 16 at once, f runs at once, on the calling thread.
  ///   * In a task of a filch::task_group that a helper runs, f is of no call: no barrier waits for it.
  ///   * The default pool never ends: detached tasks that no barrier waited for are lost at the end of the process.
  /// f is moved or copied away. It must not throw: the process ends if it does. Costs an allocation; throws
  /// std::bad_alloc if that fails.
  template <class Fn> static void detach(Fn&& f) {
    static_assert(std::is_invocable_v<std::decay_t<Fn>>,
                  "filch::channel::detach: a task is called without arguments");
    using closure = detail::channel_closure<std::decay_t<Fn>>;
    detail::owned<closure> task(new closure(std::forward<Fn>(f)));
    detail::channel_worker& w = *detail::channel_self;
    if (w.top == w.end && detail::channel_has_no_list(w)) {
      task->call();
    } else {
      detail::channel_detach(w, *task.release());
    }
  }
  /// The full task barrier: runs tasks until no task of this call of pool.run is left, detached or not. Tasks of
  /// other callers are not waited for. Continues on the calling thread. Outside all pools, in filch::stay, and in a
  /// task that is of no call, does nothing.
  ///   * Call it in the function that was handed to pool.run, outside of joins, scopes and detached tasks.
  ///     Elsewhere it waits for tasks that wait for its caller.
  ///   * Do not call it in another pool's run inside that function: tasks would run on the stack of that pool.
  /// Costs two atomic changes each time that another worker gets detached tasks.
  static void barrier() noexcept {
    if (detail::channel_self->top != detail::channel_self->end) detail::channel_barrier(*detail::channel_self);
  }

  /// See filch::scheduler. Does not throw; a load or two.
  static bool inside() noexcept { return detail::channel_self->end != nullptr; }
  /// See filch::scheduler. Does not throw; a load or two.
  static unsigned worker_index() noexcept { return detail::channel_worker_index(); }
  /// The pool that calls from outside all pools enter. The first such call makes it, and it is never destroyed. If
  /// the environment has a setting that cannot be met, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers: see detail::pool_of. `run` calls its function on the calling thread, which takes tasks
/// of this call only while it waits.
class channel::pool : public detail::pool_of<detail::channel_team> {
 public:
  using pool_of::pool_of;
};

template <> struct detail::staying_of_scheduler<channel> {
  using type = channel_staying;
};

static_assert(scheduler<channel>);

}  // namespace filch::inline FILCH_ABI
#endif
