// The members of every scheduler's pool. For the source file of each scheduler that has one, which instantiates them
// for its team: that has enter_or_nest(), which is run in place where the caller is a worker of the team already, and
// place_of_caller(), the calling thread's place in it, or null.
#pragma once

#include <filch/detail/pool_of.hpp>

#include "runtime/pools.hpp"
#include "runtime/settings.hpp"

namespace filch::inline FILCH_ABI::detail {

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

/// Destroyed by its own task, as by exit(): the task never returns, so there is nothing to wait for, and no way to
/// end the thread one stands on. The same in a child of fork(), which may stand on a stack of the team and has none
/// of its threads. What the system takes back at the end is left to it.
template <class Team> pool_of<Team>::~pool_of() {
  Team& t = team();
  if (t.alive() && !t.place_of_caller() && t.wait_for_callers()) delete &t;
}

/// By the pool's team, or in a child of fork() a new one: it has none of the threads of the old one, its parent's.
template <class Team> void pool_of<Team>::enter(void (*call)(void*), void* argument) {
  Team* t = &team();
  if (!t->alive()) [[unlikely]] {
    std::lock_guard const lock(runtime::making_pools());
    t = team_.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (!t->alive()) {
      options own{};
      if constexpr (requires { own = t->own_options(); }) own = t->own_options();
      t = make_team<Team>(t->asked_for(), own, true);
      team_.store(t, std::memory_order_release);  // edge default-1
    }
  }
  t->enter_or_nest(call, argument);
}

template <class Team> unsigned pool_of<Team>::workers() const noexcept { return team().workers(); }

template <class Team> unsigned pool_of<Team>::places() const noexcept { return team().all_places(); }

template <class Team> pool_stats pool_of<Team>::stats() const noexcept { return team().stats(); }

template <class Team> Team& pool_of<Team>::team() const noexcept {
  // edge default-1: acquire, the team that another thread of this child made.
  return *team_.load(std::memory_order_acquire);
}

/// Made at the first call in this process. Never destroyed: tasks and static destructors may use it until the process
/// ends.
template <class Pool> Pool& make_default_pool() {
  static constinit std::atomic<void*> the_default{nullptr};
  // edge default-1: acquire, the pool that another thread made.
  if (void* const made = the_default.load(std::memory_order_acquire)) return *static_cast<Pool*>(made);
  try {
    runtime::forget_in_child(the_default);
    std::lock_guard const lock(runtime::making_pools());
    if (void* const made = the_default.load(std::memory_order_acquire)) return *static_cast<Pool*>(made);
    auto* const made = new Pool({}, true);
    the_default.store(made, std::memory_order_release);  // edge default-1
    return *made;
  } catch (std::exception const& e) {
    runtime::no_default_pool(e);
  }
}

}  // namespace filch::inline FILCH_ABI::detail
