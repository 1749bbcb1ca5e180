// frame: many forks, one join.
#include "runtime/task_frame.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

bool direct_run_nothing(direct_task&, void*) noexcept { return true; }

direct_run direct_stack::take_slow(direct_worker& owner, direct_task& t) noexcept {
  auto& w = static_cast<direct_member&>(owner);
  // relaxed, all: the owner's own stores.
  if (&t < w.public_end.load(std::memory_order_relaxed)) {
    if (!direct_team::take_public(t)) return nullptr;
    w.team->took_public(w);
    return t.run;
  }
  direct_run const run = t.run;
  bool const is_asked = w.split.load(std::memory_order_relaxed) == direct_requested();
  if (is_asked && &t + 1 < w.top) {
    // The owner has it, and others get what comes next. Whoever takes this one does not look at what lies in it.
    t.run = &direct_run_nothing;
    w.team->publish(w, w.top);
  }
  return run;
}

/// One public task fewer for thieves: while more workers look for tasks than are left, private ones become public.
/// The task that the owner has taken may be long.
void direct_team::took_public(direct_member& w) noexcept {
  // relaxed, all: the owner's own stores, and a figure.
  direct_task* const public_end = w.public_end.load(std::memory_order_relaxed);
  if (w.top <= public_end) return;
  auto const untaken = [&] {
    return static_cast<std::uintptr_t>(public_end - w.bot.load(std::memory_order_relaxed)) - 1;
  };
  if (should_ask_itself(w.unasked, untaken)) publish(w, w.top);
}

/// Takes a public task that others lie above, if no thief has claimed it.
bool direct_team::take_public(direct_task& t) noexcept {
  std::uintptr_t expected = k_task;
  // edge direct-1: acquire, from a thief that gave it back.
  return t.state.compare_exchange_strong(expected, k_direct_taken, std::memory_order_acquire,
                                         std::memory_order_relaxed);
}

void direct_stack::emptied_slow(direct_task& t) noexcept {
  if (direct_self->end == nullptr) {  // in a child of fork(), which has no thieves
    t.state.store(k_task, std::memory_order_relaxed);
    return;
  }
  auto& w = static_cast<direct_member&>(*direct_self);
  w.team->emptied(w, t);
}

/// A task that its owner has taken, and emptied, does not keep thieves from the next one.
void direct_team::emptied(direct_member& w, direct_task& t) noexcept {
  // The owner holds t, as a thief that has claimed it: if `bot` points to it, nobody else writes `bot`.
  if (w.bot.load(std::memory_order_relaxed) == &t) {
    // relaxed: for the owner's own join.
    t.state.store(k_returned, std::memory_order_relaxed);
    // edge direct-3, and idle-1: seq_cst, before the look for sleepers: the next task is offered.
    w.bot.store(&t + 1, std::memory_order_seq_cst);
    // The trip wire, as a thief's: the highest public task went, and forks come above it. direct-5: after the store.
    direct_task const* const end = w.public_end.load(std::memory_order_relaxed);
    if (&t + 1 == end && should_ask_itself(w.unasked, [] { return std::uintptr_t{0}; })) ask(w);
  } else {
    // There are older tasks. A thief that comes to this one steals nothing. edge direct-1: `run` was stored before.
    // seq_cst for idle-1: `bot` may have come here meanwhile, and a sleeper found this one taken.
    t.state.store(k_task, std::memory_order_seq_cst);
  }
  if (sleepers().anybody()) pass_on(w);
}

direct_task* direct_stack::drop_emptied(direct_worker& w, direct_task* base) noexcept {
  // relaxed: the owner's own store. No thief knows of private tasks.
  w.top = std::min(w.top, std::max(base, w.public_end.load(std::memory_order_relaxed)));
  return w.top;
}

bool direct_stack::is_done(task const& t) noexcept {
  std::uintptr_t const state = t.state.load(std::memory_order_acquire);
  return state == k_returned || state == k_threw;
}

template void task_frame<direct_stack>::drain() noexcept;
template void task_frame<direct_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
