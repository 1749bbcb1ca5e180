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

bool channel_has_no_list(channel_worker& w) noexcept {
  return channel_places::is_staying(&w) || channel_places::member_or_null(&w) == nullptr;
}

void channel_detach(channel_worker& owner, channel_detached& t) noexcept {
  channel_member& w = member(owner);
  w.team->detach(w, t);
}

void channel_team::detach(channel_member& w, channel_detached& t) noexcept {
  w.detached.push(t);
  if (!w.is_counted && is_in_census(w)) {
    w.is_counted = true;
    add_to_census(w);
  }
  if (w.doorbell.has_rung()) serve(w);
}

void channel_barrier(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  w.team->barrier(w);
}

/// The caller is the manager: until no task of its call is left, its own ones among them.
void channel_team::barrier(channel_member& w) noexcept {
  constexpr unsigned k_looks_before_sleep = 200;
  constexpr unsigned k_looks_oversubscribed = 4;
  runtime::exceptions_set_aside const from_what_runs_on_top;
  auto const is_over = [&] { return census_[w.root.place()].is_over(w.root, w.is_counted ? 1 : 0); };
  for (unsigned looks = 0;;) {
    if (!alive()) runtime::child_can_t_go_on();
    if (run_received(w) || run_detached(w)) {
      looks = 0;
      continue;
    }
    if (is_over()) break;
    if (w.doorbell.has_rung()) serve(w);
    ask(w, w.last_victim);
    if (++looks < (oversubscribed() ? k_looks_oversubscribed : k_looks_before_sleep)) {
      pause_between_looks(looks);
      continue;
    }
    looks = 0;
    sleepers().announce_for(w.index, w.index);
    ask_all(w);
    // edge channel-5, channel-6: both looks after the announcement.
    if (is_over() || !tasks_[w.index].is_quiet()) {
      sleepers().retract(w.index);
    } else {
      counted(w.index).sleeps.bump();
      sleepers().sleep(w.index);
    }
  }
  give_back_received(w);
}

/// Its first tasks, of that root.
void channel_team::has_tasks_of(channel_member& w, task_root root) noexcept {
  if (w.root == root) return;
  w.root = root;
  // Those that asked for tasks of this root among others, while it had some of another one.
  if (std::exchange(w.sets_aside, false)) w.doorbell.ring();
}

/// Is it counted where it has detached tasks? Not those that a caller has itself, nor those that nobody waits for.
bool channel_team::is_in_census(channel_member const& w) const noexcept {
  return w.root.is_of_call() && w.root.place() != w.index;
}

/// Before some other worker, or this one, has a detached task.
void channel_team::add_to_census(channel_member& w) noexcept {
  if (!w.root.is_of_call()) return;
  census_[w.root.place()].add(w.root);
  counted(w.index).updates.bump();
}

/// edge channel-6: the look whether the manager sleeps comes after the count.
void channel_team::subtract_from_census(channel_member& w) noexcept {
  if (!w.root.is_of_call() || !census_[w.root.place()].subtract(w.root)) return;
  if (sleepers().wake(w.root.place())) counted(w.index).wakeups.bump();
}

/// If that was its last detached task.
void channel_team::leave_census(channel_member& w) noexcept {
  if (!w.is_counted || w.detached_running != 0 || !w.detached.is_empty()) return;
  w.is_counted = false;
  subtract_from_census(w);
}

}  // namespace filch::inline FILCH_ABI::detail
