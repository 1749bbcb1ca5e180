// The part of filch::task_group that does not depend on its scheduler: tasks that wait, counts, the wait. In
// src/runtime/group. Protocol: src/runtime/task_groups.md.
#pragma once

#include <filch/detail/lone_waits.hpp>
#include <filch/detail/task_source.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace filch::runtime {
struct group_state;
}

namespace filch::inline FILCH_ABI::detail {

/// A task that was taken off its list: it ran, or was dropped, or get() of its future runs it and calls
/// group_core::finish().
enum class group_outcome { ran, dropped, elsewhere };

/// A task of a group that has not begun, and the room for its closure.
struct group_task {
  static constexpr std::size_t k_room = 96;

  /// begins: runs the closure, which may throw. Destroys the closure in any case.
  group_outcome (*run)(group_task&, bool begins) = nullptr;
  group_task* newer = nullptr;
  group_task* older = nullptr;
  void* future = nullptr;  // what it shares with its future
  alignas(16) std::byte room[k_room];
};

class FILCH_API group_core final : task_source {
 public:
  /// worker_index: of the scheduler. tasks_on_stack: of a scheduler that runs tasks on top of waits: the count of the
  /// calling worker's, or null.
  group_core(unsigned (*worker_index)() noexcept, unsigned* (*tasks_on_stack)() noexcept);
  ~group_core() override;

  /// For the scheduler's attach(). Before anything else.
  task_source& source() noexcept { return *this; }
  /// After it: makes the room for tasks. Throws std::bad_alloc.
  void begin();

  /// A place for a task; null if as many as there may be wait, or there is no memory: the task is to run at once.
  group_task* take_place() noexcept;
  /// The place is not used.
  void drop_place(group_task& t) noexcept;
  /// Adds the task, which has its closure, and wakes a worker for it. The group may be gone then, if the caller is no
  /// task of it.
  void add(group_task& t) noexcept;
  /// Tasks have futures: from here on none runs at once, for it might wait for the task that adds it.
  void has_futures() noexcept;
  /// After a task that another thread than the one that took it has run: it is over. The group may be gone then.
  void finish(group_task& t) noexcept;
  /// The same before: takes it off the caller's list, if it is the newest there.
  bool take_if_newest(group_task& t) noexcept;
  /// A task did not begin.
  void has_dropped() noexcept;
  /// Around a task that runs at once. The group may be gone afterwards, as after finish().
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
  /// Before wait(), for begin_anew().
  std::uint64_t ended_waits() const noexcept;
  /// After wait(): forgets the request to cancel. Moves the exceptions to `failures`, in the order in which they were
  /// thrown, and the first one to `first`. Those of waits at the same time stay there. Returns whether a task did not
  /// begin, or threw, since the wait began. Several threads may call it with the same `failures`.
  bool begin_anew(std::uint64_t ended_before, std::vector<std::exception_ptr>& failures,
                  std::exception_ptr& first) noexcept;
  /// A token that cancels the group as well. The group destroys it.
  void cancelled_by(void* token, bool (*is_stopped)(void const*) noexcept, void (*destroy)(void*) noexcept) noexcept;
  unsigned* stack_count() const noexcept { return tasks_on_stack_ ? tasks_on_stack_() : nullptr; }

  bool has_tasks() const noexcept override;
  void help() noexcept override;

 private:
  group_task* pop() noexcept;
  bool run_one() noexcept;
  void sleep_until_something() noexcept;
  void take_failures(std::vector<std::exception_ptr>& failures, std::exception_ptr& first) noexcept;
  bool takes_tasks_again(std::uint64_t ended_before, bool has_failed) noexcept;

  std::unique_ptr<runtime::group_state> state_;
  unsigned (*const worker_index_)() noexcept;
  unsigned* (*const tasks_on_stack_)() noexcept;
  void* token_ = nullptr;
  bool (*is_stopped_)(void const*) noexcept = nullptr;
  void (*destroy_)(void*) noexcept = nullptr;
};

}  // namespace filch::inline FILCH_ABI::detail
