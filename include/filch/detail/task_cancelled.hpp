// The exception of futures whose task did not begin.
#pragma once

#include <filch/detail/platform.hpp>

#include <stdexcept>

namespace filch::inline FILCH_ABI {

/// get() of a future whose task did not begin, because its group was cancelled.
class FILCH_API task_cancelled : public std::runtime_error {
 public:
  task_cancelled() : std::runtime_error("filch: the task's group was cancelled before the task began") {}
  task_cancelled(task_cancelled const&) = default;
  task_cancelled& operator=(task_cancelled const&) = default;
  ~task_cancelled() override;
};

}  // namespace filch::inline FILCH_ABI
