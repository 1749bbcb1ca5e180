// FILCH_PROFILE for filch::channel: the doorbell has rung for ever, so each fork and join is slow. The slow paths
// call channel_profile, and nothing serves.
#pragma once

#include "runtime/profile/profile.hpp"
#include "runtime/profile/task_stack.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// channel_wanted_slow() asks the profile. In other runs of the place the doorbell may have been answered.
inline void channel_let_loops_split(channel_worker& w, bool) noexcept { w.doorbell.ring(); }

class channel_profile final : public runtime::profile::stack_profile<channel_stack, &channel_let_loops_split> {
 public:
  using stack_profile::stack_profile;
  ~channel_profile() override;
};

}  // namespace filch::inline FILCH_ABI::detail
