// The open sources of tasks of a team: the task groups that were made in its pool. The worker loop asks it for one
// that has tasks. Protocol: task_groups.md, "Steps", 5.
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
  /// The sources that a worker may help: of any root, or of that call.
  struct of_root {
    std::uint16_t root;
    std::uint32_t call;
  };
  /// Such a source with tasks, or null. The worker helps it until done().
  source* take(of_root wanted) noexcept;
  void done(source& s) noexcept;
  /// Has one of them tasks?
  bool any_with_tasks(of_root wanted) noexcept;

 private:
  source* find(of_root wanted) const noexcept;

  shared_count open_;
  std::mutex mutex_;
  std::condition_variable left_;
  source* first_ = nullptr;  // under mutex_
};

}  // namespace filch::runtime
