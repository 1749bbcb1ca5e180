// The members of every scheduler's pool. The source file of each scheduler instantiates them for its team. The team
// has enter_or_nest(), which runs in place if the caller is a worker of the team already, and place_of_caller(), the
// calling thread's place in it, or null.
#pragma once

#include <filch/detail/pool_of.hpp>

#include "runtime/places.hpp"
#include "runtime/pools.hpp"
#include "runtime/settings.hpp"

namespace filch::inline FILCH_ABI::detail {

/// The object that a pool, or the process, made for all threads; null before. edge default-1: acquire, its contents.
template <class T> T* made(std::atomic<T*> const& place) noexcept { return place.load(std::memory_order_acquire); }
/// Its maker, under making_pools(). edge default-1: release.
template <class T> void is_made(std::atomic<T*>& place, T* made) noexcept {
  place.store(made, std::memory_order_release);
}

/// A scheduler with options of its own checks them in its constructor, and keeps them.
template <class Team>
Team* make_team(runtime::settings const& s, typename pool_of<Team>::options const& asked,
                bool tolerate_missing_threads) {
  if constexpr (requires { new Team(s, asked, tolerate_missing_threads); }) {
    return new Team(s, asked, tolerate_missing_threads);
  } else {
    return new Team(s, tolerate_missing_threads);
  }
}

template <class Team> pool_of<Team>::pool_of(options asked) : pool_of(asked, false) {}

template <class Team>
pool_of<Team>::pool_of(options const& asked, bool tolerate_missing_threads)
    : team_(make_team<Team>(runtime::resolve(options_as<pool_options>(asked)), asked, tolerate_missing_threads)) {}

/// A pool that is destroyed by its own task, as by exit(), keeps its team: the task never returns, and its thread
/// can't be ended. The same holds in a child of fork(), which may be on a stack of the team and has none of its
/// threads. The system frees the rest at the end.
template <class Team> pool_of<Team>::~pool_of() {
  Team& t = team();
  if (t.alive() && !t.place_of_caller() && t.wait_for_callers()) delete &t;
}

/// Enters the pool's team. A child of fork() makes a new one: the threads of the old one are its parent's.
template <class Team> void pool_of<Team>::enter(void (*call)(void*), void* argument) {
  Team* t = &team();
  if (!t->alive()) [[unlikely]] {
    std::lock_guard const lock(runtime::making_pools());
    t = &team();
    if (!t->alive()) {
      options own{};
      if constexpr (requires { own = t->own_options(); }) own = t->own_options();
      runtime::settings in_child = t->asked_for();
      in_child.trace = in_child.profile = false;
      t = make_team<Team>(in_child, own, true);
      is_made(team_, t);
    }
  }
  t->enter_or_nest(call, argument);
}

template <class Team> unsigned pool_of<Team>::workers() const noexcept { return team().workers(); }

template <class Team> unsigned pool_of<Team>::places() const noexcept { return team().all_places(); }

template <class Team> void pool_of<Team>::attach(task_source& s) noexcept { team().attach(s, runtime::k_any_root); }

template <class Team> auto pool_of<Team>::stats() const noexcept -> statistics {
  statistics all;
  static_cast<pool_stats&>(all) = team().stats();
  if constexpr (requires { team().add_to(all); }) team().add_to(all);
  return all;
}

/// In a child of fork() another thread may have made it.
template <class Team> Team& pool_of<Team>::team() const noexcept { return *made(team_); }

/// Made at the first call in this process. Never destroyed: tasks and static destructors may use it until the process
/// ends.
template <class Pool> Pool& make_default_pool() {
  static constinit std::atomic<void*> the_default{nullptr};
  if (void* const pool = made(the_default)) return *static_cast<Pool*>(pool);
  try {
    runtime::forget_in_child(the_default);
    std::lock_guard const lock(runtime::making_pools());
    if (void* const pool = made(the_default)) return *static_cast<Pool*>(pool);
    auto* const pool = new Pool({}, true);
    is_made<void>(the_default, pool);
    return *pool;
  } catch (std::exception const& e) {
    runtime::no_default_pool(e);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
