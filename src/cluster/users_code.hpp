// Calls of users' packing under the endpoint's mutex. Protocol: protocol.md, "Transport".
#pragma once

#include <filch/detail/cluster_rank_worker.hpp>
#include <filch/stay.hpp>

namespace filch::inline FILCH_ABI::detail {

/// Joins in f run in order and on this thread, since it holds the mutex. f sees no exceptions of the task that polls.
template <class Fn> void call_packing(Fn f) {
  exceptions_aside const of_the_task;
  stay(f);
}

}  // namespace filch::inline FILCH_ABI::detail
