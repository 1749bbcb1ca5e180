// The open sources of tasks of a team: the task groups that were made in its pool. The worker loop asks it for one
// that has tasks. Protocol: task_groups.md, "Helpers".
#pragma once

#include <filch/detail/task_source.hpp>

#include "runtime/group/words.hpp"
#include "runtime/places.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace filch::runtime {

class task_sources {
 public:
  using source = detail::task_source;

  /// Is any open? edge group-2: seq_cst.
  bool any() const noexcept { return open_.get() != 0; }
  void add(source& s) noexcept;
  /// Returns when it has no helper, and can get none.
  void remove(source& s) noexcept;
  /// A source with tasks that a worker with this limit may run, or null. The worker helps it until done().
  source* take(std::uint16_t limit) noexcept;
  void done(source& s) noexcept;
  /// Has one of them tasks that such a worker may run?
  bool any_with_tasks(std::uint16_t limit) noexcept;

 private:
  source* find(std::uint16_t limit) const noexcept;

  shared_count open_;
  std::mutex mutex_;
  std::condition_variable left_;
  source* first_ = nullptr;  // under mutex_
};

}  // namespace filch::runtime
