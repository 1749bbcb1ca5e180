// The thief's side, and the strands that a worker runs.
#include "schedulers/cactus/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {
namespace {

std::uint32_t next_random(cactus_member& me) noexcept {  // xorshift: any spread will do
  std::uint32_t x = me.random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return me.random = x;
}

}  // namespace

/// Asks the victim to make tasks public. seq_cst, both: see edge cactus-4.
void cactus_team::ask(cactus_member& victim) noexcept {
  if (victim.split.load(std::memory_order_seq_cst) == cactus_raised()) return;
  victim.split.store(cactus_raised(), std::memory_order_seq_cst);
}

cactus_task* cactus_team::steal_from(cactus_member& victim, cactus_member& me) noexcept {
  // edge cactus-1: acquire.
  std::uint64_t word = victim.open.load(std::memory_order_acquire);
  cactus_public const now = cactus_public::of(word);
  if (now.tail >= now.split) {
    ask(victim);
    return nullptr;
  }
  // edge cactus-1 and cactus-3: the task is ours, and what it points to is there.
  if (!victim.open.compare_exchange_strong(word, cactus_public{now.tail + 1, now.split}.word(),
                                           std::memory_order_acq_rel, std::memory_order_relaxed)) {
    counted(me.index).backoffs.bump();
    return nullptr;
  }
  cactus_task* const task = victim.base[now.tail];
  // edge cactus-2: the place is the owner's to write again.
  victim.taken.fetch_add(1, std::memory_order_release);
  // The trip wire: the last public task went, the owner should publish more.
  if (now.tail + 1 == now.split) ask(victim);
  return task;
}

bool cactus_team::offers_task(cactus_member const& victim) noexcept {
  // edge idle-1: in order after the announcement.
  cactus_public const now = cactus_public::of(victim.open.load(std::memory_order_seq_cst));
  return now.tail < now.split;
}

void cactus_team::pass_on(cactus_member& me) noexcept {
  for (unsigned i = 0; i < workers(); ++i) {
    if (!offers_task(*members_[i])) continue;
    if (sleepers().wake_one_for(i)) counted(me.index).wakeups.bump();
    return;
  }
}

bool cactus_team::need_spare(cactus_member& w) noexcept {
  if (!w.spare) w.spare = stacks_.take();
  return w.spare != nullptr;
}

bool cactus_team::steal_and_run(unsigned index) {
  cactus_member& me = *members_[index];
  if (!need_spare(me)) return false;
  unsigned const all = workers();
  unsigned const first = next_random(me) % all;
  for (unsigned i = 0; i < all; ++i) {
    unsigned const victim = first + i < all ? first + i : first + i - all;
    if (victim == index) continue;
    if (cactus_task* const task = steal_from(*members_[victim], me)) {
      counted(index).steals.bump();
      if (sleepers().anybody()) pass_on(me);
      me.next_task = task;
      me.stack = std::exchange(me.spare, nullptr);
      run_strand(me);
      return true;
    }
  }
  counted(index).failed_steals.bump();
  return false;
}

void cactus_team::run_call(unsigned index, void (*call)(void*), void* argument) {
  cactus_member& me = *members_[index];
  if (!need_spare(me)) {
    // No stack to be had: on this one, and nothing of it is forked.
    cactus_stay(call, argument);
    return;
  }
  me.next_call = call;
  me.next_argument = argument;
  me.stack = std::exchange(me.spare, nullptr);
  run_strand(me);
}

/// On its home stack, the worker runs the strand on w.stack, and those that follow it, until there is none.
void cactus_team::run_strand(cactus_member& w) noexcept {
  for (;;) {
    w.home->switch_to(*w.stack, w.index);
    cactus_parting const p = w.parting;
    runtime::strand_stack* next = nullptr;
    if (p.what == cactus_parting::suspends) {
      runtime::strand_stack* const suspended = std::exchange(w.stack, nullptr);
      // edge cactus-5: release, the stack is left; acquire, the results of all if this is the last.
      if (std::atomic_ref(p.meeting->balance).fetch_add(p.stolen, std::memory_order_acq_rel) != -p.stolen) return;
      next = suspended;
    } else {
      if (w.spare) {
        stacks_.give_back(std::exchange(w.stack, nullptr));
      } else {
        w.spare = std::exchange(w.stack, nullptr);
      }
      if (p.what == cactus_parting::ended) return;
      next = p.next;
    }
    w.stack = next;
  }
}

/// What runs on every stack of the pool: one strand after the other.
void cactus_team::strand_main(void* team) noexcept {
  auto* const t = static_cast<cactus_team*>(team);
  static_cast<cactus_member&>(cactus_self()).stack->arrived();
  for (;;) {
    cactus_member* w = &static_cast<cactus_member&>(cactus_self());
    cactus_parting parting;
    if (cactus_task* const task = std::exchange(w->next_task, nullptr)) {
      cactus_meeting& m = task->run(*task);
      // edge cactus-5: release, the result; acquire, the suspended stack and the results of the others. Who is
      // not the last may not touch it any more.
      if (std::atomic_ref(m.balance).fetch_sub(1, std::memory_order_acq_rel) == 1) {
        parting = {cactus_parting::resumes, nullptr, 0, m.suspended};
      }
    } else {
      w->next_call(w->next_argument);
    }
    // A join in it may have moved the strand to another worker.
    w = &static_cast<cactus_member&>(cactus_self());
    w->parting = parting;
    w->stack->switch_to(*w->home, w->index);
  }
  static_cast<void>(t);
}

void cactus_team::ask_everybody(unsigned me) noexcept {
  for (unsigned i = 0; i < workers(); ++i) {
    if (i != me) ask(*members_[i]);
  }
}

bool cactus_team::sees_work(unsigned me) const noexcept {
  for (unsigned i = 0; i < workers(); ++i) {
    if (i != me && offers_task(*members_[i])) return true;
  }
  return false;
}

}  // namespace filch::inline FILCH_ABI::detail
