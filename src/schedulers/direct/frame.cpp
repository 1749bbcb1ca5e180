// frame: taking many spawned tasks off the stack again.
#include "runtime/pools.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

void direct_frame::finish(direct_task& t, join_outcome outcome) noexcept {
  // Read first: a task run in place may fork, and its forks lie where it lay.
  unsigned const number = number_of(t);
  if (outcome == join_outcome::run_it) outcome = t.run(t) ? join_outcome::returned : join_outcome::threw;
  if (outcome == join_outcome::threw) keep(direct_take_exception(t), number);
}

void direct_frame::drain() noexcept {
  if (direct_self != worker_ || worker_->top != base_ + pending_) runtime::not_the_scope_s_owner();
  while (pending_) {
    direct_task& t = base_[--pending_];
    worker_->top = &t;
    // relaxed: as at a join's compare.
    bool const slow = &t < worker_->split.load(std::memory_order_relaxed);
    finish(t, slow ? direct_join_slow(*worker_, t) : join_outcome::run_it);
  }
}

/// Many are pending: takes those off the top that thieves have finished, without waiting for any.
void direct_frame::reclaim() noexcept {
  while (pending_) {
    direct_task& t = base_[pending_ - 1];
    std::uintptr_t const state = t.state.load(std::memory_order_acquire);
    if (state != k_returned && state != k_threw) return;
    --pending_;
    worker_->top = &t;
    finish(t, direct_join_slow(*worker_, t));
  }
}

}  // namespace filch::inline FILCH_ABI::detail
