// filch::implicit: the call stack is the deque. Linux on x86-64, GCC or Clang. Code may move to another thread at a
// join. The fast path is in detail/implicit/join.hpp, the rest in src/schedulers/implicit.
#pragma once

#if defined(FILCH_RACES)
#include <filch/detail/race_scheduler.hpp>
#include <filch/implicit_options.hpp>
#include <filch/implicit_stats.hpp>

namespace filch::inline FILCH_ABI {

/// See docs/races.md.
struct implicit : detail::race_scheduler<implicit, 3> {
  static constexpr std::string_view name = "implicit";
  using pool = detail::race_pool<3, implicit_options, implicit_stats>;
};
template <> struct detail::staying_of_scheduler<implicit> {
  using type = race_staying;
};

}  // namespace filch::inline FILCH_ABI
#else

#include <filch/detail/implicit/frame.hpp>
#include <filch/detail/implicit/join.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/implicit_options.hpp>
#include <filch/implicit_stats.hpp>
#include <filch/scheduler.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI {
namespace detail {
class implicit_team;
template <> struct options_of_team<implicit_team> {
  using type = implicit_options;
};
template <> struct stats_of_team<implicit_team> {
  using type = implicit_stats;
};
extern template class FILCH_API pool_of<implicit_team>;
FILCH_API void implicit_attach(task_source&);
}  // namespace detail

/// Work stealing in which a fork is a call and a load of one word. Nothing is pushed: a victim that has a request
/// finds continuations on its own stack, through the exception tables. A join that waits for a thief gives up its
/// stack and keeps its worker. Linux on x86-64, GCC or Clang.
///
/// Code after a join may run on another thread than the code before it (docs/migration.md).
///
/// Cost where nothing is stolen: a call, two loads and a compare, and no store beyond what calls and larger closures
/// need. A spawn costs an allocation.
///
/// Interrupts: a worker that has not served a thief for some 50 microseconds gets SIGURG. Some waits in the system
/// end early then (docs/signals.md). If the signal is blocked, the thief waits for the next fork.
///
/// Papers: V. Kumar, D. Frampton, S. Blackburn, D. Grove, O. Tardieu, Work-stealing without the baggage, OOPSLA 2012;
/// V. Kumar, S. Blackburn, D. Grove, Friendly barriers: efficient work-stealing with return barriers, VEE 2014; for
/// the stacks C. Yang, J. Mellor-Crummey, A practical solution to the cactus stack problem, SPAA 2016.
struct implicit {
  /// See filch::scheduler.
  static constexpr std::string_view name = "implicit";

  /// See filch::join.
  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
    if constexpr (detail::k_joins_are_functions && detail::travels_by_value<Fn> && detail::travels_by_value<Gn>) {
      return detail::implicit_fork_join<Fn, Gn>(std::forward<Fn>(f), std::forward<Gn>(g));
    } else if constexpr (detail::k_joins_are_inlined_late && detail::travels_by_value<Fn> &&
                         detail::travels_by_value<Gn>) {
      auto* late = &detail::implicit_fork_join_here<Fn, Gn>;
      return late(f, g);
    } else {
      return detail::implicit_fork_join_here<Fn, Gn>(f, g);
    }
  }

  /// See filch::spawner.
  using frame = detail::implicit_frame;

  class pool;

  /// See filch::scheduler.
  static bool wanted() noexcept {
    auto const& w = detail::fiber_self();
    // relaxed: a hint. The steal that follows synchronises.
    return w.poll.load(std::memory_order_relaxed) == detail::k_requested && w.kind == detail::k_implicit_tag;
  }
  /// For loops. See filch::scheduler.
  static bool somebody_looks() noexcept {
    return detail::fiber_self().kind == detail::k_implicit_tag && detail::fiber_somebody_looks(false);
  }
  static bool pays_to_wake(std::uint64_t ticks) noexcept { return detail::fiber_pays_to_wake(ticks); }
  static void ran_alone(std::uint64_t ticks) noexcept { detail::fiber_ran_alone(ticks); }
  static bool works_alone() noexcept {
    return detail::fiber_self().kind != detail::k_implicit_tag || detail::fiber_works_alone();
  }
  /// For task groups. See filch::scheduler.
  static void attach(detail::task_source& source) { detail::implicit_attach(source); }
  /// See filch::poll.
  static void poll() noexcept {
    if (wanted()) [[unlikely]]
      detail::fiber_poll_slow();
  }
  /// See filch::scheduler. Does not throw; a load or two.
  static bool inside() noexcept {
    auto const kind = detail::fiber_self().kind;
    return kind == detail::k_implicit_tag || kind == detail::fiber_kind::staying;
  }
  /// See filch::scheduler. Does not throw; a load or two.
  static unsigned worker_index() noexcept { return detail::fiber_worker_index(detail::k_implicit_tag); }
  /// The pool that calls from outside all pools enter. The first such call makes it, and it is never destroyed. If
  /// the environment has a setting that cannot be met, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers: see detail::pool_of. `run` calls its function on the calling thread. The function may
/// change threads at its joins. Unless the caller is a worker of this pool, run returns on the calling thread, which
/// takes tasks of this call only while the function waits in a join or is on another thread.
class implicit::pool : public detail::pool_of<detail::implicit_team> {
 public:
  using pool_of::pool_of;

  /// Bytes of this pool's stacks that are in use, in whole pages. Asks the kernel for each page: some hundred
  /// microseconds for each stack.
  FILCH_API std::size_t written_stack_bytes() const noexcept;
};

template <> struct detail::staying_of_scheduler<implicit> {
  using type = fiber_staying;
};

static_assert(scheduler<implicit>);

}  // namespace filch::inline FILCH_ABI
#endif
