// The thief: takes the oldest offer of a victim, or requests one. What it took it runs as a call on a stack of its
// own; the frame itself never leaves its stack. Called by the fiber team when a worker searches. See protocol.md,
// edges implicit-1 to implicit-4.
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

runtime::cycles implicit_team::request_if_due(implicit_member& victim) noexcept {
  request_word request = victim.request();
  if (request.is_still_requested()) return 0;
  if constexpr (!runtime::k_steals_at_any_pace) {
    if (runtime::cycles const in = runtime::time_until(victim.may_be_requested_at())) return in;
  }
  request.request();
  return 0;
}

void implicit_team::ask(runtime::fiber_member& victim) noexcept {
  static_cast<void>(request_if_due(static_cast<implicit_member&>(victim)));
}

runtime::fiber_offers implicit_team::offers_of(runtime::fiber_member const& victim) const noexcept {
  implicit_stack const* const s = static_cast<implicit_member const&>(victim).offers.find_in_order();
  if (!s) return {};
  runtime::open_places const now = s->open.look_before_sleep();
  return {now.size(), now.root};
}

namespace {

/// A victim that forks often answers soon. A thief that searched elsewhere meanwhile would come late.
runtime::open_places wait_for_offer(implicit_member const& victim, implicit_stack const& s) noexcept {
  constexpr unsigned k_looks = 16;
  runtime::open_places now{};
  // A worker that runs no fiber does not answer.
  unsigned const looks = victim.thread.is_set() ? k_looks : 1;
  for (unsigned i = 0; i < looks; ++i) {
    runtime::relax();
    now = s.open.look();
    if (!now.is_empty()) break;
  }
  return now;
}

}  // namespace

bool implicit_team::steal_and_run(unsigned index) {
  auto& me = static_cast<implicit_member&>(member(index));
  constexpr auto k_never = std::numeric_limits<runtime::cycles>::max();
  me.rests_until = k_never;
  if (fiber_team::steal_and_run(index)) return true;
  // Even a look at who is in the pool costs callers: they write that word at each call.
  if (me.rests_until != k_never) rest_until(index, me.rests_until);
  return false;
}

fiber_task* implicit_team::steal_from(runtime::fiber_member& v, runtime::fiber_member& me,
                                      std::uint16_t& root) noexcept {
  auto& victim = static_cast<implicit_member&>(v);
  auto& self = static_cast<implicit_member&>(me);
  // A look takes cache lines from the victim that it writes at each fork or call. While no request is allowed, it
  // has hardly ever an offer.
  if (&victim == self.refused_by && runtime::time_until(self.looks_again_at.get()) != 0) {
    self.rests_until = std::min(self.rests_until, self.looks_again_at.get());
    return nullptr;
  }
  implicit_stack* const s = victim.offers.find();
  if (!s) return nullptr;
  runtime::cycles const others_refuse_until = std::exchange(self.rests_until, 0);
  runtime::open_places now = s->open.look();
  auto const may_take = [&] { return me.limit == runtime::k_any_root || me.limit == now.root || &victim == &me; };
  if (now.is_empty() && may_take()) {
    if (runtime::cycles const in = request_if_due(victim)) {
      self.refused_by = &victim;
      self.looks_again_at.set(runtime::time_stamp() + std::min(in, implicit_member::k_longest_rest));
      self.rests_until = std::min(others_refuse_until, self.looks_again_at.get());
      return nullptr;
    }
    now = wait_for_offer(victim, *s);
  }
  if (now.is_empty() || !may_take()) return nullptr;
  // edge implicit-1: the record is there. edge implicit-3: the offer is the thief's, or another worker's.
  if (!s->open.steal(now)) {
    counted(me.index).backoffs.bump();
    return nullptr;
  }
  root = now.root;
  implicit_record& r = s->record(now.tail);
  // The fiber may have left the worker through which the thief found it.
  auto& publisher = static_cast<implicit_member&>(member(r.counter.begun_on));
  if (now.size() == 1 && &publisher != &self) request_more(r, self, publisher, root);
  take_over_account(r, self, publisher);
  if (!r.is_join()) {
    // If the task forks, the first of that is offered at once: other thieves would wait for a later one.
    ask(me);
    r.run = run_spawned;
  } else if (enter_pad(r, &self.pads)) [[likely]] {
    r.run_g = std::exchange(r.run, run_and_request);
  } else {
    publisher.stale_pads.set();  // for its next walk, or the one after
    r.run = run_nothing;
  }
  return &r;
}

void const* implicit_team::code_of(fiber_task const& task) const noexcept {
  auto const& r = static_cast<implicit_record const&>(static_cast<implicit_offer const&>(task));
  return reinterpret_cast<void const*>(r.is_join()                                ? r.run_g
                                       : r.what == implicit_record::kind::spawned ? r.task->run
                                                                                  : r.run);
}

/// The thief took the publisher's last offer.
void implicit_team::request_more(implicit_record const& r, implicit_member const& me, implicit_member& publisher,
                                 std::uint16_t root) noexcept {
  if (anybody_sleeps(root)) {
    // edge implicit-4: the trip wire.
    request_and_interrupt(me, publisher, root);
  } else if (!r.is_join()) {
    // A scope that offered some tasks may have more: they are offered before a thief searches in vain.
    ask(publisher);
  }
}

/// A sleeping thief sends no interrupts. The thief that requests in its place sends them.
void implicit_team::request_and_interrupt(implicit_member const& me, implicit_member& victim,
                                          std::uint16_t root) noexcept {
  if (request_if_due(victim) > 0) {
    task_is_public(me.index, root);
    return;
  }
  constexpr unsigned k_looks = 32;  // a microsecond or two: victims that fork have answered by then
  for (unsigned i = 0; i < k_looks && victim.request().is_requested(); ++i) runtime::relax();
  if (interrupt(me.index, victim) != 0) task_is_public(me.index, root);  // a sleeper has to come again
}

/// The thief continues the publisher's account, with the steal added.
void implicit_team::take_over_account(implicit_record& r, implicit_member& me, implicit_member& publisher) noexcept {
  runtime::cycles const begin = runtime::time_stamp();
  r.publisher = &publisher;
  r.pays = !publisher.account.has_credit(begin);
  me.account.inherit(publisher.account, begin);
  if constexpr (!runtime::k_steals_at_any_pace) {
    // Its first fork would find out.
    if (me.request().is_requested() && runtime::time_until(me.account.paid_at()) != 0)
      put_off(me, me.account.paid_at());
  }
}

// ---- what the thief runs ------------------------------------------------------------------------

/// g of a join. The publisher may wait for just this, and fork as soon as it continues: the thief requests before
/// that.
join_counter& implicit_team::run_and_request(fiber_task& task) noexcept {
  auto& r = static_cast<implicit_record&>(static_cast<implicit_offer&>(task));
  runtime::cycles const begin = runtime::time_stamp();
  join_counter& m = r.run_g(r);
  r.lasted = runtime::time_stamp() - begin;
  this_member().account.pay(r.lasted);
  team_of(*r.publisher).ask(*r.publisher);
  return m;
}

/// A task of a scope. It pays for itself at once: the scope may last.
join_counter& implicit_team::run_spawned(fiber_task& task) noexcept {
  auto& r = static_cast<implicit_record&>(static_cast<implicit_offer&>(task));
  runtime::cycles const begin = runtime::time_stamp();
  join_counter& m = r.task->run(*r.task);
  runtime::cycles const lasted = runtime::time_stamp() - begin;
  this_member().account.pay(lasted);
  if (r.pays) r.publisher->account.pay(lasted);
  return m;
}

/// A frame whose landing pad can't be entered: its owner continues as if it had not been offered.
join_counter& implicit_team::run_nothing(fiber_task& task) noexcept {
  return static_cast<implicit_offer&>(task).counter;
}

}  // namespace filch::inline FILCH_ABI::detail
