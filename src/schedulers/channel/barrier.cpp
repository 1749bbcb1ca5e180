// Detached tasks, and the full task barrier: the call counter, tasks that a caller leaves. User code calls it through
// channel::detach and channel::barrier. Protocol: protocol.md, "The full task barrier".
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/channel/checks.hpp"

namespace filch::inline FILCH_ABI::detail {

bool channel_has_no_list(channel_worker& w) noexcept {
  return channel_places::is_staying(&w) || channel_places::member_or_null(&w) == nullptr;
}

void channel_detach(channel_worker& owner, channel_detached& t) noexcept {
  channel_member& w = member(owner);
  w.team->detach(w, t);
}

void channel_barrier(channel_worker& owner) noexcept {
  channel_member& w = member(owner);
  w.team->barrier(w);
}

void channel_team::detach(channel_member& w, channel_detached& t) noexcept {
  check(w);
  w.detached.push(t);
  if (!w.is_counted && counts_detached(w)) {
    w.is_counted = true;
    add_to_call(w);
  }
  if (w.doorbell.is_requested()) serve(w);
}

/// Has no other worker a detached task of the call?
bool channel_team::call_is_over(channel_member const& w) noexcept {
  return channels_.to(w.root.place()).is_over(w.root, w.is_counted ? 1 : 0);
}

/// The caller waits until no task of its call is left, and runs its own meanwhile.
void channel_team::barrier(channel_member& w) noexcept {
  // No call waits for what such a task detaches.
  if (!w.root.is_of_call()) return;
  runtime::exceptions_set_aside const from_what_runs_on_top;
  note(w.index, runtime::trace::kind::waits);
  for (unsigned searches = 0;;) {
    if (!alive()) runtime::child_can_t_go_on();
    if (run_received(w) || run_detached(w)) {
      searches = 0;
      continue;
    }
    check(w);
    if (call_is_over(w)) break;
    if (w.doorbell.is_requested()) serve(w);
    request_tasks(w, w.last_victim);
    if (++searches < searches_before_sleep()) {
      pause_between_looks(searches);
      continue;
    }
    searches = 0;
    sleepers().announce_for(w.index, w.index);
    request_from_all(w);
    // edge channel-5, channel-6: both looks after the announcement.
    if (call_is_over(w) || !w.own->tasks.is_unanswered()) {
      sleepers().retract(w.index);
    } else {
      counted(w.index).sleeps.bump();
      note(w.index, runtime::trace::kind::sleeps);
      sleepers().sleep(w.index);
      note(w.index, runtime::trace::kind::wakes_up);
    }
  }
  has_work(w.index);
  note(w.index, runtime::trace::kind::joined);
  give_back_received(w);
}

/// Runs one detached task. Returns false if there is none.
bool channel_team::run_detached(channel_member& w) noexcept {
  if (w.detached.is_empty()) return false;
  check(w);
  has_work(w.index);
  w.own->requests.reopen();
  channel_detached& t = w.detached.pop();
  ++w.detached_running;
  share_rest(w);
  note(w.index, runtime::trace::kind::takes, w.index, reinterpret_cast<void const*>(t.run));
  {
    runtime::stolen_task::run const timed(stolen(w.index));
    t.run(t);
  }
  stolen(w.index).was_one_of(w.tasks_in_answer);
  note(w.index, runtime::trace::kind::returns);
  --w.detached_running;
  subtract_if_last(w);
  return true;
}

/// Before some worker, perhaps this one, gets its first detached task of the call.
void channel_team::add_to_call(channel_member& w) noexcept {
  if (!w.root.is_of_call()) return;
  channels_.to(w.root.place()).add(w.root);
  w.counts.updates.bump();
}

/// edge channel-6: the look whether the caller sleeps comes after the count.
void channel_team::subtract_from_call(channel_member& w) noexcept {
  if (!w.root.is_of_call() || !channels_.to(w.root.place()).subtract(w.root)) return;
  if (sleepers().wake(w.root.place())) counted(w.index).wakeups.bump();
}

/// After a worker ran or sent detached tasks, if those were its last.
void channel_team::subtract_if_last(channel_member& w) noexcept {
  if (!w.is_counted || w.detached_running != 0 || !w.detached.is_empty()) return;
  w.is_counted = false;
  subtract_from_call(w);
}

/// A thread without tasks takes those that callers have left. Returns whether it has some now.
bool channel_team::take_left(channel_member& w) noexcept {
  if (!channels_.left().has_some() || !try_withdraw(w)) return false;
  w.detached = channels_.left().take();
  if (w.detached.is_empty()) return false;
  w.tasks_in_answer = static_cast<unsigned>(w.detached.size());
  set_root(w, task_root::left_behind());
  return true;
}

/// At the end of a call, or of a thread. A caller leaves its detached tasks to the pool's threads. In a pool without
/// threads it runs them, and waits for those that a stand-in has. A thread runs what is left at the pool's end, a
/// stand-in, which leaves before that, its own. In a child of fork() they are the parent's, which runs them.
void channel_team::leave_detached(channel_member& w) noexcept {
  if (!alive()) return;
  bool const is_callers = all().is_callers(w.index);
  if (is_callers && has_threads()) {
    if (w.detached.is_empty()) return;
    channels_.left().put(std::exchange(w.detached, {}));
    if (sleepers().wake_one()) counted(w.index).wakeups.bump();
    return;
  }
  runtime::exceptions_set_aside const callers;
  while (run_detached(w) || (!all().is_stand_ins(w.index) && take_left(w))) {
    if (!alive()) return;
  }
  if (is_callers && !call_is_over(w)) barrier(w);
}

}  // namespace filch::inline FILCH_ABI::detail
