// The owner: slow paths of fork and join, a task taken back, the wait for a task that was sent away. User code calls
// it through channel_stack. Protocol: protocol.md, "Join", "Take back" and "Wait".
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/channel/checks.hpp"
#include "schedulers/channel/profile.hpp"

namespace filch::inline FILCH_ABI::detail {

void channel_stack::pushed_slow(channel_worker& owner, channel_task& t) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->pushed(w, t);
  w.team->serve(w);
}

join_outcome channel_stack::join_slow(channel_worker& owner, channel_task& t) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->join(w, t);
  check(w);
  if (&t < w.bottom) return w.team->wait_for_outcome(w, t);
  // t is off the stack: no thief gets it.
  if (w.doorbell.is_requested()) w.team->serve(w);
  return join_outcome::run_it;
}

bool channel_stack::is_orphan(channel_worker& owner) noexcept { return !member(owner).team->alive(); }

void channel_stack::answer(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->of_thread().no_room();
  w.team->serve_thieves(w);
}

/// If t lies in a message that its thief has not looked at: takes all tasks of the message back, and gives waiting
/// thieves some of the others. Returns false if not.
bool channel_team::take_back(channel_member& w, channel_task& t, unsigned thief) noexcept {
  channel_task* const first = thief == k_no_worker ? nullptr : channels_.to(thief).take_back(t, w.index);
  if (!first) return false;
  for (channel_task* i = first; i <= &t; ++i) i->future.clear();
  w.bottom = first;
  w.doorbell.move(&t + 1, first);
  counted(w.index).backoffs.bump();
  check(w);
  if (w.doorbell.is_requested()) serve(w);
  // Each fork serves the late thief until it comes.
  constexpr runtime::cycles k_between_looks_for_late_thieves = 10'000;
  if (runtime::cycles const now = runtime::time_stamp(); now - w.late_noted >= k_between_looks_for_late_thieves) {
    w.late_noted = now;
    request_for_late_thieves(w);
  }
  return true;
}

/// t was sent away. Runs other tasks until it is done, and sleeps if there are none.
join_outcome channel_team::wait_for_outcome(channel_member& w, channel_task& t) noexcept {
  if (!alive()) runtime::child_can_t_go_on();
  unsigned const thief = t.future.sent_to();
  if (take_back(w, t, thief)) return join_outcome::run_it;
  w.top = &t + 1;  // the descriptor is in use until there is a message
  channel_task* const floor_before = std::exchange(w.floor, w.top);
  runtime::exceptions_set_aside const from_what_runs_on_top;
  runtime::stolen_task::wait const timed(stolen(w.index));
  note(w.index, runtime::trace::kind::waits);
  for (unsigned searches = 0; t.future.peek() == future_state::pending;) {
    if (!alive()) runtime::child_can_t_go_on();  // forked by a task on top of this wait
    bool const has_room = may_run_others(w);
    if (has_room && run_received(w)) {
      counted(w.index).leapfrogs.bump();
      searches = 0;
      continue;
    }
    // Before it serves: two workers that wait would send each other their only detached task for ever.
    if (has_room && run_detached(w)) {
      searches = 0;
      continue;
    }
    if (w.doorbell.is_requested()) serve(w);
    if (has_room) {
      request_tasks(w, thief);
    } else {
      give_back_received(w);
    }
    // It keeps detached tasks that it has no room for until a thief requests them, and no request would wake it.
    bool const must_stay_awake = !w.detached.is_empty();
    if (++searches < searches_before_sleep() || must_stay_awake) {
      pause_between_looks(searches);
    } else {
      sleep_until_message(w, t);
      searches = 0;
    }
  }
  has_work(w.index);
  note(w.index, runtime::trace::kind::joined);
  give_back_received(w);
  future_state const state = t.future.peek();
  w.top = w.bottom = &t;
  w.floor = floor_before;
  t.future.clear();
  reclaim_declined(w);
  w.doorbell.move(&t + 1, w.bottom);
  check(w);
  if (state == future_state::declined) return join_outcome::run_it;
  return state == future_state::returned ? join_outcome::returned : join_outcome::threw;
}

/// How often a waiting worker searches in vain before it sleeps: for some tens of microseconds, if it has a
/// processor.
unsigned channel_team::searches_before_sleep() const noexcept { return oversubscribed() ? 4 : 200; }

/// A task on top of a wait may wait in turn. Half of the stack stays free for the tasks that this worker must finish.
/// A task of a group may be awaited by a task that would run on top of it. In a run inside another pool's run the
/// thread is on a stack of that pool, whose size is not known here.
bool channel_team::may_run_others(channel_member const& w) const noexcept {
  if (w.waits_alone()) return false;
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  runtime::worker_space const& mine = space(w.index);
  std::uintptr_t const above = here - reinterpret_cast<std::uintptr_t>(mine.low());
  return above > mine.stack_bytes() / 2 && above < mine.stack_bytes();
}

void channel_team::sleep_until_message(channel_member& w, channel_task& t) noexcept {
  static_cast<void>(
      give_back_pages(w.index, __builtin_frame_address(0), runtime::worker_space::when::sleeps_in_join));
  lent_place const meanwhile(*this);
  // It waits for messages to itself, so no wake-up for other work is meant for it.
  sleepers().announce_for(w.index, w.index);
  if (may_run_others(w)) request_from_all(w);
  // edge channel-4, channel-5: both looks after the announcement.
  if (!t.future.begin_wait() || !w.own->tasks.is_unanswered()) {
    sleepers().retract(w.index);
    return;
  }
  counted(w.index).sleeps.bump();
  note(w.index, runtime::trace::kind::sleeps);
  sleepers().sleep(w.index);
  note(w.index, runtime::trace::kind::wakes_up);
}

/// Tasks right below `bottom` that came back declined are private again. The caller clears or moves the doorbell.
void channel_team::reclaim_declined(channel_member& w) noexcept {
  while (w.bottom != w.floor && w.bottom[-1].future.peek() == future_state::declined) (--w.bottom)->future.clear();
}

/// Before its first tasks of that root.
void channel_team::set_root(channel_member& w, task_root root) noexcept {
  if (w.root == root) return;
  w.root = root;
  // Deferred requests may be for tasks of this root.
  if (std::exchange(w.has_deferred, false)) w.doorbell.ring();
}

}  // namespace filch::inline FILCH_ABI::detail
