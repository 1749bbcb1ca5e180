// filch::channel: work stealing by messages (paper: A. Prell, T. Rauber, Channel-based Work Stealing, 2014). Portable
// C++; code never moves to another thread at a join.
#pragma once

#include <filch/detail/channel_task.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/detail/task_frame.hpp>
#include <filch/scheduler.hpp>

namespace filch::inline FILCH_ABI {
namespace detail {
class channel_team;
extern template class FILCH_API pool_of<channel_team>;
}  // namespace detail

/// Work stealing in which workers share channels only, and who sleeps: a worker's tasks are its own, and it sends
/// some to a thief that asks, at a fork, a join or a poll. A fork that nobody waits for costs what it does under
/// `direct`. A task that runs long without any of the three should call filch::poll, or nobody gets what was forked
/// before it. A worker that waits for a task that it sent away runs others of the same call, so a lock held across a
/// join can meet itself.
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

  /// See filch::scheduler; costs some more while somebody asks.
  static bool wanted() noexcept {
    detail::channel_worker& w = *detail::channel_self;
    return w.doorbell.has_rung() && detail::channel_wanted_slow(w);
  }
  /// See filch::poll.
  static void poll() noexcept {
    detail::channel_worker& w = *detail::channel_self;
    if (w.doorbell.has_rung()) detail::channel_poll_slow(w);
  }

  /// Runs f() some time before the next barrier() of the same call returns, or the pool ends, perhaps on another
  /// worker; nobody waits for it alone. A call of pool.run does not wait for what it detached: the pool's threads run
  /// that later; in a pool of one worker, which has none, the call runs it before it returns. f is moved or copied
  /// away, and must not throw: the process ends if it does. The default pool never ends: at the end of the process,
  /// detached tasks that no barrier waited for are lost. Outside all pools, and in filch::stay, f runs here. Costs an
  /// allocation; throws std::bad_alloc if that fails.
  template <class Fn> static void detach(Fn&& f) {
    auto task = std::make_unique<detail::channel_closure<std::decay_t<Fn>>>(std::forward<Fn>(f));
    detail::channel_worker& w = *detail::channel_self;
    if (w.top == w.end && detail::channel_has_no_list(w)) {
      task->call();
    } else {
      detail::channel_detach(w, *task.release());
    }
  }
  /// The full task barrier: runs tasks until none is left of this call of pool.run, detached or not. Other callers
  /// may be inside: their tasks are not waited for. For the function that was handed to pool.run, outside of joins,
  /// scopes and detached tasks: whatever waits for the caller would be waited for. Not in another pool's run inside
  /// it, on whose stack tasks would run. Continues on the calling thread. Costs a message of each worker that had
  /// detached tasks. Outside all pools, and in filch::stay, it does nothing.
  static void barrier() noexcept {
    if (detail::channel_self->top != detail::channel_self->end) detail::channel_barrier(*detail::channel_self);
  }

  /// See filch::scheduler. Does not throw; a load or two.
  static bool inside() noexcept { return detail::channel_self->end != nullptr; }
  /// See filch::scheduler. Does not throw; a load or two.
  static unsigned worker_index() noexcept { return detail::channel_worker_index(); }
  /// The pool that calls from outside enter; made at the first, never destroyed. If the environment asks
  /// for what can't be had, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers: see detail::pool_of. What `run` is given runs on the calling thread, which takes tasks
/// of this call alone while it waits.
class channel::pool : public detail::pool_of<detail::channel_team> {
 public:
  using pool_of::pool_of;
};

static_assert(scheduler<channel>);

}  // namespace filch::inline FILCH_ABI
