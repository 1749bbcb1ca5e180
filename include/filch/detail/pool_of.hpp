// The common part of the pools of all schedulers with workers.
#pragma once

#include <filch/detail/packet.hpp>
#include <filch/detail/task_source.hpp>
#include <filch/pool_options.hpp>
#include <filch/pool_stats.hpp>

#include <atomic>
#include <concepts>

namespace filch::inline FILCH_ABI {
namespace detail {

/// Defined in the library, as all that has no body here: src/runtime/pool_of.hpp.
template <class Pool> Pool& make_default_pool();

/// The options of a team's pools. A scheduler with options of its own specialises it.
template <class Team> struct options_of_team {
  using type = pool_options;
};

/// The counters of a team's pools. A scheduler with counters of its own specialises it.
template <class Team> struct stats_of_team {
  using type = pool_stats;
};

/// Converts between the options of a scheduler and the common ones.
template <class To, class From> To options_as(From const& from) {
  To to;
  to.workers = from.workers;
  to.stack_size = from.stack_size;
  to.pin = from.pin;
  to.stack_give_back = from.stack_give_back;
  return to;
}

/// A number of workers. The thread that calls `run` is one of them during the call, so a pool of n workers has n - 1
/// threads of its own.
//
// Each scheduler's header exports its instantiation: else a template's members are as hidden as its arguments.
template <class Team> class pool_of {
 public:
  /// pool_options, or the scheduler's own: these have the same fields, and more.
  using options = typename options_of_team<Team>::type;
  /// pool_stats, or the scheduler's own: these have the same fields, and more.
  using statistics = typename stats_of_team<Team>::type;

  /// Starts the threads. Throws setup_error if an option or an environment variable is invalid, or the system refuses
  /// a thread or the address space; nothing is left behind then.
  explicit pool_of(options asked = {});
  /// The same for `pool({})`.
  explicit pool_of(no_options) : pool_of(options()) {}
  /// The same with the settings that all schedulers have.
  template <std::same_as<pool_options> Common>
    requires(!std::same_as<Common, options>)
  explicit pool_of(Common const& common) : pool_of(options_as<options>(common)) {}
  template <std::integral Workers> explicit pool_of(Workers) = delete;  // write pool({.workers = n})
  pool_of(pool_of const&) = delete;
  pool_of& operator=(pool_of const&) = delete;
  /// Waits for runs under way, then stops the threads. A task of this pool may not call it. In a task of another pool
  /// it does not wait, since the runs may wait for that task, at exit() for example: then the pool's threads stay
  /// until the process ends. (It waits for running detached tasks of `channel`, although no run waits for them.)
  ~pool_of();

  /// Runs f() as a worker of this pool, on a stack of the pool's, and returns what it returns or throws what it
  /// throws. On a worker of this pool it calls f, and continues where f does; else it returns on the calling thread.
  /// That is a worker while the call lasts, runs tasks of this call only, and never waits for another call: several
  /// threads may call `run` at once, in a pool of one worker too, and share the pool's own threads. Past 16 calls at
  /// once f and its joins run in order, on a stack of the pool's; without memory for one, on the caller's own. Cost:
  /// well under a microsecond for an empty f. Under `cactus` and `implicit` std::current_exception() is empty in f,
  /// whatever the caller handles.
  template <class Fn> std::invoke_result_t<Fn> run(Fn&& f) {
    return detail::call_through([this](void (*call)(void*), void* argument) { enter(call, argument); },
                                std::forward<Fn>(f));
  }

  /// Number of workers that a call of `run` has, its calling thread included.
  unsigned workers() const noexcept;
  /// Indices of workers (filch::current_worker) are below this: there are places for further threads that call `run`,
  /// and for those that work while others are in filch::blocking. Fixed; for arrays with an element for each worker.
  unsigned places() const noexcept;
  /// Until it is detached, workers of this pool take the tasks of s.
  void attach(task_source& s) noexcept;
  /// The workers' counters so far.
  statistics stats() const noexcept;

 protected:
  Team& team() const noexcept;

 private:
  template <class Pool> friend Pool& make_default_pool();
  pool_of(options const& asked, bool tolerate_missing_threads);
  void enter(void (*call)(void*), void* argument);

  std::atomic<Team*> team_;  // another one in a child of fork()
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
