// Scopes: many spawned tasks, one join counter. Tasks wait in the scope's list; thieves get the oldest when they
// request (offer.cpp moves them to the stack's records), and sync() runs the rest. The fast path is in
// detail/implicit/frame.hpp. See protocol.md, "Scopes".
#include "runtime/pools.hpp"
#include "runtime/sanitizer.hpp"
#include "schedulers/implicit/checks.hpp"
#include "schedulers/implicit/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {

namespace {

/// A newer offer is that of a join whose f this is, or of a scope inside this one, which has not ended.
void check_newest_is_of(implicit_frame const& scope, implicit_stack& stack) noexcept {
  implicit_record const* const newest = stack.newest();
  if (!newest || newest->is_join() || newest->scope != &scope) runtime::not_the_scope_s_owner();
}

}  // namespace

// Never inlined, not even by optimisers of whole programs: its own frame says where its caller's calls are.
[[gnu::noinline]] void implicit_frame::begin() noexcept {
  worker_ = &fiber_self();
  if (worker_->kind != k_implicit_tag) return;
  auto& w = static_cast<implicit_member&>(*worker_);
  stack_ = w.offers.own();
  auto const address = [](void const* p) { return reinterpret_cast<std::uint64_t>(p); };
  position_ = address(__builtin_frame_address(0));
  std::uint64_t const high = address(w.stack->memory().high());
  // On a stack that the program has made itself, tasks run where they are spawned. So do those of a scope elsewhere,
  // on the heap say: it may have begun in a function that has returned, and has no place among the joins of its
  // caller.
  if (position_ < address(w.stack->memory().low()) || position_ >= high) return;
  // The scope lies above the stack pointer of its function, and below that of the function's caller.
  void const* const elsewhere = runtime::stack_pointer_of_owner(this);
  std::uint64_t const rank = address(elsewhere ? elsewhere : this);
  if (rank <= position_ || rank >= high) return;
  rank_ = rank;
  sequence_ = stack_->scopes++;
}

/// Where the next task goes: into the list, or it runs here. On another fiber than the scope's it runs here, too, and
/// touches nothing of the scope.
implicit_frame::where implicit_frame::place_for_next() noexcept {
  fiber_worker& w = fiber_self();
  if (w.kind != k_implicit_tag) return &w == worker_ ? where::here : where::foreign;
  if (static_cast<implicit_member&>(w).offers.own() != stack_) return where::foreign;
  if (rank_ == 0 || !may_follow_newest()) return where::here;
  return waiting_ + offered_ < k_pending_most || make_room() ? where::for_others : where::here;
}

/// False: something newer was offered already, and records must lie in the order of their age (I1). A join frame's
/// rank is the stack pointer with which it continues: the higher the older. At equal ranks the scope is older.
bool implicit_frame::may_follow_newest() const noexcept {
  implicit_record const* const newest = stack_->newest();
  if (!newest) return true;
  if (newest->is_join()) return rank_ < newest->rank;
  return sequence_ >= newest->scope->sequence_;
}

void implicit_frame::enlist() noexcept {
  implicit_frame* newer = nullptr;
  implicit_frame* older = stack_->newest_scope;
  while (older && older->sequence_ > sequence_) {
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

/// The scope is full. True: there is room again. Else the next task runs in place, so thieves get more of the others.
bool implicit_frame::make_room() noexcept {
  implicit_member& w = this_member();
  begin_change(w);
  check_scope(*this);
  forget_stolen();
  bool const has_room = waiting_ + offered_ < k_pending_most;
  end_change(w);
  if (!has_room) team_of(w).serve_thieves(w);
  return has_room;
}

/// If thieves have stolen and done all that was offered, the records are free again.
void implicit_frame::forget_stolen() noexcept {
  // A scope that may follow the newest offer, and has offers, has the newest one.
  if (offered_ != 0 && may_follow_newest() && runtime::fiber_team::have_arrived(counter_, offered_))
    stack_->open.forget_stolen(std::exchange(offered_, 0));
}

void implicit_frame::push(waiting& task) noexcept {
  implicit_member& w = this_member();
  w.change.begin();
  if (waiting_++ == 0) enlist();
  task.older = newest_;
  (newest_ ? newest_->newer : oldest_) = &task;
  newest_ = &task;
  check_scope(*this);
  w.change.end();
  if (w.request().is_set()) team_of(w).publish(w);
}

implicit_frame::waiting& implicit_frame::take_oldest() noexcept {
  waiting& task = *oldest_;
  oldest_ = task.newer;
  (oldest_ ? oldest_->older : newest_) = nullptr;
  if (--waiting_ == 0) leave_list();
  return task;
}

/// The oldest task that no thief has; null: there is none in the list, nor among the offers. Offered tasks are older
/// than those in the list. `is_offer`: the owner took an offer as a thief does, so the task counts as stolen.
implicit_frame::waiting* implicit_frame::take_first(implicit_team& team, implicit_member& w,
                                                    bool& is_offer) noexcept {
  is_offer = false;
  if (runtime::k_owners_take_offers && offered_ != 0) {
    for (;;) {
      runtime::open_places const now = stack_->open.look();
      if (now.is_empty()) break;  // all were stolen
      implicit_record const& oldest = stack_->record(now.tail);
      if (oldest.is_join() || oldest.scope != this) {
        return take_offers_back(team, w) ? &take_oldest() : nullptr;
      }
      if (!stack_->open.steal(now)) continue;
      // Workers that are on their way may find fewer offers than they are, and this task may be a long one.
      team.took_own_offer(w);
      is_offer = true;
      return static_cast<waiting*>(oldest.task);
    }
  }
  return waiting_ ? &take_oldest() : nullptr;
}

/// Offers of older frames lie below this scope's, so none of these was stolen: they go back to the front of the list.
/// False: thieves have taken all meanwhile, and the list is empty.
bool implicit_frame::take_offers_back(implicit_team& team, implicit_member& w) noexcept {
  while (offered_ != 0) {
    check_newest_is_of(*this, *stack_);
    if (!team.take_back(w, *stack_)) break;
    auto& task = static_cast<waiting&>(*stack_->record(stack_->number_of_records()).task);
    --offered_;
    if (waiting_++ == 0) enlist();
    task.newer = oldest_;
    task.older = nullptr;
    (oldest_ ? oldest_->older : newest_) = &task;
    oldest_ = &task;
  }
  return waiting_ != 0;
}

void implicit_frame::drain() noexcept {
  runtime::fiber_member* const self = runtime::member_of_fiber();
  if (!self || self->kind != k_implicit_tag || static_cast<implicit_member*>(self)->offers.own() != stack_) {
    runtime::not_the_scope_s_owner();
  }
  for (;;) {
    implicit_member& w = this_member();
    begin_change(w);
    check_scope(*this);
    bool is_offer = false;
    if (waiting* const task = take_first(team_of(w), w, is_offer)) {
      w.change.end();
      // The task may be a long one. In a child of fork() there are no thieves.
      if (w.request().is_set() && team_of(w).alive()) team_of(w).publish(w);
      task->run(*task);
      if (is_offer) counter_.arrive_as_owner();
      continue;
    }
    if (offered_ == 0) {
      end_change(w);
      return;
    }
    // All that was newer is done, so the stack's newest offers are this scope's.
    implicit_team& team = team_of(w);
    if (team.take_back(w, *stack_)) {
      implicit_record const& newest = stack_->record(stack_->number_of_records());
      // The offer of a join frame: this is code of its f.
      if (newest.is_join()) runtime::not_the_scope_s_owner();
      auto& task = static_cast<waiting&>(*newest.task);
      --task.frame.offered_;
      w.change.end();
      task.run(task);
    } else {
      check_newest_is_of(*this, *stack_);
      unsigned const stolen = std::exchange(offered_, 0);
      w.change.end();
      counter_.begun_on = w.index;
      runtime::cycles const begin = runtime::time_stamp();
      team.wait_for_parts(counter_, stolen);
      // Thieves have paid for the tasks already; the wait is a cost.
      w.account.settle_steal(runtime::time_stamp() - begin);
      implicit_member& now = this_member();
      now.change.begin();
      // The newest records are those of the stolen tasks, which are done. In f of a join an interrupt may have
      // offered the join meanwhile.
      check_newest_is_of(*this, *stack_);
      stack_->open.forget_stolen(stolen);
      end_change(now);
      // A thief that requested while those were the newest got nothing, and may sleep by now.
      if (now.request().is_set()) team.publish(now);
    }
  }
}

}  // namespace filch::inline FILCH_ABI::detail
