// filch::cactus: continuation stealing on cactus stacks. Linux on x86-64. Code may move to another thread at a join.
#pragma once

#if defined(FILCH_RACES)
#include <filch/detail/race_scheduler.hpp>
#include <filch/fiber_stats.hpp>

namespace filch::inline FILCH_ABI {

/// See docs/races.md.
struct cactus : detail::race_scheduler<cactus, 2> {
  static constexpr std::string_view name = "cactus";
  using pool = detail::race_pool<2, pool_options, fiber_stats>;
};
template <> struct detail::staying_of_scheduler<cactus> {
  using type = race_staying;
};

}  // namespace filch::inline FILCH_ABI
#else

#include <filch/detail/cactus_frame.hpp>
#include <filch/detail/cactus_join.hpp>
#include <filch/detail/pool_of.hpp>
#include <filch/fiber_stats.hpp>
#include <filch/scheduler.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI {
namespace detail {
class cactus_team;
template <> struct stats_of_team<cactus_team> {
  using type = fiber_stats;
};
extern template class FILCH_API pool_of<cactus_team>;
FILCH_API void cactus_attach(task_source&);
}  // namespace detail

/// Work stealing in which a join that waits for a thief gives up its stack instead of its worker. The worker steals
/// any other task. The last part to arrive at the join continues the frame, on the frame's own stack.
/// No unrelated work runs on top of a waiting frame. The code after a join may be on another thread than the code
/// before it. Linux on x86-64. Paper: C. Yang, J. Mellor-Crummey, A practical solution to the cactus stack problem,
/// SPAA 2016.
struct cactus {
  /// See filch::scheduler.
  static constexpr std::string_view name = "cactus";

  /// See filch::join.
  template <class Fn, class Gn>
  FILCH_INLINE static std::pair<detail::result_of<Fn>, detail::result_of<Gn>> join(Fn&& f, Gn&& g) {
    if constexpr (detail::travel_in_words<Fn, Gn>) {
      detail::closure_words const of_f = detail::words_of_closure(f);
      detail::closure_words const of_g = detail::words_of_closure(g);
      return detail::cactus_fork_join_words<Fn, Gn>(of_f.first, of_f.second, of_g.first, of_g.second);
    } else if constexpr (detail::travels_by_value<Fn> && detail::travels_by_value<Gn>) {
      return detail::cactus_fork_join<Fn, Gn>(std::forward<Fn>(f), std::forward<Gn>(g));
    } else {
      return detail::cactus_fork_join_here<Fn, Gn>(f, g);
    }
  }

  /// See filch::spawner.
  using frame = detail::cactus_frame;

  class pool;

  /// See filch::scheduler.
  static bool wanted() noexcept {
    auto& w = detail::fiber_self();
    return detail::cactus_split(w).is_requested() && w.kind == detail::k_cactus_tag;
  }
  /// For loops. See filch::scheduler.
  static bool somebody_looks() noexcept {
    auto& w = detail::fiber_self();
    // One that looks soon may take a public fork without a request.
    return w.kind == detail::k_cactus_tag && detail::fiber_somebody_looks(detail::cactus_split(w).is_public());
  }
  static bool pays_to_wake(std::uint64_t ticks) noexcept { return detail::fiber_pays_to_wake(ticks); }
  static void ran_alone(std::uint64_t ticks) noexcept { detail::fiber_ran_alone(ticks); }
  static bool works_alone() noexcept {
    return detail::fiber_self().kind != detail::k_cactus_tag || detail::fiber_works_alone();
  }
  /// For task groups. See filch::scheduler.
  static void attach(detail::task_source& source) { detail::cactus_attach(source); }
  /// See filch::poll.
  static void poll() noexcept {
    if (wanted()) [[unlikely]]
      detail::fiber_poll_slow();
  }
  /// See filch::scheduler. Does not throw; a load or two.
  static bool inside() noexcept {
    return detail::fiber_self().kind == detail::k_cactus_tag ||
           detail::fiber_self().kind == detail::fiber_kind::staying;
  }
  /// See filch::scheduler. Does not throw; a load or two.
  static unsigned worker_index() noexcept { return detail::fiber_worker_index(detail::k_cactus_tag); }
  /// The pool that calls from outside all pools enter. The first such call makes it, and it is never destroyed. If
  /// the environment has a setting that cannot be met, the process ends with one line on stderr and exit code 2.
  FILCH_API static pool& default_pool();
};

/// A fixed number of workers: see detail::pool_of. `run` calls its function on the calling thread. The function may
/// change threads at its joins. Unless the caller is a worker of this pool, run returns on the calling thread, which
/// takes tasks of this call only while the function waits in a join or is on another thread.
class cactus::pool : public detail::pool_of<detail::cactus_team> {
 public:
  using pool_of::pool_of;

  /// Bytes of this pool's stacks that are in use, in whole pages. Asks the kernel for every page: some hundred
  /// microseconds for each stack.
  FILCH_API std::size_t written_stack_bytes() const noexcept;
};

template <> struct detail::staying_of_scheduler<cactus> {
  using type = fiber_staying;
};

static_assert(scheduler<cactus>);

}  // namespace filch::inline FILCH_ABI
#endif
