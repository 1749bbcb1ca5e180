// Waits that run no other task: below conservative forks of Parlay, and in tasks of filch::task_group under channel.
#pragma once

#include <filch/detail/platform.hpp>

namespace filch::inline FILCH_ABI::detail {

/// While one lives, joins that wait on the worker with this count run no other task. For schedulers whose code stays
/// on its worker. Null: nothing changes.
class lone_waits_here {
 public:
  explicit lone_waits_here(unsigned* count) noexcept : count_(count) {
    if (count_ != nullptr) ++*count_;
  }
  ~lone_waits_here() {
    if (count_ != nullptr) --*count_;
  }
  lone_waits_here(lone_waits_here const&) = delete;
  lone_waits_here& operator=(lone_waits_here const&) = delete;

 private:
  unsigned* const count_;
};

}  // namespace filch::inline FILCH_ABI::detail
