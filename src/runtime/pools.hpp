// What every scheduler's pool does alike: one default pool a process, and a fresh team in a child of fork().
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace filch::runtime {

/// Of what several threads need first. New in a child of fork(): another thread may have held it.
std::mutex& making_pools();
/// One line on stderr, exit code 2.
[[noreturn]] void no_default_pool(std::exception const& why) noexcept;
/// sync() of a scope by a strand that does not own it, or inside a stay that the scope is outside of: one line on
/// stderr, and the end.
[[noreturn]] void not_the_scope_s_owner() noexcept;
/// Its parent has what it waits for: one line on stderr, and the end.
[[noreturn]] void child_can_t_go_on() noexcept;
/// Sets `place` to null in a child of fork(). `place` is static.
void forget_in_child(std::atomic<void*>& place);

/// The pool's team, or in a child of fork() a new one: it has none of the threads of the old one, its parent's.
template <class Team> Team& team_of_this_process(std::atomic<Team*>& place) {
  // edge default-1: acquire, the team that another thread of this child made.
  Team* team = place.load(std::memory_order_acquire);
  if (team->alive()) [[likely]]
    return *team;
  std::lock_guard const lock(making_pools());
  team = place.load(std::memory_order_relaxed);  // relaxed: under the lock
  if (!team->alive()) {
    team = team->again().release();
    place.store(team, std::memory_order_release);  // edge default-1
  }
  return *team;
}

/// The end of a pool. Destroyed by its own task, as by exit(): the task never returns, so there is nothing to wait
/// for, and no way to end the thread one stands on. The same in a child of fork(), which may stand on a stack of
/// the team and has none of its threads. What the system takes back at the end is left to it.
template <class Team, class PlaceOfCaller> void end_team(Team* team, PlaceOfCaller place_of_caller) {
  if (team->alive() && !place_of_caller() && team->take_last_place()) delete team;
}

/// The pool in `place`, made by make() at the first call in this process. Never destroyed: tasks and static
/// destructors may use it until the process ends.
template <class Pool, class Make> Pool& pool_made_once(std::atomic<void*>& place, Make make) {
  // edge default-1: acquire, the pool that another thread made.
  if (void* const made = place.load(std::memory_order_acquire)) return *static_cast<Pool*>(made);
  try {
    forget_in_child(place);
    std::lock_guard const lock(making_pools());
    if (void* const made = place.load(std::memory_order_acquire)) return *static_cast<Pool*>(made);
    Pool* const made = make();
    place.store(made, std::memory_order_release);  // edge default-1
    return *made;
  } catch (std::exception const& e) {
    no_default_pool(e);
  }
}

}  // namespace filch::runtime
