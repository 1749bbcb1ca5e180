// The bytes of a guard that several threads touch: 0 says to compiled code that the variable is there, 1 that a
// thread makes it.
#pragma once

#include <atomic>

namespace filch::races {

enum class guard_state { is_done, is_mine, is_taken };

[[nodiscard]] inline guard_state take_guard(unsigned char* guard) noexcept {
  // edge races-3: acquire, the variable.
  if (std::atomic_ref<unsigned char>(guard[0]).load(std::memory_order_acquire) != 0) return guard_state::is_done;
  // edge races-4: acquire, what a thread has done that gave up. The variable may have been made meanwhile.
  if (std::atomic_ref<unsigned char>(guard[1]).exchange(1, std::memory_order_acquire) != 0)
    return guard_state::is_taken;
  if (std::atomic_ref<unsigned char>(guard[0]).load(std::memory_order_acquire) == 0) return guard_state::is_mine;
  std::atomic_ref<unsigned char>(guard[1]).store(0, std::memory_order_release);
  return guard_state::is_done;
}

inline void leave_guard(unsigned char* guard, bool is_made) noexcept {
  // edge races-3: release, the variable.
  if (is_made) std::atomic_ref<unsigned char>(guard[0]).store(1, std::memory_order_release);
  std::atomic_ref<unsigned char>(guard[1]).store(0, std::memory_order_release);  // edge races-4: release
}

}  // namespace filch::races
