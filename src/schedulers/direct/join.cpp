// The owner joins: a join whose compare failed takes the task back, or waits for its thief. While it waits, it runs
// the thief's forks (leapfrogging), and sleeps. Joins and scopes call join_slow(). Protocol: "Join" and "Wait" in
// protocol.md.
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/profile.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

join_outcome direct_stack::join_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->join(w, t);
  check_worker(w, &t + 1);
  direct_task* const public_end = w.public_end.get();
  if (&t < public_end) return w.team->join_public(w, t);
  check_private(w, t);
  // The owner alone has a private task; but a thief may want those below it.
  if (&t > public_end && w.split.is_requested()) w.team->publish(w, &t);
  return join_outcome::run_it;
}

join_outcome direct_team::join_public(direct_member& w, direct_task& t) noexcept {
  auto state = direct_state::empty;
  for (runtime::spin_wait spin;;) {
    state = t.state.take_back();
    if (state == direct_state::task) {
      took_back(w, t);
      return join_outcome::run_it;
    }
    // A thief has claimed it and decides: stolen, or back to task. The system may preempt it meanwhile.
    while (state == direct_state::empty) {
      if (!alive()) runtime::child_can_t_go_on();
      spin.once([this] { return oversubscribed(); });
      state = t.state.peek();
    }
    if (state != direct_state::task) break;
  }
  w.inlined_in_a_row = 0;
  if (is_stolen(state)) {
    w.top = &t + 1;  // the descriptor is in use until its thief is done
    state = wait_for_thief(w, t, thief_in(state));
    w.top = &t;
  }
  // All below are stolen too, and this place is the next to steal from. `bot` is the owner's: it pointed above the
  // task that was joined.
  w.bot.move_to(&t);
  t.state.clear();
  return state == direct_state::returned ? join_outcome::returned : join_outcome::threw;
}

/// A public task was not stolen. After several of these in a row, places from here on become private.
void direct_team::took_back(direct_member& w, direct_task& t) noexcept {
  if (++w.inlined_in_a_row < k_inlined_until_private) return;
  w.inlined_in_a_row = 0;
  // Nothing lies above t, and the owner has t: no place from t on holds a task.
  w.public_end.lower(&t);
  // As in publish(), but nothing was offered for the request that this may take away. While a worker sleeps, or is on
  // its way, the owner requests anew: the next task will be public, and wake it.
  w.split.answer(&t);
  if (should_ask_itself(w.unasked, untaken(w, &t))) w.split.request();
}

/// Runs the thief's offers, unless it is a lone wait, until the task is done. Sleeps if there are none. Returns the
/// final state.
direct_state direct_team::wait_for_thief(direct_member& w, direct_task& t, unsigned thief) noexcept {
  constexpr unsigned k_looks_before_sleep = 200;  // some tens of microseconds
  constexpr unsigned k_looks_oversubscribed = 4;
  runtime::exceptions_set_aside const from_what_runs_on_top;
  runtime::stolen_task::wait const timed(stolen(w.index));
  note(w.index, runtime::trace::kind::waits);
  for (unsigned looks = 0;;) {
    if (!alive()) runtime::child_can_t_go_on();  // forked before this wait, or in a task on top of it
    check_waiting(w, t, thief);
    direct_state const state = t.state.peek();
    if (is_done(state)) {
      // This worker may have been woken for an offer while it was about to sleep: then it wakes another one.
      has_work(w.index);
      note(w.index, runtime::trace::kind::joined);
      begins_task(w.unasked);
      if (sleepers().anybody()) pass_on(w);
      return state;
    }
    if (w.lone_waits == 0 && steal_from(*members_[thief], w, &t) == steal_outcome::ran) {
      counted(w.index).leapfrogs.bump();
      looks = 0;
    } else if (++looks < (oversubscribed() ? k_looks_oversubscribed : k_looks_before_sleep)) {
      pause_between_looks(looks);
    } else {
      sleep_until_done(w, t, thief);
      looks = 0;
    }
  }
}

void direct_team::sleep_until_done(direct_member& w, direct_task& t, unsigned thief) noexcept {
  static_cast<void>(
      give_back_pages(w.index, __builtin_frame_address(0), runtime::worker_space::when::sleeps_in_join));
  lent_place const meanwhile(*this);
  // A lone wait takes none of the thief's tasks, so no wake-up for them is meant for it.
  bool const is_alone = w.lone_waits != 0;
  sleepers().announce_for(w.index, is_alone ? w.index : thief);
  if (!is_alone) members_[thief]->split.request();
  if (t.state.wait() == direct_wait::task_is_done || (!is_alone && offers_task(*members_[thief]))) {
    sleepers().retract(w.index);
    return;
  }
  counted(w.index).sleeps.bump();
  note(w.index, runtime::trace::kind::sleeps);
  sleepers().sleep(w.index);
  note(w.index, runtime::trace::kind::wakes_up);
}

}  // namespace filch::inline FILCH_ABI::detail
