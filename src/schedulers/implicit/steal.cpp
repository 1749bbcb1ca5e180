// The thief's side.
#include "schedulers/implicit/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Asks the victim to offer something, if thieves may. seq_cst, both: see edge implicit-4.
runtime::cycles implicit_team::ask_if_due(implicit_member& victim) noexcept {
  // edge implicit-6: who put a request off said before until when.
  if (victim.poll.load(std::memory_order_seq_cst) == k_requested) return 0;
  if constexpr (!runtime::k_steals_are_forced) {
    if (runtime::cycles const in = runtime::time_until(victim.may_be_asked_at())) return in;
  }
  victim.poll.store(k_requested, std::memory_order_seq_cst);
  return 0;
}

void implicit_team::ask(runtime::fiber_member& victim) noexcept {
  static_cast<void>(ask_if_due(static_cast<implicit_member&>(victim)));
}

namespace {

/// A victim that forks often answers soon: a thief that looked elsewhere meanwhile would come late.
std::uint64_t wait_for_offer(implicit_member& victim, implicit_stack& s) noexcept {
  constexpr unsigned k_looks = 16;
  std::uint64_t word = 0;
  // relaxed: a hint. Who runs no fiber answers nobody.
  unsigned const looks = victim.thread.load(std::memory_order_relaxed) != 0 ? k_looks : 1;
  for (unsigned i = 0; i < looks; ++i) {
    runtime::relax();
    // edge implicit-1: acquire.
    word = s.open.load(std::memory_order_acquire);
    implicit_public const now = implicit_public::of(word);
    if (now.tail < now.head) break;
  }
  return word;
}

}  // namespace

/// Who sleeps does not insist, so who asks in its place does.
void implicit_team::ask_for_sleepers(implicit_member const& me, implicit_member& victim,
                                     std::uint16_t root) noexcept {
  if (ask_if_due(victim) > 0) {
    task_is_public(me.index, root);
    return;
  }
  constexpr unsigned k_looks = 32;  // a microsecond or two: forking victims have answered by then
  // relaxed: a hint.
  for (unsigned i = 0; i < k_looks && victim.poll.load(std::memory_order_relaxed) == k_requested; ++i)
    runtime::relax();
  // Or one of them has to come again.
  if (insist_on(victim) != 0) task_is_public(me.index, root);
}

/// Who offered it may wait for just this, and fork as soon as it goes on: it is asked for more before that.
join_counter& implicit_team::run_and_ask(fiber_task& task) noexcept {
  auto& r = static_cast<implicit_record&>(static_cast<implicit_offer&>(task));
  runtime::cycles const begin = runtime::time_stamp();
  join_counter& m = r.run_g(r);
  r.lasted = runtime::time_stamp() - begin;
  this_member().account.pay(r.lasted);
  team_of(*r.publisher).ask(*r.publisher);
  return m;
}

/// What it lasted is paid at once: the scope may have more for long.
join_counter& implicit_team::run_spawned(fiber_task& task) noexcept {
  auto& r = static_cast<implicit_record&>(static_cast<implicit_offer&>(task));
  runtime::cycles const begin = runtime::time_stamp();
  join_counter& m = r.task->run(*r.task);
  runtime::cycles const lasted = runtime::time_stamp() - begin;
  this_member().account.pay(lasted);
  if (r.pays) r.publisher->account.pay(lasted);
  return m;
}

/// Of a frame in which nobody can land: its owner goes on with it as if it had not been offered.
join_counter& implicit_team::run_nothing(fiber_task& task) noexcept {
  return static_cast<implicit_offer&>(task).counter;
}

fiber_task* implicit_team::steal_from(runtime::fiber_member& v, runtime::fiber_member& me,
                                      std::uint16_t& root) noexcept {
  auto& victim = static_cast<implicit_member&>(v);
  // edge implicit-2: acquire, the header. It stays one, whatever becomes of the fiber.
  implicit_stack* const s = victim.offers.load(std::memory_order_acquire);
  if (!s) return nullptr;
  // edge implicit-1: acquire.
  std::uint64_t word = s->open.load(std::memory_order_acquire);
  implicit_public now = implicit_public::of(word);
  auto const may_take = [&] { return me.limit == runtime::k_any_root || me.limit == now.root || &victim == &me; };
  if (now.tail >= now.head && may_take()) {
    if (ask_if_due(victim) > 0) return nullptr;
    word = wait_for_offer(victim, *s);
    now = implicit_public::of(word);
  }
  if (now.tail >= now.head || !may_take()) return nullptr;
  // edge implicit-1 and implicit-3: the offer is ours, and what it points to is there.
  if (!s->open.compare_exchange_strong(word, now.with_tail(now.tail + 1).word(), std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) {
    counted(me.index).backoffs.bump();
    return nullptr;
  }
  root = now.root;
  implicit_record& r = s->record(now.tail);
  // Who offered it: the fiber may have left the worker through which it was found.
  auto& publisher = static_cast<implicit_member&>(member(r.counter.begun_on));
  bool const is_last = now.tail + 1 == now.head && &publisher != &me;
  bool const is_spawned = r.what == implicit_record::kind::spawned;
  if (is_last && anybody_sleeps(root)) {
    // edge implicit-4: the trip wire. The last offer went, and others sleep.
    ask_for_sleepers(static_cast<implicit_member const&>(me), publisher, root);
  } else if (is_last && is_spawned) {
    // A scope that had some has more, perhaps: they are offered before anybody looks in vain.
    ask(publisher);
  }
  runtime::cycles const begin = runtime::time_stamp();
  r.publisher = &publisher;
  r.pays = !publisher.account.has_credit(begin);
  auto& self = static_cast<implicit_member&>(me);
  self.account.inherit(publisher.account, begin);
  if constexpr (!runtime::k_steals_are_forced) {
    // relaxed: the first fork would find out.
    bool const is_asked = self.poll.load(std::memory_order_relaxed) == k_requested;
    if (is_asked && self.account.paid_at() > begin) put_off(self, self.account.paid_at());
  }
  if (is_spawned) {
    // If it forks, the first of that is offered at once: whoever looks for work next would wait for a later one.
    ask(me);
    r.run = run_spawned;
    return &r;
  }
  if (!land(r)) [[unlikely]] {
    publisher.has_stale_pads.store(true, std::memory_order_relaxed);  // relaxed: for its next walk, or the one after
    r.run = run_nothing;
    return &r;
  }
  r.run_g = std::exchange(r.run, run_and_ask);
  return &r;
}

runtime::fiber_offers implicit_team::offers_of(runtime::fiber_member const& victim) const noexcept {
  implicit_stack const* const s = static_cast<implicit_member const&>(victim).offers.load(std::memory_order_seq_cst);
  if (!s) return {};
  // edge idle-1: in order after the announcement.
  implicit_public const now = implicit_public::of(s->open.load(std::memory_order_seq_cst));
  return {now.head - now.tail, now.root};
}

}  // namespace filch::inline FILCH_ABI::detail
