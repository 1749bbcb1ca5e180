// filch::direct: the direct task stack (paper: K.-F. Faxen, Efficient work stealing for fine grained
// parallelism, ICPP 2010). Portable C++; code never moves to another thread at a join.
#pragma once

#include <filch/detail/direct_task.hpp>
#include <filch/detail/task_frame.hpp>
#include <filch/pool_options.hpp>
#include <filch/pool_stats.hpp>
#include <filch/scheduler.hpp>

#include <atomic>

namespace filch::inline FILCH_ABI {
namespace detail {
class direct_team;
}

/// Work stealing in which a fork leaves the sibling's closure in a descriptor and a thief takes the oldest.
/// A fork that nobody waits for costs three stores and two compares; joining it costs a compare. A worker
/// that waits for a stolen task runs what that task forks (leapfrogging), so stack use is that of the
/// serial program, and a lock held across a join can meet itself.
struct direct {
  static constexpr std::string_view name = "direct";

  /// See filch::join.
  template <class F, class G>
  FILCH_INLINE static std::pair<detail::result_of<F>, detail::result_of<G>> join(F&& f, G&& g) {
    return detail::task_stack_join<detail::direct_stack>(std::forward<F>(f), std::forward<G>(g));
  }

  /// See filch::spawner.
  using frame = detail::task_frame<detail::direct_stack>;

  class pool;

  /// A load and a compare.
  static bool wanted() noexcept {
    // relaxed: a hint; what it leads to synchronises.
    return detail::direct_self->split.load(std::memory_order_relaxed) == detail::direct_raised() && inside();
  }
  static bool inside() noexcept { return detail::direct_self->end != nullptr; }
  static unsigned worker_index() noexcept { return detail::direct_worker_index(); }
  /// The pool that calls from outside enter; made at the first, never destroyed. If the environment asks
  /// for what can't be had, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers. The thread that calls `run` is one of them while it does, so a pool of one
/// has no threads at all, and small work never leaves the caller.
class direct::pool {
 public:
  /// Starts the threads. Throws setup_error where an option or an environment variable makes no sense, or
  /// the system refuses a thread or the address space; nothing is left behind then.
  FILCH_API explicit pool(pool_options options = {});
  pool(pool const&) = delete;
  pool& operator=(pool const&) = delete;
  /// Waits for runs under way, then stops the threads. Not to be called from a task of this pool.
  FILCH_API ~pool();

  /// Runs f() as a worker of this pool, on a stack of the pool's, and returns what it returns or throws
  /// what it throws. From a worker of this pool: just calls f. Runs from several threads at once share the
  /// workers: a caller that finds them all busy waits until it, or a worker on its behalf, can run f.
  /// Returns on the calling thread; well under a microsecond for an empty f.
  template <class F> std::invoke_result_t<F> run(F&& f) {
    return detail::call_through([this](void (*call)(void*), void* argument) { enter(call, argument); },
                                std::forward<F>(f));
  }

  /// Number of workers, the calling thread's place included.
  FILCH_API unsigned workers() const noexcept;
  /// What the workers counted so far.
  FILCH_API pool_stats stats() const noexcept;

 private:
  friend struct direct;
  friend struct detail::direct_stack;
  struct default_tag {
    explicit default_tag() = default;  // no aggregate: {.workers = 2} must not fit
  };
  explicit pool(default_tag);
  FILCH_API void enter(void (*call)(void*), void* argument);

  std::atomic<detail::direct_team*> team_;  // another one in a child of fork()
};

static_assert(scheduler<direct>);

}  // namespace filch::inline FILCH_ABI
