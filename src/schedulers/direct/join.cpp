// The owner's side: the slow paths of fork and join.
#include "os/linux/memory.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// How many private tasks an owner publishes at a request: half of them, as long as that is not many; each
// costs an exchange at its join.
constexpr std::ptrdiff_t k_publish_most = 32;
// After so many public joins in a row that found their task unstolen, the places become private again.
constexpr unsigned k_inlined_until_private = 8;

direct_member& member(direct_worker& w) noexcept { return static_cast<direct_member&>(w); }

bool is_emptied(direct_task const& t) noexcept { return t.run == &direct_run_nothing; }

/// How many tasks nobody has taken, where all below `end` are public.
auto untaken(direct_member const& w, direct_task const* end) noexcept {
  return [&w, end] { return w.bot.distance_to(end); };
}

}  // namespace

void direct_stack::pushed_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  if (&t < w.public_end.get()) {
    t.state.offer();
    w.team->answer_in_place(w, &t + 1);
  } else if (w.split.is_requested()) {
    w.team->publish(w, &t + 1);
  }
}

bool direct_stack::is_orphan(direct_worker& owner) noexcept { return !member(owner).team->alive(); }

void direct_stack::answer(direct_worker& owner) noexcept {
  direct_member& w = member(owner);
  w.team->serve_thieves(w);
}

join_outcome direct_stack::join_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  direct_task* const public_end = w.public_end.get();
  if (&t < public_end) return w.team->join_public(w, t);
  // Private, so nobody else can have it; but a thief may want the ones below it.
  if (&t > public_end && w.split.is_requested()) w.team->publish(w, &t);
  return join_outcome::run_it;
}

/// Answers a request: makes the oldest private tasks public. There is at least one below `below`.
void direct_team::publish(direct_member& w, direct_task* below) noexcept {
  direct_task* const first = w.public_end.get();
  direct_task* end = first;
  // Thieves begin behind those that a scope has run: `bot` is the owner's where it points to a private task.
  if (w.bot.is_at(first)) {
    while (end != below && is_emptied(*end)) (end++)->state.pass();
  }
  direct_task* const oldest = end;
  for (std::ptrdiff_t left = std::min((below - oldest + 1) / 2, k_publish_most); left > 0 && end != below; ++end) {
    end->state.publish();
    if (!is_emptied(*end)) --left;
  }
  w.public_end.raise(end);
  // Before the task behind them can be joined as stolen.
  if (oldest != first) w.bot.move_to(oldest);
  if (end == oldest) return w.split.move(first, end);  // nothing else is left to offer: a request stands
  w.split.answer(end);
  w.inlined_in_a_row = 0;
  counted(w.index).publications.bump();
  has_offered(w, true, end);
}

/// Tasks up to `end` are public, the newest because of its place. That answers a request, if there is one.
void direct_team::answer_in_place(direct_member& w, direct_task const* end) noexcept {
  bool const was_asked = w.split.is_requested();
  if (was_asked) w.split.answer(w.public_end.get());
  has_offered(w, was_asked, end);
}

/// Tasks up to `end` are public.
void direct_team::has_offered(direct_member& w, bool was_asked, direct_task const* end) noexcept {
  if (offers_next(w.index, was_asked, w.unasked, untaken(w, end))) w.split.request();
}

join_outcome direct_team::join_public(direct_member& w, direct_task& t) noexcept {
  auto state = direct_state::empty;
  for (runtime::spin_wait spin(oversubscribed());;) {
    state = t.state.take_back();
    if (state == direct_state::task) {
      took_back(w, t);
      return join_outcome::run_it;
    }
    // A thief has claimed it and decides: stolen, or back to task. It may be preempted meanwhile.
    while (state == direct_state::empty) {
      if (!alive()) runtime::child_can_t_go_on();
      spin.once();
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

/// A public task was not stolen. If that goes on, the places from here on become private.
void direct_team::took_back(direct_member& w, direct_task& t) noexcept {
  if (++w.inlined_in_a_row < k_inlined_until_private) return;
  w.inlined_in_a_row = 0;
  // Nothing lies above t, and the owner has t: no place from t on holds a task.
  w.public_end.lower(&t);
  // As in publish(), but nothing was offered for the request that this may take away. While a worker sleeps, or is on
  // the way, the owner requests anew: the next task will be public, and wake it.
  w.split.answer(&t);
  if (should_ask_itself(w.unasked, untaken(w, &t))) w.split.request();
}

/// Until the thief is done, runs what it offers (leapfrogging), then sleeps. Returns the final state.
direct_state direct_team::wait_for_thief(direct_member& w, direct_task& t, unsigned thief) noexcept {
  constexpr unsigned k_looks_before_sleep = 200;  // some tens of microseconds
  constexpr unsigned k_looks_oversubscribed = 4;
  runtime::exceptions_set_aside const from_what_runs_on_top;
  for (unsigned looks = 0;;) {
    if (!alive()) runtime::child_can_t_go_on();  // born before this wait, or in a task on top of it
    direct_state const state = t.state.peek();
    if (is_done(state)) {
      // A wake-up meant for this worker may have come while it was about to sleep: it wakes another then.
      has_work(w.index);
      if (sleepers().anybody()) pass_on(w);
      return state;
    }
    if (steal_from(*members_[thief], w) == steal_outcome::ran) {
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
  sleepers().announce_for(w.index, thief);
  members_[thief]->split.request();
  if (t.state.wait() == direct_wait::task_is_done || offers_task(*members_[thief])) {
    sleepers().retract(w.index);
    return;
  }
  counted(w.index).sleeps.bump();
  sleepers().sleep(w.index);
}

}  // namespace filch::inline FILCH_ABI::detail
