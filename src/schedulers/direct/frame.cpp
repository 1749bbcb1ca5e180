// The owner runs the tasks of a scope, from the oldest to the newest, each where it lies. task_frame
// (src/runtime/task_frame_sync.hpp) calls these functions. Protocol: "Scope" in protocol.md.
#include "runtime/task_frame_sync.hpp"
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/profile.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

bool direct_run_nothing(direct_task&, void*) noexcept { return true; }

/// Workers on their way have not requested yet. If there are any, the owner looks before it runs the first task.
void direct_stack::begins_sync(direct_worker& owner) noexcept {
  direct_member& w = member(owner);
  if (w.profile) [[unlikely]]
    return w.profile->sync_begins();
  if (w.top > w.public_end.get()) w.team->ask_if_searched(w);
}

direct_run direct_stack::take_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  if (w.profile) [[unlikely]] {
    w.profile->task_begins(w, t);
    return t.run;
  }
  check_worker(w, w.top);
  if (&t < w.public_end.get()) {
    if (!t.state.take()) return nullptr;
    w.team->share_before_task(w);
    return t.run;
  }
  check_private(w, t);
  direct_run const run = t.run;
  if (w.split.is_requested() && &t + 1 < w.top) {
    // The owner has it, and thieves get the tasks above. A thief that takes this one does not look at its payload.
    t.run = &direct_run_nothing;
    w.team->share_before_task(w);
  }
  return run;
}

void direct_team::ask_if_searched(direct_member& w) noexcept {
  if (somebody_looks()) w.split.request();
}

/// The task that the owner has taken may be long, and no fork answers a request meanwhile. So private tasks become
/// public until there are as many as workers search, asleep and on their way included, and no request stands.
void direct_team::share_before_task(direct_member& w) noexcept {
  for (;;) {
    direct_task const* const public_end = w.public_end.get();
    if (w.top <= public_end) return;
    std::uint32_t const looking = sleepers().looking();
    // One of the untaken tasks may be the owner's own.
    bool const is_too_few = looking != 0 && looking >= w.bot.distance_to(public_end);
    if (!is_too_few && !w.split.is_requested()) return;
    publish(w, w.top);
  }
}

void direct_stack::emptied_slow(direct_task& t) noexcept {
  if (direct_self->end == nullptr) {  // in a child of fork(), which has no thieves
    t.state.give_back();
    return;
  }
  direct_member& w = member(*direct_self);
  w.team->emptied(w, t);
}

/// A task that its owner has taken, and emptied, does not keep thieves from the next one.
void direct_team::emptied(direct_member& w, direct_task& t) noexcept {
  check_task(w, t);
  // The owner holds t, as a thief that has claimed it: if `bot` points to it, no other worker writes `bot`.
  if (w.bot.is_at(&t)) {
    t.state.pass();
    w.bot.move_to(&t + 1);
    // The trip wire, as a thief's: the highest public task was taken, and forks come above it. direct-5: after the
    // store.
    bool const was_highest = &t + 1 == w.public_end.get();
    if (was_highest && should_ask_itself(w.unasked, [] { return std::uintptr_t{0}; })) w.split.request();
  } else {
    // There are older tasks. A thief that comes to this one runs nothing.
    t.state.give_back();
  }
  if (sleepers().anybody()) pass_on(w);
}

/// Private tasks of the scope are all emptied by now. No thief knows of them.
direct_task* direct_stack::drop_emptied(direct_worker& w, direct_task* base) noexcept {
  if (auto* const p = member(w).profile) [[unlikely]] {
    p->sync_ends(w, base);
    return w.top = base;
  }
  w.top = std::min(w.top, std::max(base, w.public_end.get()));
  return w.top;
}

bool direct_stack::is_done(task const& t) noexcept {
  if (auto* const p = member(*direct_self).profile) [[unlikely]] {
    p->takes_early(t);
    return true;
  }
  return detail::is_done(t.state.peek());
}

template void task_frame<direct_stack>::drain() noexcept;
template void task_frame<direct_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
