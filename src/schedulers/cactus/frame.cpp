// frame: many spawned tasks, one meeting.
#include "runtime/pools.hpp"
#include "schedulers/cactus/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {

void cactus_frame::remember_top() noexcept {
  worker_ = &strand_self();
  top_ = worker_->head;
  if (worker_->kind != strand_kind::cactus) return;
  auto const& m = *static_cast<cactus_member*>(worker_);
  starts_ = m.starts;
  if (!strand_) strand_ = m.stack;  // once: spawns from elsewhere look at it
}

/// Where the next task goes: to the worker, or it runs here; on a strand that is not the frame's, here too, and
/// nothing of the frame is touched.
cactus_frame::where cactus_frame::place_for_next() noexcept {
  strand_worker& w = strand_self();
  // Of a strand's frame only that strand may look at more.
  if (w.kind != strand_kind::cactus) return !strand_ && &w == worker_ ? where::here : where::foreign;
  auto& m = static_cast<cactus_member&>(w);
  if (m.stack != strand_) return where::foreign;
  if (&w != worker_ || w.head != top_ || m.starts != starts_) return where::here;
  if (pending_ == k_pending_most && !forget_stolen()) return where::here;
  if (!team_of(m).has_room(m)) return where::here;
  // It may have been moved to make room.
  top_ = w.head;
  starts_ = m.starts;
  return where::for_others;
}

/// Full: true if all tasks were stolen and are done. Else thieves get more of those that wait, since the next one
/// runs in place.
bool cactus_frame::forget_stolen() noexcept {
  if (runtime::strand_team::have_met(meeting_, pending_)) {
    pending_ = 0;
    return true;
  }
  // relaxed: as at a join's fork.
  if (top_ - 1 < worker_->split.load(std::memory_order_relaxed)) cactus_pushed_slow();
  return false;
}

void cactus_frame::push(waiting& task) noexcept {
  strand_worker& w = *worker_;
  *w.head = &task;
  ++pending_;
  top_ = ++w.head;
  // relaxed: as at a join's fork.
  if (top_ - 1 < w.split.load(std::memory_order_relaxed)) cactus_pushed_slow();
}

void cactus_frame::drain() noexcept {
  runtime::strand_member* const self = runtime::member_of_strand();
  if (!self || self->kind != strand_kind::cactus || self->stack != strand_) runtime::not_the_scope_s_owner();
  while (pending_) {
    auto& w = static_cast<cactus_member&>(runtime::this_member());
    if (team_of(w).take_back(w)) {
      // What was newer has come to its end, so this is the frame's newest task; or else we are in f of a join.
      if (&w != worker_ || w.starts != starts_ || w.head + 1 != top_) runtime::not_the_scope_s_owner();
      strand_task* const task = *w.head;
      top_ = w.head;
      --pending_;
      task->run(*task);
    } else {
      meeting_.begun_on = w.index;
      team_of(w).meet_thieves(meeting_, std::exchange(pending_, 0));
    }
  }
  remember_top();
}

}  // namespace filch::inline FILCH_ABI::detail
