// States of task groups that have ended (spares.hpp). A group takes one when it is made, and leaves its own at its
// end. group_core calls it. Protocol: ../task_groups.md, "Memory".
#include "runtime/group/spares.hpp"

#include "runtime/group/state.hpp"

#include <mutex>
#include <utility>

namespace filch::runtime {

group_spares::~group_spares() {
  for (shelf& s : shelves_) {
    for (group_state* const state : s.states) delete state;
  }
}

std::unique_ptr<group_state> group_spares::take(unsigned worker) noexcept {
  shelf& s = shelves_[worker % k_shelves];
  std::lock_guard const lock(s.lock);
  for (group_state*& state : s.states) {
    if (state) return std::unique_ptr<group_state>(std::exchange(state, nullptr));
  }
  return nullptr;
}

void group_spares::keep(std::unique_ptr<group_state> state, unsigned worker) noexcept {
  state->forget();
  shelf& s = shelves_[worker % k_shelves];
  std::lock_guard const lock(s.lock);
  for (group_state*& place : s.states) {
    if (place) continue;
    place = state.release();
    return;
  }
}

}  // namespace filch::runtime
