// FILCH_PROFILE for filch::cactus: `split` stands above every place for ever, so each fork and join is slow. The slow
// paths and frame.cpp call cactus_profile. A measured worker publishes nothing. Two such values of `split` differ in
// wanted(), for which loops split.
#pragma once

#include "runtime/profile/measured_worker.hpp"
#include "runtime/profile/profile.hpp"
#include "schedulers/cactus/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Its tasks are numbered by their places.
class cactus_profile final : public runtime::profile::measured_worker {
 public:
  using index = std::uint32_t;

  explicit cactus_profile(std::ptrdiff_t most) noexcept : measured_worker(most) {}
  ~cactus_profile() override;
  void touch(cactus_member& w) noexcept;

  /// The newest task was pushed: a join's, or a scope's, whose place is its ticket's.
  void pushed(cactus_member& w, void const* code) noexcept;
  /// A join whose newest task is at the head: runs it, as a thief would.
  cactus_outcome join(cactus_member& w) noexcept;

  /// `run(i)` runs the scope's task i. The tickets of all of them lie from `first` to the head.
  template <class Run> void sync(cactus_member& w, index first, Run const& run) noexcept {
    // A scope behind the last place with a record is a part of what runs around it.
    bool const is_recorded = has_record(first);
    if (is_recorded) record_->sync_begins();
    for (index i = first; i != w.index_of_head(); ++i) {
      if (has_record(i)) {
        record_->task_begins(open(i));
        go_on(w, runtime::profile::segment::of_task);
      }
      run(i - first);
    }
    if (!is_recorded) return;
    record_->sync_ends(open(first), end_of_open_tasks());
    go_on(w, runtime::profile::segment::after_sync);
  }
  /// The scope is full: the same before its sync, from the newest task on.
  template <class Run> void run_early(cactus_member& w, index first, Run const& run) noexcept {
    for (index i = w.index_of_head(); i-- != first; w.head = w.base + i) {
      if (!has_record(i)) {
        run(i - first);
        continue;
      }
      auto const body = record_->early_begins(open(i));
      go_on(w, runtime::profile::segment::of_task);
      run(i - first);
      record_->early_ends(open(i), body);
      go_on(w, runtime::profile::segment::of_f);
    }
  }

 private:
  bool has_record(index i) const noexcept { return static_cast<std::ptrdiff_t>(i) < most_open_tasks(); }
  void go_on(cactus_member& w, runtime::profile::segment next) noexcept;
};

}  // namespace filch::inline FILCH_ABI::detail
