// The owner's side: the slow paths of fork and join.
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {
namespace {

channel_member& member(channel_worker& w) noexcept { return static_cast<channel_member&>(w); }

}  // namespace

void channel_stack::pushed_slow(channel_worker& owner, channel_task&) noexcept {
  channel_member& w = member(owner);
  w.team->serve(w);
}

join_outcome channel_stack::join_slow(channel_worker& owner, channel_task& t) noexcept {
  channel_member& w = member(owner);
  if (&t < w.bottom) return w.team->wait_for_outcome(w, t);
  // t is off the stack: it is not given away.
  if (w.doorbell.has_rung()) w.team->serve(w);
  return join_outcome::run_it;
}

bool channel_stack::is_orphan(channel_worker& owner) noexcept { return !member(owner).team->alive(); }

void channel_stack::answer(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  w.team->serve_thieves(w);
}

void channel_poll_slow(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  w.team->serve(w);
}

bool channel_wanted_slow(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  return w.team->is_asked(w);
}

/// t was sent away, to a thief that has not looked: t and the others of that message are private again, and who asks
/// gets some of these others. False if not.
bool channel_team::take_back(channel_member& w, channel_task& t, unsigned thief) noexcept {
  channel_task* const first = thief == k_no_worker ? nullptr : tasks_[thief].take_back(t, w.index);
  if (!first) return false;
  for (channel_task* i = first; i <= &t; ++i) i->future.clear();
  w.bottom = first;
  w.doorbell.move(&t + 1, first);
  counted(w.index).backoffs.bump();
  if (w.doorbell.has_rung()) serve(w);
  // Each fork until the thief comes would be for it.
  constexpr runtime::cycles k_between_notes = 10'000;
  if (runtime::cycles const now = runtime::time_stamp(); now - w.noted_late >= k_between_notes) {
    w.noted_late = now;
    note_late_thieves(w);
  }
  return true;
}

/// t was sent away. Until it is done, runs other tasks, then sleeps.
join_outcome channel_team::wait_for_outcome(channel_member& w, channel_task& t) noexcept {
  if (!alive()) runtime::child_can_t_go_on();
  constexpr unsigned k_looks_before_sleep = 200;  // some tens of microseconds
  constexpr unsigned k_looks_oversubscribed = 4;
  unsigned const thief = t.future.sent_to();
  if (take_back(w, t, thief)) return join_outcome::run_it;
  w.top = &t + 1;  // the descriptor is in use until there is a message
  channel_task* const floor_before = std::exchange(w.floor, w.top);
  runtime::exceptions_set_aside const from_what_runs_on_top;
  for (unsigned looks = 0; t.future.peek() == future_state::pending;) {
    if (!alive()) runtime::child_can_t_go_on();  // born in a task on top of this wait
    bool const has_room = may_run_others(w);
    if (has_room && run_received(w)) {
      counted(w.index).leapfrogs.bump();
      looks = 0;
      continue;
    }
    // Before it serves: others who wait would give the only one on, and so on.
    if (has_room && run_detached(w)) {
      looks = 0;
      continue;
    }
    if (w.doorbell.has_rung()) serve(w);
    if (has_room) {
      ask(w, thief);
    } else {
      give_back_received(w);
    }
    // Detached tasks that it has no room for are for those who ask, of whom nobody would wake it.
    bool const must_look = !w.detached.is_empty();
    if (++looks < (oversubscribed() ? k_looks_oversubscribed : k_looks_before_sleep) || must_look) {
      pause_between_looks(looks);
    } else {
      sleep_until_message(w, t);
      looks = 0;
    }
  }
  give_back_received(w);
  future_state const state = t.future.peek();
  w.top = w.bottom = &t;
  w.floor = floor_before;
  t.future.clear();
  own_declined(w);
  w.doorbell.move(&t + 1, w.bottom);
  if (state == future_state::declined) return join_outcome::run_it;
  return state == future_state::returned ? join_outcome::returned : join_outcome::threw;
}

/// What runs on top of a wait may wait in turn. Half of the stack is for the tasks that this worker must finish. In a
/// run inside another pool's the thread is on a stack of that one, of which nothing is known here.
bool channel_team::may_run_others(channel_member const& w) const noexcept {
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  runtime::worker_space const& mine = space(w.index);
  std::uintptr_t const above = here - reinterpret_cast<std::uintptr_t>(mine.low());
  return above > mine.stack_bytes() / 2 && above < mine.stack_bytes();
}

/// What it took over and does not begin now, since it has no room for it or its own code goes on, for who knows how
/// long: some goes to those who ask, the rest to its owner, which may wait for it.
void channel_team::give_back_received(channel_member& w) noexcept {
  if (!alive()) return;
  withdraw(w);
  share_rest(w);
  decline(w, std::exchange(w.received, {}));
  requests_[w.index].reopen();
}

void channel_team::sleep_until_message(channel_member& w, channel_task& t) noexcept {
  static_cast<void>(
      give_back_pages(w.index, __builtin_frame_address(0), runtime::worker_space::when::sleeps_in_join));
  // It waits for messages to itself: wake-ups for anything else are not meant for it.
  sleepers().announce_for(w.index, w.index);
  if (may_run_others(w)) ask_all(w);
  // edge channel-4, channel-5: both looks after the announcement.
  if (!t.future.wait_for_message() || !tasks_[w.index].is_quiet()) {
    sleepers().retract(w.index);
    return;
  }
  counted(w.index).sleeps.bump();
  sleepers().sleep(w.index);
}

}  // namespace filch::inline FILCH_ABI::detail
