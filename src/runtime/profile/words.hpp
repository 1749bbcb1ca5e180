// The word that a measured thread shares with the watching one. No other file of this folder accesses an atomic.
#pragma once

#include "runtime/account.hpp"

#include <atomic>

namespace filch::runtime::profile {

/// When a thread was last in a hook.
class last_hook {
 public:
  /// The measured thread. relaxed: the watching thread only compares it with what it saw before.
  void note(cycles now) noexcept { at_.store(now, std::memory_order_relaxed); }
  /// The measured thread: its run has ended. relaxed: as note().
  void run_ended() noexcept { at_.store(k_no_run, std::memory_order_relaxed); }

  static constexpr cycles k_no_run = 0;
  /// The watching thread. relaxed: as note().
  cycles look() const noexcept { return at_.load(std::memory_order_relaxed); }

 private:
  std::atomic<cycles> at_{k_no_run};
};

}  // namespace filch::runtime::profile
