// A source of tasks that no frame owns: the tasks of a filch::task_group. Workers of a pool that find no other task
// call help(). Protocol: src/runtime/task_groups.md.
#pragma once

#include <filch/detail/platform.hpp>

#include <cstdint>

namespace filch::runtime {
class group_spares;
class task_sources;
class team;
}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

/// The scheduler's attach() gives it a pool. A source without one has no helpers.
class FILCH_API task_source {
 public:
  task_source(task_source const&) = delete;
  task_source& operator=(task_source const&) = delete;

  /// Is there a task that no worker has taken? Reads in the single total order (edge group-2).
  virtual bool has_tasks() const noexcept = 0;
  /// Runs some tasks. Called on a worker, and may return on another thread.
  virtual void help() noexcept = 0;

 protected:
  task_source() noexcept = default;
  virtual ~task_source();
  /// After the scheduler's attach(), if it attached this to a pool: from here on its workers call has_tasks() and
  /// help(). By that worker, or by a thread that is none.
  void open(unsigned worker) noexcept;
  /// Made before a task is added. After that the source may be gone: so the adder asks under a lock for which the
  /// source's end waits, and the end waits for wake() as well.
  class FILCH_API helpers_call {
   public:
    explicit helpers_call(task_source const& s) noexcept : team_(s.team_), root_(s.root_), call_(s.call_) {}
    /// Sleeps a worker that may run the task?
    bool is_due() const noexcept;
    /// Wakes one. The pool lives until it returns.
    void wake() const noexcept;

   private:
    runtime::team* const team_;
    std::uint16_t const root_;
    std::uint32_t const call_;
  };
  /// Returns when no worker is in help(); none will come.
  void detach() noexcept;
  /// The pool's states of groups that have ended; null without a pool, and in a child of fork().
  runtime::group_spares* spares() const noexcept;
  /// The number of workers of the pool, or 1.
  unsigned workers() const noexcept;
  /// False in a child of fork(): the pool's threads stayed with the parent.
  bool has_its_threads() const noexcept;

 private:
  friend class runtime::team;
  friend class runtime::task_sources;

  // Written before it is open.
  runtime::team* team_ = nullptr;
  bool is_open_ = false;
  std::uint16_t root_ = 0;
  std::uint32_t call_ = 0;  // the number of the root's call: its place may have another one later
  unsigned list_ = 0;       // of the pool's lists
  // Under the lock of that list.
  task_source* newer_ = nullptr;
  task_source* older_ = nullptr;
  unsigned helpers_ = 0;
};

}  // namespace filch::inline FILCH_ABI::detail
