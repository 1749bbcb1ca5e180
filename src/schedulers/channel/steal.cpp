// The thief: asks for tasks, receives messages, runs what came, gives back what it does not run.
#include "runtime/pools.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Has a request out: first with one victim, and after a while with everybody.
void channel_team::ask(channel_member& w, unsigned first) noexcept {
  constexpr unsigned k_looks_until_all = 32;  // some microseconds
  request_channel& mine = requests_[w.index];
  if (w.is_asking) {
    bool const came_back = mine.take(w.index).has_value();
    if (came_back) counted(w.index).returns.bump();
    if (came_back || ++w.looks >= k_looks_until_all) ask_all(w);
    return;
  }
  mine.close();
  // Where others have the processor, the thief may come back to this long after its victim could have passed it on.
  if (oversubscribed() || !ask_one(w, first)) ask_all(w);
}

/// For a thread that has yet to come: whoever forks before that finds its request. Nobody has tasks yet.
void channel_team::ask_for_threads() noexcept {
  for (unsigned i = 1; i < workers(); ++i) ask_all(self(i));
}
/// Some threads could not be started, and nobody has had tasks yet.
void channel_team::withdraw_for_missing_threads() noexcept {
  for (unsigned i = threads() + 1; i < workers(); ++i) static_cast<void>(stop_asking(self(i)));
}

/// False if nobody's channel is open.
bool channel_team::ask_one(channel_member& w, unsigned first) noexcept {
  begin_request(w);
  unsigned const victim = first != k_nobody && requests_[first].is_open() ? first : choose_victim(w, w.mine);
  if (victim == k_nobody) return false;
  counted(w.index).requests.bump();
  requests_[victim].leave(w.mine);
  return true;
}

/// Adaptive: half where a message costs much beside the tasks in it, since they are short or the victim answers late.
/// Late, but of few tasks, it wants one: each of them may hold many more.
portion channel_team::portion_to_ask_for(channel_member& w) const noexcept {
  constexpr auto k_short = std::chrono::microseconds(50);
  constexpr int k_much_longer = 8;
  switch (asked_for().amount) {
    case steal_amount::one: return portion::one;
    case steal_amount::half: return portion::half;
    case steal_amount::adaptive: break;
  }
  auto const waited = w.answered - w.asked;
  w.asked = std::chrono::steady_clock::now();
  auto const ran = w.asked - w.answered;
  if (ran < w.tasks_in_answer * k_short) return portion::half;
  return ran < k_much_longer * waited ? portion::half_of_many : portion::one;
}

void channel_team::begin_request(channel_member& w) noexcept {
  w.mine = {
      .thief = static_cast<std::uint16_t>(w.index), .wants = portion_to_ask_for(w), .order = asked_for().victims};
  w.is_asking = true;
  w.looks = 0;
  w.asked_for = w.root;
  tasks_[w.index].open(w.asked_for);
}

void channel_team::ask_all(channel_member& w) noexcept {
  // An early request was for tasks of the call that it helped; with nothing to do it takes any. Where a message is on
  // its way, it waits for that.
  if (w.is_asking && w.asked_for != w.root && !stop_asking(w)) return;
  if (!w.is_asking) begin_request(w);
  if (w.mine.stands) return;
  w.mine.stands = true;
  requests_[w.index].close();
  counted(w.index).requests.bump();
  // Also where nobody works now: a caller may come, or a stand-in.
  for (unsigned i = 0; i < all_places(); ++i) {
    if (i != w.index && may_have(i, w.asked_for)) requests_[i].leave(w.mine);
  }
}

/// False if a message is on its way.
bool channel_team::stop_asking(channel_member& w) noexcept {
  if (w.is_asking && !tasks_[w.index].withdraw()) return false;
  w.is_asking = false;
  return true;
}

/// Something else is to be done than waiting for tasks. Those that are on their way go back to their owner.
void channel_team::withdraw(channel_member& w) noexcept {
  for (runtime::spin_wait spin(oversubscribed()); !stop_asking(w); spin.once()) {
    if (auto const late = tasks_[w.index].receive()) {
      take_over(w, *late);
      decline(w, *late);
      return;
    }
    if (!alive()) runtime::child_can_t_go_on();
  }
}

/// A message that came: who sent it, and the detached tasks in it.
void channel_team::take_over(channel_member& w, batch const& message) noexcept {
  w.is_asking = false;
  if (message.size() == 0) return;  // their owner took them back
  if (asked_for().victims == victim_order::last) w.last_victim = message.from;
  has_tasks_of(w, message.of);
  if (message.detached.is_empty()) return;
  // Who sent them has counted this worker. It may have been counted before; a caller is not.
  bool const once_more = std::exchange(w.is_counted, is_in_census(w));
  w.detached.append(message.detached);
  if (once_more || !w.is_counted) subtract_from_census(w);
}

void channel_team::decline(channel_member& w, batch b) noexcept {
  while (!b.is_empty()) finish(w, *--b.last, b.owner, future_state::declined);
}

/// *t may be gone afterwards.
void channel_team::finish(channel_member& w, channel_task& t, unsigned owner, future_state s) noexcept {
  if (t.future.send(s) && sleepers().wake(owner)) counted(w.index).wakeups.bump();
}

bool channel_team::run_received(channel_member& w) noexcept {
  if (w.received.is_empty()) {
    if (!w.is_asking || !tasks_[w.index].has_message()) return false;
    auto const message = tasks_[w.index].receive();
    if (!message) return false;
    w.answered = std::chrono::steady_clock::now();
    w.tasks_in_answer = static_cast<unsigned>(message->size());
    take_over(w, *message);
    w.received = *message;
    w.received.detached = {};
    if (w.received.is_empty()) return false;
  }
  requests_[w.index].reopen();
  unsigned const owner = w.received.owner;
  channel_task& t = *w.received.first++;
  share_rest(w);
  if (asked_for().early_requests && w.received.is_empty() && w.detached.is_empty() && !w.is_asking &&
      may_run_others(w)) {
    static_cast<void>(ask_one(w, w.last_victim));
  }
  counted(w.index).steals.bump();
  finish(w, t, owner, t.run(t, t.payload) ? future_state::returned : future_state::threw);
  return true;
}

bool channel_team::steal_and_run(unsigned me) {
  channel_member& w = self(me);
  if (run_received(w) || run_detached(w)) return true;
  w.root = task_root::any();
  if (take_left(w)) return run_detached(w);
  if (w.doorbell.has_rung()) serve(w);
  ask(w, w.last_victim);
  counted(me).failed_steals.bump();
  return false;
}

void channel_team::ask_everybody(unsigned me) noexcept { ask_all(self(me)); }

/// Tasks are not seen, they come: the request is with everybody. But for those that callers left.
bool channel_team::sees_work(unsigned me) const noexcept { return !tasks_[me].is_quiet() || left_.are_there(); }

}  // namespace filch::inline FILCH_ABI::detail
