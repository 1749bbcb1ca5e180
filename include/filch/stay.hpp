// stay: code that keeps its thread.
#pragma once

#include <filch/default_scheduler.hpp>
#include <filch/detail/standard.hpp>

#include <type_traits>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {

/// One object for each kind of `staying_of` among these schedulers.
template <class... Scheds> struct staying_everywhere {};
template <class Sched, class... Rest> struct staying_everywhere<Sched, Rest...> : staying_everywhere<Rest...> {
  static constexpr bool k_is_in_rest = (std::is_same_v<staying_of<Sched>, staying_of<Rest>> || ...);
  [[no_unique_address]] std::conditional_t<k_is_in_rest, nothing, staying_of<Sched>> here;
};

}  // namespace detail

/// Calls f(), in which no code changes threads. Returns what f returns and throws what f throws.
///
/// Joins, invocations, scopes and loops in f, of every scheduler, run in order on the calling thread and enter no
/// pool. So f may hold a std::mutex across a join, or call a library that keeps state for each thread. Task groups
/// and pipelines are no joins: other workers of the pool run their tasks, too, and a wait for them waits. `wanted()`
/// is false in f; current_worker() is the same as around it. This holds for every scheduler, also for one that never
/// moves code.
///
/// pool.run(g) in f enters another pool as usual: joins of g are parallel there, and f continues on its thread. In
/// the pool of the calling worker g runs in order, too. A spawn into a scope around the stay runs in place, and the
/// task's exception leaves spawn. A sync() of such a scope ends the process with a one-line message.
///
/// Other workers get only those older tasks that they had requested when f began. For long calculations with many
/// forks around them, prefer filch::mutex and filch::worker_local. Cost: 10 to 20 ns, and some hundred bytes of
/// stack.
template <class Fn> decltype(auto) stay(Fn&& f) {
  detail::staying_everywhere<FILCH_SCHEDULERS> const here;
  return detail::call_with(std::forward<Fn>(f));
}

}  // namespace filch::inline FILCH_ABI
