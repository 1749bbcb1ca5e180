// The thief: looks for a task, claims it, checks the claim, runs it and hands its outcome over. The team's worker
// loop calls steal_and_run(), ask_everybody() and sees_work(); a waiting owner (join.cpp) calls steal_from().
// Protocol: "Steal" in protocol.md.
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

bool direct_team::steal_and_run(unsigned index) {
  direct_member& me = *members_[index];
  if (all().any_in_use(me.random.next(), [&](unsigned victim) {
        return victim != index && steal_from(*members_[victim], me, nullptr) == steal_outcome::ran;
      })) {
    return true;
  }
  counted(index).failed_steals.bump();
  return false;
}

/// `awaited`: the task for whose end this worker waits, if it does: what the victim forks after that end is not for
/// it.
steal_outcome direct_team::steal_from(direct_member& victim, direct_member& me, direct_task const* awaited) noexcept {
  direct_task* const t = victim.bot.look();
  direct_claim const claim = t < victim.public_end.look() ? t->state.claim() : direct_claim::no_task;
  if (claim != direct_claim::claimed) {
    // Also in a public place without a task: the next fork there is public, but a loop forks only on request.
    if (claim == direct_claim::no_task) victim.split.request();
    return steal_outcome::nothing;
  }
  check_worker(me, me.top);
  check_task(victim, *t);
  // The re-check: `bot` was read before the claim. If it points elsewhere now, this is a later task in the same place
  // with unstolen ones below it, and the thief may not move `bot`. The awaited task's end precedes what its thief
  // offers afterwards, so after the claim it is seen.
  if (!victim.bot.is_at(t) || (awaited != nullptr && is_done(awaited->state.peek()))) {
    t->state.give_back();
    if (sleepers().anybody()) pass_on(me);
    counted(me.index).backoffs.bump();
    return steal_outcome::backed_off;
  }
  t->state.steal(me.index);
  victim.bot.move_to(t + 1);
  // The trip wire: the highest public task was taken, the owner should publish more.
  if (!victim.public_end.may_be_above(t + 1)) victim.split.request();
  counted(me.index).steals.bump();
  has_work(me.index);
  note(me.index, runtime::trace::kind::takes, victim.index, reinterpret_cast<void const*>(t->run));
  if (sleepers().anybody()) pass_on(me);
  // If the task forks, its first fork is public at once: a searching worker would wait for a later one.
  begins_task(me.unasked);
  me.split.request();

  bool const returned = [&] {
    runtime::stolen_task::run const timed(stolen(me.index));
    return t->run(*t, t->payload);
  }();
  // The owner may wait for this task alone, and run long code next: the request comes before that.
  victim.split.request();
  check_stolen(*t, me.index);
  note(me.index, runtime::trace::kind::returns);
  is_about_to_search(me.index);
  if (t->state.finish(returned) == direct_finish::owner_sleeps && sleepers().wake(victim.index)) {
    counted(me.index).wakeups.bump();
  }
  // *t may be gone
  return steal_outcome::ran;
}

void direct_team::run_call(unsigned index, std::uint16_t, void (*call)(void*), void* argument) {
  direct_member& me = *members_[index];
  check_worker(me, me.top);
  begins_task(me.unasked);
  // As after a steal: if the task forks, its first fork is public at once.
  me.split.request();
  call(argument);
  is_about_to_search(index);
}

/// A worker that was woken, or is awake already, wakes another one for the other tasks.
void direct_team::pass_on(direct_member const& me) noexcept {
  team::pass_on(me.index, [this](unsigned i) { return offers_task(*members_[i]); }, no_root);
}

bool direct_team::offers_task(direct_member const& victim) const noexcept {
  direct_task const* const t = victim.bot.look_in_order();
  return t < victim.public_end.look_in_order() && t->state.is_offered();
}

void direct_team::ask_everybody(unsigned me) noexcept {
  members_[me]->unasked.left = most_unasked();
  all().each_in_use([&](unsigned i) {
    if (i != me) members_[i]->split.request();
  });
}

/// The wake-up may have been for tasks that only a worker in a join takes, of those that still sleep.
void direct_team::hand_on_wakeup(unsigned me) noexcept {
  pass_on(*members_[me]);
  team::hand_on_wakeup(me);
}

bool direct_team::sees_work(unsigned me) const noexcept {
  return all().any_in_use(0, [&](unsigned i) { return i != me && offers_task(*members_[i]); });
}

}  // namespace filch::inline FILCH_ABI::detail
