// sync() of a task_frame: runs the spawned tasks of a scope, and takes them off the task stack. Instantiated in
// frame.cpp of each scheduler with a task stack. Protocol: "Scope" in its protocol.md.
#pragma once

#include <filch/detail/task_frame.hpp>

#include "runtime/pools.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Runs a task on its owner. It may fork, or spawn into a scope around this one. If it was taken off the stack
/// before, those tasks overwrite its descriptor. So its number is read first, and its exception has a room elsewhere.
template <class Stack> void task_frame<Stack>::run_here(task& t, decltype(task::run) run) noexcept {
  unsigned const number = number_of(t);
  alignas(std::exception_ptr) std::byte room[sizeof(std::exception_ptr)];
  if (run(t, room)) return;
  std::exception_ptr e = take_exception(room);
  failure_.keep(e, number);
}

template <class Stack> void task_frame<Stack>::finish(task& t, join_outcome outcome) noexcept {
  if (outcome == join_outcome::returned) return;
  if (outcome == join_outcome::run_it) return run_here(t, t.run);
  unsigned const number = number_of(t);
  std::exception_ptr e = take_exception(t.payload);
  failure_.keep(e, number);
}

/// Runs the tasks from base_ to `end` that no thief has, the oldest first. They stay on the stack, emptied.
template <class Stack> void task_frame<Stack>::run_in_order(task* end) noexcept {
  for (task* t = base_; t != end; ++t) {
    auto const run = Stack::is_slow(*worker_, t) ? Stack::take_slow(*worker_, *t) : t->run;
    if (run) run_here(*t, run);
  }
}

template <class Stack> void task_frame<Stack>::drain() noexcept {
  // In a child of fork() the thread is outside all pools, and the scope still runs the tasks that are not stolen.
  bool const is_owner = Stack::self() == worker_ || Stack::is_orphan(*worker_);
  if (!is_owner || worker_->top != next_) runtime::not_the_scope_s_owner();
  if (Stack::self() == worker_) Stack::begins_sync(*worker_);
  run_in_order(std::exchange(next_, nullptr));
  for (task* t = Stack::drop_emptied(*worker_, base_); t != base_;) {
    worker_->top = --t;
    join_outcome const outcome = Stack::is_slow(*worker_, t) ? Stack::join_slow(*worker_, *t) : join_outcome::run_it;
    if (Stack::k_gets_several_back && outcome == join_outcome::run_it) {
      worker_->top = t + 1;
      run_in_order(t + 1);
      t = Stack::drop_emptied(*worker_, base_);
    } else {
      finish(*t, outcome);
    }
  }
  next_ = base_;
}

/// Called if there is no room for another task: takes tasks that thieves have finished off the top, without a wait.
/// The next spawn may run in place, so thieves get more of the waiting tasks here.
template <class Stack> void task_frame<Stack>::reclaim() noexcept {
  while (next_ != base_) {
    task& t = next_[-1];
    if (!Stack::is_done(t)) return Stack::answer(*worker_);
    worker_->top = next_ = &t;
    finish(t, Stack::join_slow(*worker_, t));
  }
}

}  // namespace filch::inline FILCH_ABI::detail
