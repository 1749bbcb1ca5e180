// The victim's side and the thief's.
#include "runtime/pools.hpp"
#include "schedulers/channel/worker.hpp"

#include <algorithm>
#include <cstdlib>

namespace filch::inline FILCH_ABI::detail {
namespace {

constexpr std::size_t k_many = 16;             // tasks
constexpr std::size_t k_most_detached = 1024;  // in an answer: they are counted off one by one

bool has_nothing(channel_member const& w) noexcept {
  return w.received.is_empty() && w.top <= w.bottom && w.detached.is_empty();
}

}  // namespace

// ---- victim ------------------------------------------------------------------------------------

/// Answers requests, passes on those that it has nothing for, and keeps those that stand.
void channel_team::serve(channel_member& w) noexcept {
  if (!alive()) return;  // in a child of fork() there are no thieves
  own_declined(w);
  if (w.doorbell.is_kept() && has_nothing(w)) return;
  channel_task* const bottom = w.bottom;
  request_channel& mine = requests_[w.index];
  // edge channel-1: before the looks.
  w.doorbell.hush(bottom);
  bool keeps_some = false;
  w.sets_aside = false;
  all().each_in_use_from(w.random.next(), [&](unsigned thief) {
    if (thief == w.index) return;  // its own, come back: see ask()
    auto const r = mine.take(thief);
    if (!r) return;
    answer const given = answer_to(w, *r);
    if (given != answer::nothing_to_give && given != answer::of_another_root) return;
    if (!r->stands) return pass_on(w, *r);
    mine.put_back(*r);
    // Forks look again at what is kept: their tasks may be for it. What is set aside waits for another root.
    (given == answer::nothing_to_give ? keeps_some : w.sets_aside) = true;
  });
  if (keeps_some) w.doorbell.keep(bottom);
  if (w.bottom != bottom) w.doorbell.move(bottom, w.bottom);
}

/// Tasks right below `bottom` that came back declined are private again. The caller hushes or moves the doorbell.
void channel_team::own_declined(channel_member& w) noexcept {
  while (w.bottom != w.floor && w.bottom[-1].future.peek() == future_state::declined) (--w.bottom)->future.clear();
}

/// Before it runs a task of those that it was given, which may last: who asks gets some of the rest.
void channel_team::share_rest(channel_member& w) noexcept {
  bool const has_rest = !w.received.is_empty() || !w.detached.is_empty();
  if (has_rest && w.doorbell.has_rung()) serve(w);
}

/// The oldest tasks, where a scope has run them: they are passed over. The caller moves the doorbell.
void channel_team::pass_emptied(channel_member& w) noexcept {
  while (w.bottom < w.top && w.bottom->run == &channel_run_nothing) (w.bottom++)->future.pass();
}

channel_team::answer channel_team::answer_to(channel_member& w, request r) noexcept {
  task_channel& to = tasks_[r.thief];
  // edge channel-1: after the request was taken: if this is an old one, the thief leaves the next here later.
  std::optional<task_root> const wanted = to.wanted();
  if (!wanted) return answer::nobody_waits;
  if (!w.root.is_any() && !wanted->admits(w.root)) return answer::of_another_root;
  pass_emptied(w);
  if (has_nothing(w)) return answer::nothing_to_give;
  if (!to.claim(w.root)) return answer::nobody_waits;
  batch b = give(w, r);
  b.is_for_any_root = wanted->is_any();
  if (!b.detached.is_empty()) add_to_census(w);
  counted(w.index).tasks_sent.add(b.size());
  to.send(b);
  leave_census(w);
  counted(w.index).publications.bump();
  if (sleepers().wake(r.thief)) counted(w.index).wakeups.bump();
  return answer::given;
}

/// The oldest tasks that it has.
batch channel_team::give(channel_member& w, request r) noexcept {
  auto const share_of = [&](std::size_t n) {
    bool const takes_half = r.wants == portion::half || (r.wants == portion::half_of_many && n >= k_many);
    return takes_half ? (n + 1) / 2 : 1;
  };
  auto const from = static_cast<std::uint16_t>(w.index);
  if (!w.received.is_empty()) {
    channel_task* const first = w.received.first;
    w.received.first += share_of(w.received.size());
    return {.first = first, .last = w.received.first, .owner = w.received.owner, .from = from, .of = w.root};
  }
  if (w.top <= w.bottom)
    return {.from = from,
            .detached = w.detached.take(std::min(share_of(w.detached.size()), k_most_detached)),
            .of = w.root};
  channel_task* const first = w.bottom;
  w.bottom += share_of(static_cast<std::size_t>(w.top - w.bottom));
  for (channel_task* t = first; t != w.bottom; ++t) t->future.expect_from(r.thief);
  return {.first = first, .last = w.bottom, .owner = w.index, .from = from, .of = w.root};
}

/// To the next victim; back to the thief where there is none, or the request has been everywhere.
void channel_team::pass_on(channel_member& w, request r) noexcept {
  unsigned const next = ++r.passed_on < all().in_use() ? choose_victim(w, r) : k_nobody;
  requests_[next == k_nobody ? r.thief : next].pass_on(r);
  counted(w.index).forwards.bump();
}

/// May the worker at that place have tasks for a thief that waits for these? A caller has those of its own call.
bool channel_team::may_have(unsigned place, task_root wanted) const noexcept {
  return wanted.is_any() || wanted.place() == place || !all().is_callers(place);
}

/// Somebody whose request channel is open, neither w nor the thief; k_nobody if there is none.
unsigned channel_team::choose_victim(channel_member& w, request r) noexcept {
  task_root const wanted = tasks_[r.thief].wanted().value_or(task_root::any());
  auto const count = static_cast<int>(all_places());
  auto const may_be = [&](int victim) {
    auto const v = static_cast<unsigned>(victim);
    return victim >= 0 && victim < count && v != w.index && v != r.thief && requests_[v].is_open() &&
           may_have(v, wanted);
  };
  if (r.order == victim_order::nearest) {
    // By their distance from the thief, on both sides in turn: those after w, then again from the nearest.
    int const thief = r.thief;
    int at = static_cast<int>(w.index);
    for (int i = 0; i < 2 * count; ++i) {
      int const distance = std::abs(at - thief);
      at = distance >= count ? thief - 1 : at < thief ? thief + distance : thief - distance - 1;
      if (may_be(at)) return static_cast<unsigned>(at);
    }
    return k_nobody;
  }
  unsigned chosen = k_nobody;
  static_cast<void>(all().any_in_use(w.random.next(), [&](unsigned victim) {
    if (may_be(static_cast<int>(victim))) chosen = victim;
    return chosen != k_nobody;
  }));
  return chosen;
}

/// Where others have the processors, a thief is late for long. It was told of tasks that were taken back, and will
/// ask anew when it runs. Until then its note is here on its behalf: the next fork is for it.
void channel_team::note_late_thieves(channel_member& w) noexcept {
  if (!oversubscribed()) return;
  bool is_any = false;
  for (unsigned thief = 1; thief < workers(); ++thief) {
    if (thief == w.index || !tasks_[thief].is_emptied()) continue;
    requests_[w.index].put_back({.thief = static_cast<std::uint16_t>(thief), .stands = true});
    is_any = true;
  }
  if (is_any) w.doorbell.ring();
}

bool channel_team::is_asked(channel_member& w) noexcept {
  if (!alive()) return false;
  auto const somebody_asks = [&] {
    return all().any_in_use(0, [&](unsigned i) {
      if (i == w.index || !requests_[w.index].peek(i)) return false;
      std::optional<task_root> const wanted = tasks_[i].wanted();
      return wanted && wanted->admits(w.root);
    });
  };
  if (w.doorbell.is_kept() && somebody_asks()) return true;
  // edge channel-1: before the looks.
  w.doorbell.hush(w.bottom);
  w.sets_aside = true;  // perhaps
  if (!somebody_asks()) return false;
  w.doorbell.ring();  // some may have to be passed on
  return true;
}

// ---- thief -------------------------------------------------------------------------------------

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
