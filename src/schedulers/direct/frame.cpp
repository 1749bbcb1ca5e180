// The owner runs the tasks of a scope, from the oldest to the newest, each where it lies. task_frame
// (src/runtime/task_frame_sync.hpp) calls these functions. Protocol: "Scope" in protocol.md.
#include "runtime/task_frame_sync.hpp"
#include "schedulers/direct/checks.hpp"
#include "schedulers/direct/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

bool direct_run_nothing(direct_task&, void*) noexcept { return true; }

direct_run direct_stack::take_slow(direct_worker& owner, direct_task& t) noexcept {
  direct_member& w = member(owner);
  check_worker(w, w.top);
  if (&t < w.public_end.get()) {
    if (!t.state.take()) return nullptr;
    w.team->took_public(w);
    return t.run;
  }
  check_private(w, t);
  direct_run const run = t.run;
  if (w.split.is_requested() && &t + 1 < w.top) {
    // The owner has it, and thieves get the tasks above. A thief that takes this one does not look at its payload.
    t.run = &direct_run_nothing;
    w.team->publish(w, w.top);
  }
  return run;
}

/// One public task fewer for thieves: while more workers search than tasks are left, private ones become public. The
/// task that the owner has taken may be long.
void direct_team::took_public(direct_member& w) noexcept {
  direct_task* const public_end = w.public_end.get();
  if (w.top <= public_end) return;
  auto const all_but_this = [&] { return w.bot.distance_to(public_end) - 1; };
  if (should_ask_itself(w.unasked, all_but_this)) publish(w, w.top);
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
  w.top = std::min(w.top, std::max(base, w.public_end.get()));
  return w.top;
}

bool direct_stack::is_done(task const& t) noexcept { return detail::is_done(t.state.peek()); }

template void task_frame<direct_stack>::drain() noexcept;
template void task_frame<direct_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
