// FILCH_PROFILE for filch::direct: `split` stands above every descriptor for ever, so each fork and join is slow. The
// slow paths call direct_profile. Two such values of `split` differ in wanted(), for which loops split.
#pragma once

#include "runtime/profile/profile.hpp"
#include "runtime/profile/task_stack.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// Either value stays: nothing publishes a task, and no thief requests one.
inline void direct_let_loops_split(direct_worker& w, bool split) noexcept {
  // Above every descriptor, and no request.
  auto* const above_all = reinterpret_cast<direct_task*>(~std::uintptr_t{0} - sizeof(direct_task) + 1);
  if (split) {
    w.split.request();
  } else {
    w.split.answer(above_all);
  }
}

class direct_profile final : public runtime::profile::stack_profile<direct_stack, &direct_let_loops_split> {
 public:
  using stack_profile::stack_profile;
  ~direct_profile() override;
};

}  // namespace filch::inline FILCH_ABI::detail
