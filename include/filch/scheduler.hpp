// The wall between schedulers and everything that users call.
#pragma once

#include <filch/detail/result.hpp>
#include <filch/detail/task_source.hpp>

#include <concepts>
#include <string_view>

namespace filch::inline FILCH_ABI {

/// The interface of a scheduler. All of Filch that forks is a template on a type that satisfies this concept, and
/// uses nothing else of it.
///
///  - `Sched::join(f, g)` runs f and g, perhaps in parallel, and returns a std::pair of both results after both.
///    Both always run to their end, or throw, before it returns or throws; if both throw, f's exception
///    leaves.
///  - `Sched::frame` forks many times: `frame.spawn(f)` any number of times, then `frame.sync()`.
///  - `Sched::wanted()` is true while a thief waits for work. Loops split only then. Two loads and a compare if none
///    waits.
///  - `Sched::inside()` is true where joins enter no pool: on a worker of Sched's pools, and inside filch::stay.
///  - `Sched::pool` holds the workers; `pool.run(f)` enters; `Sched::default_pool()` is the one that a call from
///    outside enters.
///  - `Sched::worker_index()` is the calling worker's index in its pool; detail::k_no_worker outside Sched's pools.
///  - `Sched::attach(source)`: workers of the calling worker's pool (outside: of the default pool) that find no other
///    task call source.help(), until the source is detached. For tasks that no frame owns: filch::task_group.
///  - `Sched::name` is its name on command lines and in tables.
///
/// For loops a scheduler may have more, to be called while wanted() is true: `Sched::pays_to_wake(ticks)` is false if
/// all workers that wait sleep, and a rest of so many ticks is too short to wake one. Then `Sched::ran_alone(ticks)`
/// counts the loop: many of them in a row pay. detail/loop_pace.hpp has ticks, and other hints. At any time
/// `Sched::works_alone()` is true if the pool of the calling worker has no other one, and
/// `Sched::somebody_looks()` if another worker, awake or asleep, would take the next fork, though it may have no
/// request here.
///
/// A scheduler that never moves code may have `Sched::lone_waits()`: a count that belongs to the calling thread's
/// worker, null if it is none. While the count is not 0, joins that wait on this worker run no other task meanwhile.
template <class Sched>
concept scheduler = requires(int (*f)(), void (*task)(), typename Sched::frame& frame, typename Sched::pool& pool,
                             detail::task_source& source) {
  { Sched::join(f, f) } -> std::same_as<std::pair<int, int>>;
  { frame.spawn(task) } -> std::same_as<void>;
  { frame.sync() } -> std::same_as<void>;
  { Sched::wanted() } noexcept -> std::same_as<bool>;
  { Sched::inside() } noexcept -> std::same_as<bool>;
  { Sched::attach(source) } -> std::same_as<void>;
  { Sched::worker_index() } noexcept -> std::same_as<unsigned>;
  { pool.run(f) } -> std::same_as<int>;
  { Sched::default_pool() } -> std::same_as<typename Sched::pool&>;
  { Sched::name } -> std::convertible_to<std::string_view>;
};

namespace detail {

/// Runs f on a worker of Sched: here if the caller is one, else in Sched's default pool.
template <class Sched, class Fn> decltype(auto) inside_pool(Fn&& f) {
  if (Sched::inside()) return detail::call_with(std::forward<Fn>(f));
  return Sched::default_pool().run(std::forward<Fn>(f));
}

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
