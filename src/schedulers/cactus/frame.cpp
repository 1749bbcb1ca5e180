// frame: many spawned tasks, one meeting.
#include "runtime/pools.hpp"
#include "schedulers/cactus/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {

void cactus_frame::begin() noexcept {
  worker_ = &strand_self();
  if (worker_->kind != strand_kind::cactus) return;
  auto& m = static_cast<cactus_member&>(*worker_);
  strand_ = m.stack;
  forks_ = open_forks(m);
}

/// Where the next task goes: to the worker, or it runs here; on a strand that is not the frame's, here too, and
/// nothing of the frame is touched.
cactus_frame::where cactus_frame::place_for_next() noexcept {
  strand_worker& w = strand_self();
  // Of a strand's frame only that strand may look at more.
  if (w.kind != strand_kind::cactus) return !strand_ && &w == worker_ ? where::here : where::foreign;
  auto& m = static_cast<cactus_member&>(w);
  if (m.stack != strand_) return where::foreign;
  if (open_forks(m) != forks_) return where::here;
  if (pending_ == k_pending_most && !forget_stolen()) return where::here;
  return team_of(m).has_room(m) ? where::for_others : where::here;
}

/// Full: true if all tasks were stolen and are done. Else thieves get more of those that wait, since the next one
/// runs in place.
bool cactus_frame::forget_stolen() noexcept {
  auto& w = static_cast<cactus_member&>(strand_self());
  if (runtime::strand_team::have_met(meeting_, pending_)) {
    close_forks(w, pending_);
    forks_ -= std::exchange(pending_, 0);
    return true;
  }
  // relaxed: as at a join's fork.
  if (w.head - 1 < w.split.load(std::memory_order_relaxed)) cactus_pushed_slow();
  return false;
}

void cactus_frame::push(waiting& task) noexcept {
  strand_worker& w = strand_self();
  *w.head++ = &task;
  ++pending_;
  ++forks_;
  // relaxed: as at a join's fork.
  if (w.head - 1 < w.split.load(std::memory_order_relaxed)) cactus_pushed_slow();
}

void cactus_frame::drain() noexcept {
  runtime::strand_member* const self = runtime::member_of_strand();
  if (!self || self->kind != strand_kind::cactus || self->stack != strand_) runtime::not_the_scope_s_owner();
  while (pending_) {
    auto& w = static_cast<cactus_member&>(runtime::this_member());
    // What was newer has come to its end, so the newest is the frame's; or else we are in f of a join.
    if (open_forks(w) != forks_) runtime::not_the_scope_s_owner();
    if (team_of(w).take_back(w)) {
      strand_task* const task = *w.head;
      --pending_;
      --forks_;
      task->run(*task);
    } else {
      unsigned const stolen = std::exchange(pending_, 0);
      forks_ -= stolen;
      meeting_.begun_on = w.index;
      team_of(w).meet_thieves(meeting_, stolen);
    }
  }
}

}  // namespace filch::inline FILCH_ABI::detail
