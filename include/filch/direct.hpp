// filch::direct: the direct task stack (paper: K.-F. Faxen, Efficient work stealing for fine grained
// parallelism, ICPP 2010). Portable C++; code never moves to another thread at a join.
#pragma once

#include <filch/detail/direct_task.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/detail/task_frame.hpp>
#include <filch/scheduler.hpp>

#include <atomic>

#if defined(direct)
#error "filch: a header before this one, <sys/dir.h> perhaps, defines direct as a macro: <dirent.h> does not"
#endif

namespace filch::inline FILCH_ABI {
namespace detail {
class direct_team;
extern template class FILCH_API pool_of<direct_team>;
}  // namespace detail

/// Work stealing in which a fork leaves the sibling's closure in a descriptor and a thief takes the oldest.
/// A fork that nobody waits for costs three stores and two compares; joining it costs a store and a
/// compare. A worker that waits for a stolen task runs what that task forks (leapfrogging), so stack use is that of
/// the serial program, and a lock held across a join can meet itself.
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
  static bool wanted() noexcept {
    // relaxed: a hint; what it leads to synchronises.
    return detail::direct_self->split.load(std::memory_order_relaxed) == detail::direct_requested() && inside();
  }
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

/// A fixed number of workers: see detail::pool_of. What `run` is given runs on the calling thread, or, while another
/// thread is in a run of this pool, perhaps on a worker with nothing to do.
class direct::pool : public detail::pool_of<detail::direct_team> {
 public:
  using pool_of::pool_of;
};

static_assert(scheduler<direct>);

}  // namespace filch::inline FILCH_ABI
