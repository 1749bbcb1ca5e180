// Detached tasks, the full task barrier, and the count of workers that have detached tasks of a call.
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {
namespace {

channel_member& member(channel_worker& w) noexcept { return static_cast<channel_member&>(w); }

}  // namespace

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

bool channel_team::run_detached(channel_member& w) noexcept {
  if (w.detached.is_empty()) return false;
  requests_[w.index].reopen();
  channel_detached& t = w.detached.pop();
  ++w.detached_running;
  share_rest(w);
  t.run(t);
  --w.detached_running;
  leave_census(w);
  return true;
}

/// Without any task: takes those that callers have left.
bool channel_team::take_left(channel_member& w) noexcept {
  if (!left_.are_there() || !stop_asking(w)) return false;
  w.detached = left_.take();
  if (w.detached.is_empty()) return false;
  has_tasks_of(w, task_root::left_behind());
  return true;
}

/// Its detached tasks, at the end. A caller leaves them to the pool's threads, and returns at once. Where there are
/// no threads, nobody but the caller would run them. In a child of fork() they are the parent's, which runs them.
void channel_team::leave_detached(channel_member& w) noexcept {
  if (!alive()) return;
  if (all().is_callers(w.index) && has_threads()) {
    if (w.detached.is_empty()) return;
    left_.put(std::exchange(w.detached, {}));
    if (sleepers().wake_one()) counted(w.index).wakeups.bump();
    return;
  }
  runtime::exceptions_set_aside const callers;
  while (run_detached(w) || take_left(w)) {
    if (!alive()) return;
  }
}

}  // namespace filch::inline FILCH_ABI::detail
