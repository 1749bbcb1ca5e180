// frame: many forks, one join.
#include "runtime/task_frame.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

bool direct_stack::is_done(task const& t) noexcept {
  std::uintptr_t const state = t.state.load(std::memory_order_acquire);
  return state == k_returned || state == k_threw;
}

template void task_frame<direct_stack>::drain() noexcept;
template void task_frame<direct_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
