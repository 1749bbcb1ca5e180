// The owner: many forks on one frame, taken, given away and awaited. task_frame.hpp calls it. Protocol: protocol.md,
// "Scope".
#include "runtime/task_frame_sync.hpp"
#include "schedulers/channel/checks.hpp"
#include "schedulers/channel/profile.hpp"

#include <algorithm>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

bool channel_run_nothing(channel_task&, void*) noexcept { return true; }

/// A thief's request stands until it is answered.
void channel_stack::begins_sync(channel_worker& owner) noexcept {
  if (auto* const p = member(owner).profile) [[unlikely]]
    p->sync_begins();
}

channel_run channel_stack::take_slow(channel_worker& owner, channel_task& t) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]] {
    w.profile->task_begins(w, t);
    return t.run;
  }
  check(w);
  if (&t < w.bottom) return nullptr;
  // Emptied before it serves: a thief that gets this task with others has nothing to run.
  channel_run const run = std::exchange(t.run, &channel_run_nothing);
  if (w.doorbell.is_requested()) w.team->serve(w);
  return run;
}

channel_task* channel_stack::drop_emptied(channel_worker& owner, channel_task* base) noexcept {
  channel_member& w = member(owner);
  if (w.profile) [[unlikely]] {
    w.profile->sync_ends(w, base);
    return w.top = base;
  }
  check(w);
  // Tasks that were sent away and came back declined are not dropped.
  channel_task* const least = std::max(base, w.bottom);
  while (w.top > least && w.top[-1].run == &channel_run_nothing) --w.top;
  channel_task* const bottom = w.bottom;
  while (w.top != base && w.top == w.bottom && w.top[-1].future.peek() == future_state::returned) {
    w.top = --w.bottom;
    w.top->future.clear();
  }
  if (w.bottom != bottom) w.doorbell.move(bottom, w.bottom);
  return w.top;
}

bool channel_stack::is_done(task const& t) noexcept {
  if (auto* const p = member(*channel_self).profile) [[unlikely]] {
    p->takes_early(t);
    return true;
  }
  future_state const state = t.future.peek();
  return state == future_state::returned || state == future_state::threw;
}

template void task_frame<channel_stack>::drain() noexcept;
template void task_frame<channel_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
