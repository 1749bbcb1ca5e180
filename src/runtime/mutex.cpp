// The slow paths of filch::mutex: spins, offers the worker's tasks, then sleeps on the word. Called if another
// thread holds the lock.
#include <filch/mutex.hpp>

#include "os/linux/futex.hpp"
#include "runtime/nesting.hpp"
#include "runtime/serve_thieves.hpp"
#include "runtime/spin.hpp"

namespace filch::inline FILCH_ABI {

void mutex::lock_slow() noexcept {
  // With forced steals the holder may wait for the very worker that would sleep here.
  while (runtime::gives_way()) {
    if (try_lock()) return;
  }
  // If others sleep already, it takes longer than a spin.
  for (runtime::spin_wait spin; spin.turns() < 64; spin.once()) {
    // relaxed: a hint; try_lock() synchronises.
    std::uint32_t const state = state_.load(std::memory_order_relaxed);
    if (state == k_awaited) break;
    if (state == k_free && try_lock()) return;
  }
  detail::serve_all_thieves();  // the holder may wait for a task that would lie here
  // A holder that came through here leaves "awaited", for there may be more sleepers: at worst a needless wake.
  // edge mutex-1: acquire, as in try_lock().
  while (state_.exchange(k_awaited, std::memory_order_acquire) != k_free) os::futex_wait(state_, k_awaited);
}

void mutex::wake_one(std::atomic<std::uint32_t>& state) noexcept { os::futex_wake(state); }

}  // namespace filch::inline FILCH_ABI
