// The exception of futures whose task did not begin.
#pragma once

#include <filch/detail/platform.hpp>

#include <stdexcept>

namespace filch::inline FILCH_ABI {

/// get() of a future whose task did not begin, because its group was cancelled.
struct task_cancelled : std::runtime_error {
  task_cancelled() : std::runtime_error("filch: the task's group was cancelled before the task began") {}
};

}  // namespace filch::inline FILCH_ABI
