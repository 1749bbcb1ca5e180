// frame: many forks, one join.
#include "runtime/task_frame.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

bool channel_stack::is_done(task const& t) noexcept {
  future_state const state = t.future.peek();
  return state == future_state::returned || state == future_state::threw;
}

template void task_frame<channel_stack>::drain() noexcept;
template void task_frame<channel_stack>::reclaim() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
