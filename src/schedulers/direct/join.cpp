// The owner's side: the slow paths of fork and join.
#include "os/linux/memory.hpp"
#include "runtime/exceptions_in_flight.hpp"
#include "runtime/pools.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {
namespace {

// How many private tasks an owner publishes at a request: half of them, as long as that is not many; each
// costs an exchange at its join.
constexpr std::ptrdiff_t k_publish_most = 32;
// After so many public joins in a row that found their task unstolen, the places become private again.
constexpr unsigned k_inlined_until_private = 8;

direct_member& member(direct_worker& w) noexcept { return static_cast<direct_member&>(w); }

bool is_emptied(direct_task const& t) noexcept { return t.run == &direct_run_nothing; }

/// How many tasks nobody has taken, where all below `end` are public.
auto untaken(direct_member const& w, direct_task const* end) noexcept {
  return [&w, end] { return static_cast<std::uintptr_t>(end - w.bot.load(std::memory_order_relaxed)); };
}

}  // namespace

void direct_stack::pushed_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  // relaxed: the owner's own stores.
  if (&t < w.public_end.load(std::memory_order_relaxed)) {
    // edge direct-1, and idle-1: seq_cst, before the look for sleepers.
    t.state.store(k_task, std::memory_order_seq_cst);
    w.team->answer_in_place(w, &t + 1);
  } else if (w.split.load(std::memory_order_relaxed) == direct_requested()) {
    w.team->publish(w, &t + 1);
  }
}

bool direct_stack::is_orphan(direct_worker& owner) noexcept { return !member(owner).team->alive(); }

void direct_stack::answer(direct_worker& owner) noexcept {
  direct_member& w = member(owner);
  w.team->serve_thieves(w);
}

join_outcome direct_stack::join_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  // relaxed: the owner's own stores.
  direct_task* const public_end = w.public_end.load(std::memory_order_relaxed);
  if (&t < public_end) return w.team->join_public(w, t);
  // Private, so nobody else can have it; but a thief may want the ones below it.
  if (&t > public_end && w.split.load(std::memory_order_relaxed) == direct_requested()) w.team->publish(w, &t);
  return join_outcome::run_it;
}

/// Answers a request: makes the oldest private tasks public. There is at least one below `below`.
void direct_team::publish(direct_member& w, direct_task* below) noexcept {
  direct_task* const first = w.public_end.load(std::memory_order_relaxed);
  direct_task* end = first;
  // Thieves begin behind those that a scope has run: `bot` is the owner's where it points to a private task. relaxed:
  // for the owner's joins.
  if (w.bot.load(std::memory_order_relaxed) == first) {
    while (end != below && is_emptied(*end)) (end++)->state.store(k_returned, std::memory_order_relaxed);
  }
  direct_task* const oldest = end;
  // edge direct-1: each task's closure was stored before its state.
  for (std::ptrdiff_t left = std::min((below - oldest + 1) / 2, k_publish_most); left > 0 && end != below; ++end) {
    end->state.store(k_task, std::memory_order_release);
    if (!is_emptied(*end)) --left;
  }
  // edge direct-4, and idle-1: seq_cst, before the look for sleepers.
  w.public_end.store(end, std::memory_order_seq_cst);
  // edge direct-3: before the task behind them can be joined as stolen. seq_cst: as public_end.
  if (oldest != first) w.bot.store(oldest, std::memory_order_seq_cst);
  if (end == oldest) return;  // nothing is left but those: the request stands
  // edge direct-5: takes the request away. A later one is not lost: it overwrites this.
  static_cast<void>(w.split.exchange(end, std::memory_order_seq_cst));
  w.inlined_in_a_row = 0;
  counted(w.index).publications.bump();
  has_offered(w, true, end);
}

/// Tasks up to `end` are public, the newest because of its place. That answers a request, if there is one.
void direct_team::answer_in_place(direct_member& w, direct_task const* end) noexcept {
  bool const was_asked = w.split.load(std::memory_order_relaxed) == direct_requested();
  // edge direct-5: as in publish().
  if (was_asked) {
    static_cast<void>(w.split.exchange(w.public_end.load(std::memory_order_relaxed), std::memory_order_seq_cst));
  }
  has_offered(w, was_asked, end);
}

/// Tasks up to `end` are public.
void direct_team::has_offered(direct_member& w, bool was_asked, direct_task const* end) noexcept {
  if (offers_next(w.index, was_asked, w.unasked, untaken(w, end))) ask(w);
}

join_outcome direct_team::join_public(direct_member& w, direct_task& t) noexcept {
  std::uintptr_t state = k_empty;
  for (runtime::spin_wait spin(oversubscribed());;) {
    // edge direct-1, direct-2: acquire, from the thief that gave the task back, or finished it.
    state = t.state.exchange(k_empty, std::memory_order_acq_rel);
    if (state == k_task) {
      took_back(w, t);
      return join_outcome::run_it;
    }
    // A thief has claimed it and decides: stolen, or back to task. It may be preempted meanwhile.
    while (state == k_empty) {
      if (!alive()) runtime::child_can_t_go_on();
      spin.once();
      state = t.state.load(std::memory_order_acquire);
    }
    if (state != k_task) break;
  }
  w.inlined_in_a_row = 0;
  if (state >= k_stolen) {
    w.top = &t + 1;  // the descriptor is in use until its thief is done
    state = wait_for_thief(w, t, static_cast<unsigned>(state - k_stolen));
    w.top = &t;
  }
  // edge direct-3: all below are stolen too, and this place is the next to steal from. `bot` is ours: it
  // pointed above the task that we just joined. seq_cst for idle-1: before the next task is public.
  w.bot.store(&t, std::memory_order_seq_cst);
  // relaxed: no thief looks at it until a later store makes it a task.
  t.state.store(k_empty, std::memory_order_relaxed);
  return state == k_returned ? join_outcome::returned : join_outcome::threw;
}

/// A public task was not stolen. If that goes on, the places from here on become private.
void direct_team::took_back(direct_member& w, direct_task& t) noexcept {
  if (++w.inlined_in_a_row < k_inlined_until_private) return;
  w.inlined_in_a_row = 0;
  // Nothing lies above t, and t is ours: no place from t on holds a task. release: edge direct-4.
  w.public_end.store(&t, std::memory_order_release);
  // edge direct-5: as in publish(), but nothing was offered for the request that this may take away. While
  // somebody sleeps, or is on the way, it stands: the next task will be public, and wake it.
  static_cast<void>(w.split.exchange(&t, std::memory_order_seq_cst));
  if (should_ask_itself(w.unasked, untaken(w, &t))) ask(w);
}

/// Until the thief is done, runs what it offers (leapfrogging), then sleeps. Returns the final state.
std::uintptr_t direct_team::wait_for_thief(direct_member& w, direct_task& t, unsigned thief) noexcept {
  constexpr unsigned k_looks_before_sleep = 200;  // some tens of microseconds
  constexpr unsigned k_looks_oversubscribed = 4;
  runtime::exceptions_set_aside const from_what_runs_on_top;
  for (unsigned looks = 0;;) {
    if (!alive()) runtime::child_can_t_go_on();  // born before this wait, or in a task on top of it
    // edge direct-2: acquire, the thief's result.
    std::uintptr_t const state = t.state.load(std::memory_order_acquire);
    if (state == k_returned || state == k_threw) {
      // A wake-up meant for this worker may have come while it was about to sleep: it wakes another then.
      has_work(w.index);
      if (sleepers().anybody()) pass_on(w);
      return state;
    }
    if (steal_from(*members_[thief], w) == steal_outcome::ran) {
      counted(w.index).leapfrogs.bump();
      looks = 0;
    } else if (++looks < (oversubscribed() ? k_looks_oversubscribed : k_looks_before_sleep)) {
      pause_between_looks(looks);
    } else {
      sleep_until_done(w, t, thief);
      looks = 0;
    }
  }
}

void direct_team::sleep_until_done(direct_member& w, direct_task& t, unsigned thief) noexcept {
  static_cast<void>(
      give_back_pages(w.index, __builtin_frame_address(0), runtime::worker_space::when::sleeps_in_join));
  sleepers().announce_for(w.index, thief);
  ask(*members_[thief]);
  // Ask to be woken when it is done. That fails if it is done.
  // edge direct-6: seq_cst, after the announcement: it may be `waited` already, from an earlier sleep.
  std::uintptr_t state = t.state.load(std::memory_order_seq_cst);
  while (state != k_returned && state != k_threw && state != k_waited) {
    // edge direct-6: release, the announcement; pairs with the exchange that ends the task.
    if (t.state.compare_exchange_weak(state, k_waited, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      state = k_waited;
    }
  }
  if (state != k_waited || offers_task(*members_[thief])) {
    sleepers().retract(w.index);
    return;
  }
  counted(w.index).sleeps.bump();
  sleepers().sleep(w.index);
}

}  // namespace filch::inline FILCH_ABI::detail
