// FILCH_PROFILE for a scheduler with a task stack. The scheduler keeps its workers' compares such that each fork and
// join is slow, and calls this from its slow paths. Tasks run through their descriptors, as a thief would run them.
#pragma once

#include <filch/detail/task_stack.hpp>

#include "os/linux/memory.hpp"
#include "runtime/profile/record.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace filch::runtime::profile {

/// The measuring part of a worker. Its owner alone uses it. `let_loops_split(w, yes)` sets the word that wanted()
/// reads.
template <class Stack, void (*let_loops_split)(typename Stack::worker&, bool) noexcept> class stack_profile {
  using worker = typename Stack::worker;
  using task = typename Stack::task;

 public:
  /// For the descriptors [first, end).
  stack_profile(task* first, task* end) noexcept
      : first_(first), room_(static_cast<std::size_t>(end - first) * sizeof(open_task)), number_(end - first) {}
  bool is_valid() const noexcept { return room_.valid(); }
  /// Writes to the first descriptors, which are free, and to their records: page faults would be in segments.
  void touch() noexcept {
    std::ptrdiff_t const touched = std::min<std::ptrdiff_t>(number_, 8192);
    for (std::ptrdiff_t i = 0; i < touched; ++i) {
      first_[i].payload[0] = std::byte{0};
      ::new (static_cast<void*>(open_tasks() + i)) open_task;
    }
  }

  /// The worker's thread, while a call lasts. Returns the one before.
  record* use(record* r) noexcept { return std::exchange(record_, r); }
  record& of_thread() noexcept { return *record_; }

  void pushed(worker& w, task& t) noexcept {
    auto& open = *::new (static_cast<void*>(&open_of(t))) open_task;
    record_->forked(open, reinterpret_cast<code>(t.run));
    // Else the stores above, and at the next fork, would stall the code of the program.
    for (std::ptrdiff_t i = 0; i < k_cache_lines; ++i)
      __builtin_prefetch(reinterpret_cast<std::byte*>(&open + 1) + i * 64, 1);
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
    record_->sync_ends(open_of(*base), open_tasks() + number_);
    go_on(w, segment::after_sync);
  }
  /// The scope is full: its newest task is about to be joined, as if a thief had finished it.
  void takes_early(task const& t) noexcept { early_ = &t; }

 private:
  static constexpr std::ptrdiff_t k_cache_lines = 2;  // of an open_task, to write

  open_task* open_tasks() noexcept { return reinterpret_cast<open_task*>(room_.low()); }
  open_task& open_of(task const& t) noexcept { return open_tasks()[&t - first_]; }

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
    adapt(w);
    record_->begins(next);
  }
  /// Splitting of loops to the last iteration would cost more than it shows.
  void adapt(worker& w) noexcept {
    bool const split = record_->lets_loops_split();
    if (split == loops_split_) return;
    loops_split_ = split;
    let_loops_split(w, split);
  }

  task* const first_;
  os::reservation room_;  // an open_task for each descriptor
  std::ptrdiff_t const number_;
  record* record_ = nullptr;
  task const* early_ = nullptr;
  bool loops_split_ = true;
};

}  // namespace filch::runtime::profile
