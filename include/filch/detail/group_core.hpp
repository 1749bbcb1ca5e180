// The part of filch::task_group that does not depend on its scheduler: tasks that wait, counts, the wait. In
// src/runtime/group. Protocol: src/runtime/task_groups.md.
#pragma once

#include <filch/detail/task_source.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

namespace filch::runtime {
struct group_state;
}

namespace filch::inline FILCH_ABI::detail {

/// A task of a group that has not begun, and the room for its closure.
struct group_task {
  static constexpr std::size_t k_room = 96;

  /// begins: runs the closure, which may throw. Destroys the closure in any case. Returns false if another thread
  /// runs the task: then that thread calls group_core::finish().
  bool (*run)(group_task&, bool begins) = nullptr;
  group_task* newer = nullptr;
  group_task* older = nullptr;
  void* future = nullptr;  // what it shares with its future
  alignas(16) std::byte room[k_room];
};

class FILCH_API group_core final : task_source {
 public:
  /// worker_index: of the scheduler.
  explicit group_core(unsigned (*worker_index)() noexcept);
  ~group_core();

  /// For the scheduler's attach(). Before anything else.
  task_source& source() noexcept { return *this; }
  /// After it: makes the room for tasks. Throws std::bad_alloc.
  void begin();

  /// A place for a task; null if as many as there may be wait, or there is no memory: the task is to run at once.
  group_task* take_place() noexcept;
  /// The place is not used.
  void drop_place(group_task& t) noexcept;
  /// Adds the task, which has its closure, and wakes a worker for it.
  void add(group_task& t) noexcept;
  /// After a task that another thread than the one that took it has run: it is over. The group may be gone then.
  void finish(group_task& t) noexcept;
  /// Around a task that runs at once.
  void begins_at_once() noexcept;
  void ends_at_once() noexcept;

  /// Runs tasks until all are over. Called on a worker of the pool, where there is one.
  void wait() noexcept;
  /// Are all tasks over?
  bool is_over() const noexcept;

  /// A task threw: tasks that have not begun do not begin.
  void failed(std::exception_ptr e) noexcept;
  void cancel() noexcept;
  bool is_cancelled() const noexcept;
  /// After wait(): forgets the request to cancel. Returns whether a task did not begin because of it, and moves the
  /// exceptions to `failures`, in the order in which they were thrown.
  bool begin_anew(std::vector<std::exception_ptr>& failures) noexcept;
  /// A token of the caller's that cancels the group as well.
  void cancelled_by(void const* token, bool (*is_stopped)(void const*) noexcept) noexcept;

  bool has_tasks() const noexcept override;
  void help() noexcept override;

 private:
  group_task* pop() noexcept;
  bool run_one() noexcept;
  void sleep_until_something() noexcept;

  std::unique_ptr<runtime::group_state> state_;
  unsigned (*const worker_index_)() noexcept;
  void const* token_ = nullptr;
  bool (*is_stopped_)(void const*) noexcept = nullptr;
};

}  // namespace filch::inline FILCH_ABI::detail
