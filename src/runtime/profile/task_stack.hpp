// FILCH_PROFILE for a scheduler with a task stack. The scheduler keeps its workers' compares such that each fork and
// join is slow, and calls this from its slow paths. Tasks run through their descriptors, as a thief would run them.
#pragma once

#include <filch/detail/task_stack.hpp>

#include "runtime/profile/measured_worker.hpp"

#include <cstddef>
#include <utility>

namespace filch::runtime::profile {

/// The measuring part of a worker. Its owner alone uses it. `let_loops_split(w, yes)` sets the word that wanted()
/// reads.
template <class Stack, void (*let_loops_split)(typename Stack::worker&, bool) noexcept>
class stack_profile : public measured_worker {
  using worker = typename Stack::worker;
  using task = typename Stack::task;

 public:
  /// For the descriptors [first, end).
  stack_profile(task* first, task* end) noexcept : measured_worker(end - first), first_(first) {}
  /// Writes to the first descriptors, which are free, and to their records: page faults would be in segments.
  void touch(worker& w) noexcept {
    std::ptrdiff_t const touched = touch_open_tasks();
    for (std::ptrdiff_t i = 0; i < touched; ++i) first_[i].payload[0] = std::byte{0};
    let_loops_split(w, true);
  }

  void pushed(worker& w, task& t) noexcept {
    forked(&t - first_, reinterpret_cast<code>(t.run));
    go_on(w, segment::of_f);
  }

  /// A join, or a full scope that takes its newest task off.
  detail::join_outcome join(worker& w, task& t) noexcept {
    bool const returned = std::exchange(early_, nullptr) == &t ? run_early(w, t) : run_g(w, t);
    w.top = &t;
    return returned ? detail::join_outcome::returned : detail::join_outcome::threw;
  }

  // A scope that syncs. In a child of fork() it may have begun to in the parent.
  void sync_begins() noexcept {
    if (!record_->is_orphan()) record_->sync_begins();
  }
  void task_begins(worker& w, task& t) noexcept {
    if (record_->is_orphan()) return;
    record_->task_begins(open_of(t));
    go_on(w, segment::of_task);
  }
  void sync_ends(worker& w, task* base) noexcept {
    if (record_->is_orphan()) return;
    record_->sync_ends(open_of(*base), end_of_open_tasks());
    go_on(w, segment::after_sync);
  }
  /// The scope is full: its newest task is about to be joined, as if a thief had finished it.
  void takes_early(task const& t) noexcept { early_ = &t; }

 private:
  open_task& open_of(task const& t) noexcept { return open(&t - first_); }

  bool run_g(worker& w, task& t) noexcept {
    open_task& open = open_of(t);
    record_->f_ended(open);
    w.top = &t + 1;  // as while a thief has it: the descriptor is in use
    go_on(w, segment::of_g);
    bool const returned = t.run(t, t.payload);
    record_->g_ended(open);
    go_on(w, segment::after_join);
    return returned;
  }
  bool run_early(worker& w, task& t) noexcept {
    open_task& open = open_of(t);
    spans const body = record_->early_begins(open);
    w.top = &t + 1;
    go_on(w, segment::of_task);
    bool const returned = t.run(t, t.payload);
    record_->early_ends(open, body);
    go_on(w, segment::of_f);
    return returned;
  }

  void go_on(worker& w, segment next) noexcept {
    if (loops_change()) let_loops_split(w, loops_split());
    record_->begins(next);
  }

  task* const first_;
  task const* early_ = nullptr;
};

}  // namespace filch::runtime::profile
