// frame: many spawned tasks, one meeting.
#include "runtime/pools.hpp"
#include "schedulers/implicit/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {

// Never inlined, as optimisers of whole programs do: its own frame says where its caller's calls are.
[[gnu::noinline]] void implicit_frame::begin() noexcept {
  worker_ = &strand_self();
  if (worker_->kind != strand_kind::implicit) return;
  stack_ = static_cast<implicit_member*>(worker_)->offers.load(std::memory_order_relaxed);
  position_ = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  sequence_ = stack_->scopes++;
}

/// Where the next task goes: into the list, or it runs here; on a strand that is not the frame's, here too, and
/// nothing of the frame is touched.
implicit_frame::where implicit_frame::place_for_next() noexcept {
  strand_worker& w = strand_self();
  if (w.kind != strand_kind::implicit) return &w == worker_ ? where::here : where::foreign;
  if (static_cast<implicit_member&>(w).offers.load(std::memory_order_relaxed) != stack_) return where::foreign;
  if (!may_follow_newest()) return where::here;
  return waiting_ + offered_ < k_pending_most || forget_stolen() ? where::for_others : where::here;
}

/// Its place among join frames, which are ranked by the stack pointer that they go on with: the higher the older, and
/// of equals the scope is the older one. The call of begin() pushed a return address and a frame pointer.
std::uint64_t implicit_frame::rank() const noexcept { return position_ + 16; }

/// False where something newer was offered already: what is older would come too late.
bool implicit_frame::may_follow_newest() const noexcept {
  implicit_record const* const newest = stack_->newest();
  if (!newest) return true;
  if (rank() != newest->rank || newest->what == implicit_record::kind::join) return rank() < newest->rank;
  return sequence_ >= newest->scope;
}

void implicit_frame::enlist() noexcept {
  implicit_frame* newer = nullptr;
  implicit_frame* older = stack_->newest_scope;
  while (older && (older->position_ < position_ || (older->position_ == position_ && older->sequence_ > sequence_))) {
    newer = older;
    older = older->older_;
  }
  newer_ = newer;
  older_ = older;
  (newer ? newer->older_ : stack_->newest_scope) = this;
  (older ? older->newer_ : stack_->oldest_scope) = this;
}

void implicit_frame::leave_list() noexcept {
  (newer_ ? newer_->older_ : stack_->newest_scope) = older_;
  (older_ ? older_->newer_ : stack_->oldest_scope) = newer_;
  newer_ = older_ = nullptr;
}

/// Full: true if all tasks were stolen and are done. Else thieves get more of those that wait, since the next one
/// runs in place.
bool implicit_frame::forget_stolen() noexcept {
  implicit_member& w = this_member();
  w.begin_change();
  // Where it may follow the newest offer, and has offers, that one is its own.
  bool const all = waiting_ == 0 && may_follow_newest() && runtime::strand_team::have_met(meeting_, offered_);
  if (all) stack_->forget_stolen(std::exchange(offered_, 0));
  w.end_change();
  if (!all) team_of(w).give_to_who_asks(w);
  return all;
}

void implicit_frame::push(waiting& task) noexcept {
  implicit_member& w = this_member();
  w.begin_change();
  if (waiting_++ == 0) enlist();
  task.older = newest_;
  (newest_ ? newest_->newer : oldest_) = &task;
  newest_ = &task;
  w.end_change();
  // relaxed: as at a join's fork.
  if (w.poll.load(std::memory_order_relaxed) != 0) team_of(w).publish(w);
}

implicit_frame::waiting& implicit_frame::take_oldest() noexcept {
  waiting& task = *oldest_;
  oldest_ = task.newer;
  (oldest_ ? oldest_->older : newest_) = nullptr;
  if (--waiting_ == 0) leave_list();
  return task;
}

implicit_frame::waiting& implicit_frame::take_newest() noexcept {
  waiting& task = *newest_;
  newest_ = task.older;
  (newest_ ? newest_->newer : oldest_) = nullptr;
  if (--waiting_ == 0) leave_list();
  return task;
}

void implicit_frame::drain() noexcept {
  runtime::strand_member* const self = runtime::member_of_strand();
  // relaxed: the worker's own.
  if (!self || self->kind != strand_kind::implicit ||
      static_cast<implicit_member*>(self)->offers.load(std::memory_order_relaxed) != stack_) {
    runtime::not_the_scope_s_owner();
  }
  for (;;) {
    implicit_member& w = this_member();
    w.begin_change();
    if (waiting_) {
      waiting& task = take_newest();
      w.end_change();
      task.run(task);
      continue;
    }
    if (offered_ == 0) {
      w.end_change();
      return;
    }
    // All that was newer has come to its end, so the stack's newest offers are this frame's.
    implicit_team& team = team_of(w);
    if (team.take_back(w, *stack_)) {
      implicit_record const& newest = stack_->record(stack_->number_of_records());
      // A join frame's: this is in its f.
      if (newest.what != implicit_record::kind::spawned) runtime::not_the_scope_s_owner();
      auto& task = static_cast<waiting&>(*newest.task);
      --task.frame.offered_;
      w.end_change();
      task.run(task);
    } else {
      unsigned const stolen = std::exchange(offered_, 0);
      w.end_change();
      meeting_.begun_on = w.index;
      team.wait_at(meeting_, stolen);
      this_member().begin_change();
      // So many of the newest records: of spawned tasks that were stolen nobody needs them any more.
      stack_->forget_stolen(stolen);
      this_member().end_change();
    }
  }
}

}  // namespace filch::inline FILCH_ABI::detail
