// The state of a task group: lists of waiting tasks, one for each worker of the pool, and counts. core.cpp has
// the steps. Protocol: ../task_groups.md.
#pragma once

#include <filch/detail/group_core.hpp>

#include "runtime/group/words.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace filch::runtime {

using detail::group_task;

/// Waiting tasks, newest first, and free places. The lock holds for all but the reads of the counts.
class alignas(64) group_list {
 public:
  static constexpr std::uint64_t k_most = 1024;
  static constexpr unsigned k_most_free = 256;
  static constexpr unsigned k_most_free_of_spare = 2;

  group_list() noexcept = default;
  group_list(group_list const&) = delete;
  group_list& operator=(group_list const&) = delete;
  ~group_list();

  std::uint64_t size() const noexcept { return size_.get(); }
  std::uint64_t added() const noexcept { return added_.get(); }
  std::uint64_t over() const noexcept { return over_.get(); }

  /// A free place; null: as many as there may be wait, unless `at_any_size`.
  group_task* take_place(bool at_any_size) noexcept;
  void drop_place(group_task& t) noexcept;
  /// Adds it and calls tell(), under the lock. If that returns true, the adder calls woken() later. Else it does not
  /// touch the group any more.
  template <class Tell> bool add(group_task& t, Tell const& tell) noexcept {
    std::lock_guard const lock(lock_);
    link(t);
    bool const wakes = tell();
    if (wakes) wakers_.enter();
    return wakes;
  }
  /// The adder's last touch of the group.
  void woken() noexcept { wakers_.leave(); }
  /// Takes this task, if it is the newest.
  bool take_if_newest(group_task& t) noexcept;
  group_task* take_newest() noexcept;
  /// The oldest, half of what there is at most: a chain by `newer`.
  group_task* take_oldest() noexcept;
  /// A chain that was taken from another list, already counted.
  void put(group_task* oldest) noexcept;
  /// A task is over: counts it and calls tell(), under the lock, which is the last touch of the group.
  template <class Tell> void finish(group_task& t, Tell const& tell) noexcept {
    std::lock_guard const lock(lock_);
    keep_free(t);
    over_.add_one();
    tell();
  }
  /// A task that ran at once is over: calls tell(), under the lock, which is the last touch of the group.
  template <class Tell> void finish_at_once(Tell const& tell) noexcept {
    std::lock_guard const lock(lock_);
    tell();
  }
  /// After end(): deletes free places but for a few, for the next group.
  void keep_few_places() noexcept;
  /// The group ends: waits for the last holder of the lock, and for adders that wake a worker.
  void end() noexcept {
    {
      std::lock_guard const lock(lock_);
    }
    for (spin_wait spin; wakers_.any(); spin.once()) {  // edge group-7: acquire
    }
  }

 private:
  friend struct group_checks;
  void keep_free(group_task& t) noexcept;
  void link(group_task& t) noexcept;
  group_task* unlink_newest() noexcept;

  short_lock lock_;
  wakers_word wakers_;
  group_task* newest_ = nullptr;
  group_task* oldest_ = nullptr;
  group_task* free_ = nullptr;
  unsigned free_count_ = 0;
  shared_count size_;
  shared_count added_;
  shared_count over_;
};

struct group_state {
  std::unique_ptr<group_list[]> lists;
  unsigned number_of_lists = 0;
  waiters_word waiters;
  at_once_count at_once;
  hint_word<bool> is_cancelled;
  hint_word<bool> has_dropped;
  hint_word<bool> has_futures;
  hint_word<std::uint64_t> ended_waits;  // changed under failing
  std::mutex failing;
  std::vector<std::exception_ptr> failures;  // under failing
  std::exception_ptr first;                  // the same; there may be no memory for the others
  std::uint64_t last_with_loss = 0;  // the same: that many waits had ended when a task had thrown, or not begun
  // The same in a child of fork(), where a thread of the parent may hold `failing`. In a child of that child a thread
  // may hold this one: it is only tried.
  std::mutex failing_in_child;
  std::exception_ptr first_in_child;  // under failing_in_child

  /// For the next group, after the end of all lists. Counts go on: those of tasks that were added and are over are
  /// equal, and a wait reads the others when it begins.
  void forget() noexcept;
};

}  // namespace filch::runtime
