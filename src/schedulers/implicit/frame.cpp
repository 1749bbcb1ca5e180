// frame: many spawned tasks, one join counter.
#include "runtime/pools.hpp"
#include "schedulers/implicit/worker.hpp"

#include <utility>

namespace filch::inline FILCH_ABI::detail {

// Never inlined, as optimisers of whole programs do: its own frame says where its caller's calls are.
[[gnu::noinline]] void implicit_frame::begin() noexcept {
  worker_ = &fiber_self();
  if (worker_->kind != fiber_kind::implicit) return;
  auto& w = static_cast<implicit_member&>(*worker_);
  auto const address = [](void const* p) { return reinterpret_cast<std::uint64_t>(p); };
  position_ = address(__builtin_frame_address(0));
  std::uint64_t const high = address(w.stack->memory().high());
  // On a stack of the caller's own making: tasks run where they are spawned.
  if (position_ < address(w.stack->memory().low()) || position_ >= high) return;
  stack_ = w.offers.load(std::memory_order_relaxed);
  // Where it lies: above the stack pointer of whose scope it is, below that of whoever called that. Elsewhere, on the
  // heap say: the call of this pushed a return address and a frame pointer.
  rank_ = address(this) > position_ && address(this) < high ? address(this) : position_ + 16;
  sequence_ = stack_->scopes++;
}

/// Where the next task goes: into the list, or it runs here; on a fiber that is not the frame's, here too, and
/// nothing of the frame is touched.
implicit_frame::where implicit_frame::place_for_next() noexcept {
  fiber_worker& w = fiber_self();
  if (w.kind != fiber_kind::implicit) return &w == worker_ ? where::here : where::foreign;
  if (static_cast<implicit_member&>(w).offers.load(std::memory_order_relaxed) != stack_) return where::foreign;
  if (!may_follow_newest()) return where::here;
  return waiting_ + offered_ < k_pending_most || make_room() ? where::for_others : where::here;
}

/// False where something newer was offered already: what is older would come too late. Join frames are ranked by the
/// stack pointer that they go on with, the higher the older; of equals the scope is the older one.
bool implicit_frame::may_follow_newest() const noexcept {
  implicit_record const* const newest = stack_->newest();
  if (!newest) return true;
  if (newest->what == implicit_record::kind::join) return rank_ < newest->rank;
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

/// Full: true if there is room again. Else thieves get more of those that wait, since the next one runs in place.
bool implicit_frame::make_room() noexcept {
  implicit_member& w = this_member();
  w.begin_change();
  forget_stolen();
  bool const has_room = waiting_ + offered_ < k_pending_most;
  w.end_change();
  if (!has_room) team_of(w).serve_thieves(w);
  return has_room;
}

/// If all that were offered were stolen and are done, their records are free again.
void implicit_frame::forget_stolen() noexcept {
  // Where it may follow the newest offer, and has offers, that one is its own.
  if (offered_ != 0 && may_follow_newest() && runtime::fiber_team::have_arrived(counter_, offered_))
    stack_->forget_stolen(std::exchange(offered_, 0));
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

/// The oldest that no thief has; null: there is none in the list, nor among the offers. Those that were offered are
/// older than those in the list. `is_offer`: it was taken as a thief takes it.
implicit_frame::waiting* implicit_frame::take_first(implicit_team& team, implicit_member& w,
                                                    bool& is_offer) noexcept {
  is_offer = false;
  if (!runtime::k_steals_are_forced && offered_ != 0) {
    // edge implicit-3: acquire, the steals so far.
    std::uint64_t word = stack_->open.load(std::memory_order_acquire);
    for (;;) {
      implicit_public const now = implicit_public::of(word);
      if (now.tail == now.head) break;  // all were stolen
      implicit_record const& oldest = stack_->record(now.tail);
      if (oldest.what != implicit_record::kind::spawned || oldest.scope != this) {
        return take_offers_back(team, w) ? &take_oldest() : nullptr;
      }
      // edge implicit-3: the offer is the owner's, or a thief has it: one word decides. It counts as stolen.
      if (!stack_->open.compare_exchange_weak(word, now.with_tail(now.tail + 1).word(), std::memory_order_seq_cst,
                                              std::memory_order_acquire)) {
        continue;
      }
      if (now.tail + 1 == now.head) team.took_last_offer(w);
      is_offer = true;
      return static_cast<waiting*>(oldest.task);
    }
  }
  return waiting_ ? &take_oldest() : nullptr;
}

/// Where offers of older frames lie below this one's, none of these was stolen: they go back into the list, in front.
/// False: thieves have taken all meanwhile, and the list is empty.
bool implicit_frame::take_offers_back(implicit_team& team, implicit_member& w) noexcept {
  while (offered_ != 0) {
    implicit_record const* const newest = stack_->newest();
    if (newest->what != implicit_record::kind::spawned || newest->scope != this) runtime::not_the_scope_s_owner();
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
  // relaxed: the worker's own.
  if (!self || self->kind != fiber_kind::implicit ||
      static_cast<implicit_member*>(self)->offers.load(std::memory_order_relaxed) != stack_) {
    runtime::not_the_scope_s_owner();
  }
  for (;;) {
    implicit_member& w = this_member();
    w.begin_change();
    bool is_offer = false;
    if (waiting* const task = take_first(team_of(w), w, is_offer)) {
      w.end_change();
      // relaxed: as at a join's fork. The task may be a long one. In a child of fork() nobody asks.
      if (w.poll.load(std::memory_order_relaxed) != 0 && team_of(w).alive()) team_of(w).publish(w);
      task->run(*task);
      // edge fiber-1: arrives as its thief would; the frame goes on here.
      if (is_offer) std::atomic_ref(counter_.balance).fetch_sub(1, std::memory_order_acq_rel);
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
      counter_.begun_on = w.index;
      runtime::cycles const begin = runtime::time_stamp();
      team.wait_for_parts(counter_, stolen);
      // Who ran them was paid; of a longer wait that would be a part.
      w.account.settle_steal(runtime::time_stamp() - begin);
      implicit_member& now = this_member();
      now.begin_change();
      // So many of the newest records: of spawned tasks that were stolen nobody needs them any more.
      stack_->forget_stolen(stolen);
      now.end_change();
      // Who asked while those were the newest got nothing, and sleeps, perhaps.
      if (now.poll.load(std::memory_order_relaxed) != 0) team.publish(now);
    }
  }
}

}  // namespace filch::inline FILCH_ABI::detail
