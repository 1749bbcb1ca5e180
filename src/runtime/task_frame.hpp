// Taking many spawned tasks off a task stack again. For the source file of each scheduler that has one.
#pragma once

#include <filch/detail/task_frame.hpp>

#include "runtime/pools.hpp"

namespace filch::inline FILCH_ABI::detail {

template <class Stack> void task_frame<Stack>::finish(task& t, join_outcome outcome) noexcept {
  // A task that is run in place may fork, or spawn into a scope around this one. That lies where the task lay: what
  // is in the descriptor is read first, and its exception comes back elsewhere.
  unsigned const number = number_of(t);
  alignas(std::exception_ptr) std::byte here[sizeof(std::exception_ptr)];
  void* room = t.payload;
  if (outcome == join_outcome::run_it) {
    room = here;
    outcome = t.run(t, room) ? join_outcome::returned : join_outcome::threw;
  }
  if (outcome == join_outcome::returned) return;
  std::exception_ptr e = take_exception(room);
  failure_.keep(e, number);
}

template <class Stack> void task_frame<Stack>::drain() noexcept {
  // In a child of fork() the thread is outside all pools, and what is not stolen is still the scope's.
  bool const is_owner = Stack::self() == worker_ || Stack::is_orphan(*worker_);
  if (!is_owner || worker_->top != next_) runtime::not_the_scope_s_owner();
  for (task* t = std::exchange(next_, nullptr); t != base_;) {
    worker_->top = --t;
    finish(*t, Stack::is_slow(*worker_, t) ? Stack::join_slow(*worker_, *t) : join_outcome::run_it);
  }
  next_ = base_;
}

/// No room for another task: takes those off the top that thieves have finished, without waiting for any. The next
/// one may run in place, so this is where thieves get more of those that wait.
template <class Stack> void task_frame<Stack>::reclaim() noexcept {
  while (next_ != base_) {
    task& t = next_[-1];
    if (!Stack::is_done(t)) return Stack::answer(*worker_);
    worker_->top = next_ = &t;
    finish(t, Stack::join_slow(*worker_, t));
  }
}

}  // namespace filch::inline FILCH_ABI::detail
