// The thief: requests tasks, receives messages, runs received tasks, and gives back those that it does not run. The
// team's loop calls the hooks, join.cpp and barrier.cpp the rest. Protocol: protocol.md, "Request", "Receive",
// "Withdraw" and "Give back".
#include "runtime/pools.hpp"
#include "schedulers/channel/checks.hpp"

#include <filch/detail/lone_waits.hpp>

#include <chrono>

namespace filch::inline FILCH_ABI::detail {

/// Keeps a request out: with one victim first, and after a while with all.
void channel_team::request_tasks(channel_member& w, unsigned first) noexcept {
  constexpr unsigned k_searches_until_all = 32;  // some microseconds
  if (w.is_requesting) {
    bool const came_back = w.own->requests.take(w.index).has_value();
    if (came_back) w.counts.returns.bump();
    if (came_back || ++w.searches >= k_searches_until_all) request_from_all(w);
    return;
  }
  w.own->requests.close();
  // With fewer processors than workers, the victim could have passed the request on long before the thief looks
  // again.
  if (oversubscribed() || !request_from_one(w, first)) request_from_all(w);
}

/// Sends a request to `first`, or to another open worker. Returns false if no worker's channel is open.
bool channel_team::request_from_one(channel_member& w, unsigned first) noexcept {
  begin_request(w);
  unsigned const victim = first != k_no_victim && channels_.to(first).is_open() ? first : choose_victim(w, w.mine);
  if (victim == k_no_victim) return false;
  w.counts.requests.bump();
  channels_.to(victim).leave(w.mine);
  return true;
}

/// Broadcasts the request, unless that is done.
void channel_team::request_from_all(channel_member& w) noexcept {
  // An early request was for tasks of the call that the thief helped. With nothing to do it takes tasks of any call.
  // If a message is on its way, the thief waits for it.
  if (w.is_requesting && w.wanted_root != w.root && !try_withdraw(w)) return;
  if (!w.is_requesting) begin_request(w);
  if (w.mine.is_broadcast) return;
  w.mine.is_broadcast = true;
  w.own->requests.close();
  w.counts.requests.bump();
  // Also to places where no thread works now: a caller or a stand-in may come.
  for (unsigned i = 0; i < all_places(); ++i) {
    if (i != w.index && may_have(i, w.wanted_root)) channels_.to(i).leave(w.mine);
  }
}

/// Before the pool starts its threads, on their behalf: a fork before a thread runs finds its request.
void channel_team::request_for_threads() noexcept {
  for (unsigned i = 1; i < workers(); ++i) request_from_all(self(i));
}

/// Before the first call: some threads could not be started.
void channel_team::withdraw_for_missing_threads() noexcept {
  for (unsigned i = threads() + 1; i < workers(); ++i) static_cast<void>(try_withdraw(self(i)));
}

/// Adaptive: half if a message is dear beside the tasks in it, since they are short, or the victim answers late. If
/// it answers late and has few tasks, one: each of them may hold many more. One, too, if the tasks were so short that
/// they cost their owner more than it gained: older ones may be longer.
portion channel_team::portion_to_request(channel_member& w) noexcept {
  constexpr auto k_tiny = std::chrono::nanoseconds(250);  // with what its thief does for a task
  constexpr runtime::cycles k_tiny_task = 500;
  constexpr unsigned k_ones_after_tiny = 3;  // a tiny task that was interrupted looks long
  constexpr auto k_short = std::chrono::microseconds(50);
  constexpr int k_much_longer = 8;
  switch (own_.amount) {
    case steal_amount::one: return portion::one;
    case steal_amount::half: return portion::half;
    case steal_amount::adaptive: break;
  }
  auto const waited = w.answered_at - w.requested_at;
  w.requested_at = std::chrono::steady_clock::now();
  auto const ran = w.requested_at - w.answered_at;
  // `ran` says nothing of a single task: a pause may have followed.
  bool const were_tiny = w.tasks_in_answer == 1 || ran < w.tasks_in_answer * k_tiny;
  if (were_tiny && stolen(w.index).lasted() < k_tiny_task) w.ones_after_tiny = k_ones_after_tiny;
  if (w.ones_after_tiny != 0) return static_cast<void>(--w.ones_after_tiny), portion::one;
  if (ran < w.tasks_in_answer * k_short) return portion::half;
  return ran < k_much_longer * waited ? portion::half_of_many : portion::one;
}

void channel_team::begin_request(channel_member& w) noexcept {
  w.mine = {.thief = static_cast<std::uint16_t>(w.index), .amount = portion_to_request(w), .order = own_.victims};
  w.is_requesting = true;
  w.searches = 0;
  w.wanted_root = w.root;
  w.own->tasks.open(w.wanted_root);
}

/// Ends its request. Returns false if a message is on its way.
bool channel_team::try_withdraw(channel_member& w) noexcept {
  if (w.is_requesting && !w.own->tasks.try_close()) return false;
  w.is_requesting = false;
  return true;
}

/// Before the worker does anything but wait for tasks. Tasks that are on their way go back to their owner.
void channel_team::withdraw(channel_member& w) noexcept {
  auto const is_crowded = [this] { return oversubscribed(); };
  for (runtime::spin_wait spin; !try_withdraw(w); spin.once(is_crowded)) {
    if (auto const late = w.own->tasks.receive()) {
      accept(w, *late);
      decline(w, *late);
      return;
    }
    if (!alive()) runtime::child_can_t_go_on();
  }
}

/// After a wait, or before one in which nothing of the team runs on top: what this worker received and did not begin
/// goes to waiting thieves, and the rest to its owner, which may wait for it.
void channel_team::give_back_received(channel_member& w) noexcept {
  if (!alive()) return;
  check(w);
  withdraw(w);
  share_rest(w);
  decline(w, std::exchange(w.received, {}));
  w.own->requests.reopen();
}

/// Takes the sender, the root and the detached tasks of a message that came.
void channel_team::accept(channel_member& w, batch const& message) noexcept {
  runtime::check("channel message", [&] { return broken(message, w); });
  w.is_requesting = false;
  if (message.size() == 0) return;  // taken back by their owner
  if (own_.victims == victim_order::last) w.last_victim = message.from;
  set_root(w, message.root);
  if (message.detached.is_empty()) return;
  // The sender has counted this worker, which may be counted already, or be the caller, which is not counted.
  bool const was_counted = std::exchange(w.is_counted, counts_detached(w));
  w.detached.append(message.detached);
  if (was_counted || !w.is_counted) subtract_from_call(w);
}

/// Declines tasks of another worker that are not begun: their owner runs them.
void channel_team::decline(channel_member& w, batch b) noexcept {
  while (!b.is_empty()) finish(w, *--b.last, b.owner, future_state::declined);
}

/// Ends a received task. *t may be gone afterwards.
void channel_team::finish(channel_member& w, channel_task& t, unsigned owner, future_state s) noexcept {
  if (t.future.send(s) && sleepers().wake(owner)) counted(w.index).wakeups.bump();
}

/// Returns whether there are received tasks now.
bool channel_team::receive(channel_member& w) noexcept {
  if (!w.is_requesting || !w.own->tasks.has_message()) return false;
  auto const message = w.own->tasks.receive();
  if (!message) return false;
  w.answered_at = std::chrono::steady_clock::now();
  w.tasks_in_answer = static_cast<unsigned>(message->size());
  accept(w, *message);
  if (message->size() == 0 && message->detached.is_empty()) stole_nothing(w.index);
  w.received = *message;
  w.received.detached = {};
  // It may have been woken for these.
  if (channels_.left().has_some() && sleepers().wake_one()) counted(w.index).wakeups.bump();
  pass_on_groups(w.index);
  return !w.received.is_empty();
}

/// Runs one received task. Returns false if there is none.
bool channel_team::run_received(channel_member& w) noexcept {
  check(w);
  if (w.received.is_empty() && !receive(w)) return false;
  has_work(w.index);
  w.own->requests.reopen();
  unsigned const owner = w.received.owner;
  bool const is_lone = w.received.is_lone;
  channel_task& t = *w.received.first++;
  share_rest(w);
  // The answer to an early request may be there before a pause, and would have to go back.
  bool const may_pause = stolen(w.index).lasted() < cost_of_steal().least;
  if (own_.early_requests && !may_pause && w.received.is_empty() && w.detached.is_empty() && !w.is_requesting &&
      may_run_others(w)) {
    static_cast<void>(request_from_one(w, w.last_victim));
  }
  counted(w.index).steals.bump();
  note(w.index, runtime::trace::kind::takes, owner, reinterpret_cast<void const*>(t.run));
  bool const returned = [&] {
    lone_waits_here const as_forked(is_lone ? w.lone_count(&channel_worker::lone_tasks) : nullptr);
    runtime::stolen_task::run const timed(stolen(w.index));
    return t.run(t, t.payload);
  }();
  note(w.index, runtime::trace::kind::returns);
  finish(w, t, owner, returned ? future_state::returned : future_state::threw);
  return true;
}

bool channel_team::steal_and_run(unsigned me) {
  channel_member& w = self(me);
  check(w);
  if (run_received(w) || run_detached(w)) return true;
  w.root = task_root::any();
  if (take_left(w)) return run_detached(w);
  if (w.doorbell.is_requested()) serve(w);
  request_tasks(w, w.last_victim);
  counted(me).failed_steals.bump();
  return false;
}

/// A message may be on its way. Its tasks go back, but for detached ones, which are counted here. The worker may
/// pause: others' requests go on to workers that have tasks.
bool channel_team::is_free_for_call(unsigned me) {
  channel_member& w = self(me);
  withdraw(w);
  serve_thieves(w);
  return w.has_no_task();
}

/// Its forks are tasks of no call, as left ones.
void channel_team::run_call(unsigned me, std::uint16_t, void (*call)(void*), void* argument) {
  channel_member& w = self(me);
  check(w);
  set_root(w, task_root::left_behind());
  w.own->requests.reopen();
  call(argument);
  check(w);
}

void channel_team::ask_everybody(unsigned me) noexcept { request_from_all(self(me)); }

/// The request is with every worker, so tasks come by message; left tasks have to be looked for.
bool channel_team::sees_work(unsigned me) const noexcept {
  return !self(me).own->tasks.is_unanswered() || channels_.left().has_some();
}

}  // namespace filch::inline FILCH_ABI::detail
