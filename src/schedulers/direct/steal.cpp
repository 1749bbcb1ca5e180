// The thief's side.
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Asks the victim to make tasks public. A store only where no request stands, so that many thieves share
/// the line. seq_cst, both: see edge direct-5.
void direct_team::ask(direct_member& victim) noexcept {
  if (victim.split.load(std::memory_order_seq_cst) == direct_requested()) return;
  victim.split.store(direct_requested(), std::memory_order_seq_cst);
}

steal_outcome direct_team::steal_from(direct_member& victim, direct_member& me) noexcept {
  direct_task* const t = victim.bot.load(std::memory_order_acquire);
  // edge direct-4: acquire, so that the states below public_end are seen as they were when it was raised.
  direct_task* const public_end = victim.public_end.load(std::memory_order_acquire);
  if (t >= public_end) {
    ask(victim);
    return steal_outcome::nothing;
  }
  // relaxed: a look before the exclusive access; the exchange decides.
  if (t->state.load(std::memory_order_relaxed) != k_task) {
    // A public place without a task: the next fork there is public, but a loop forks only if it is asked to.
    ask(victim);
    return steal_outcome::nothing;
  }
  std::uintptr_t expected = k_task;
  // edge direct-1: acquire, from the store that made the task public: its closure is ours to read.
  if (!t->state.compare_exchange_strong(expected, k_empty, std::memory_order_acquire, std::memory_order_relaxed)) {
    return steal_outcome::nothing;
  }
  // The re-check: `bot` was read before the task was ours. If it lies elsewhere now, this is a later task in
  // the same place with unstolen ones below it, and `bot` is not ours to move.
  if (victim.bot.load(std::memory_order_relaxed) != t) {
    // edge direct-1: as we got it. seq_cst for idle-1: it is offered anew, and a sleeper may have missed it.
    t->state.store(k_task, std::memory_order_seq_cst);
    counted(me.index).backoffs.bump();
    return steal_outcome::backed_off;
  }
  // relaxed: the owner reads a number from it, and waits for more than that.
  t->state.store(k_stolen + me.index, std::memory_order_relaxed);
  // edge direct-3: moves `bot`, which is ours as long as we hold the task that it points to.
  victim.bot.store(t + 1, std::memory_order_seq_cst);
  // The trip wire: the highest public task went, the owner should publish more.
  if (t + 1 >= victim.public_end.load(std::memory_order_relaxed)) ask(victim);
  counted(me.index).steals.bump();
  has_work(me.index);
  if (sleepers().anybody()) pass_on(me);
  // If it forks, the first of that is public at once: whoever looks for work next would wait for a later one.
  ask(me);

  bool const returned = t->run(*t, t->payload);
  // The owner may wait for just this, and go on with what is long: it is asked for more before that.
  ask(victim);
  // edge direct-2: the result is the owner's from here on. Edge direct-6: an owner that sleeps for it has
  // announced itself before it wrote, or found, `waited`. *t may be gone.
  if (t->state.exchange(returned ? k_returned : k_threw, std::memory_order_seq_cst) == k_waited) {
    if (sleepers().wake(victim.index)) counted(me.index).wakeups.bump();
  }
  return steal_outcome::ran;
}

bool direct_team::offers_task(direct_member const& victim) const noexcept {
  // edge idle-1: in order after the announcement.
  direct_task* const t = victim.bot.load(std::memory_order_seq_cst);
  return t < victim.public_end.load(std::memory_order_seq_cst) && t->state.load(std::memory_order_seq_cst) == k_task;
}

bool direct_team::steal_and_run(unsigned index) {
  direct_member& me = *members_[index];
  if (all().any_in_use(me.random.next(), [&](unsigned victim) {
        return victim != index && steal_from(*members_[victim], me) == steal_outcome::ran;
      })) {
    return true;
  }
  counted(index).failed_steals.bump();
  return false;
}

void direct_team::ask_everybody(unsigned me) noexcept {
  members_[me]->unasked.left = most_unasked();
  all().each_in_use([&](unsigned i) {
    if (i != me) ask(*members_[i]);
  });
}

bool direct_team::sees_work(unsigned me) const noexcept {
  return all().any_in_use(0, [&](unsigned i) { return i != me && offers_task(*members_[i]); });
}

}  // namespace filch::inline FILCH_ABI::detail
