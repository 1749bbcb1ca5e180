// Spinning: the processor's hint, and a loop that spins a little and then yields. For waits that are a few
// instructions long where the other thread runs.
#pragma once

#include <thread>

namespace filch::runtime {

/// Processor's hint that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Between two looks of a loop that waits for some tens of microseconds and then sleeps. `looks` counts them.
inline void pause_for_look(unsigned looks, bool always_yields) noexcept {
  constexpr unsigned k_looks_between_yields = 8;
  constexpr unsigned k_relaxes = 16;
  if (always_yields || looks % k_looks_between_yields == k_looks_between_yields - 1) {
    std::this_thread::yield();
  } else {
    for (unsigned i = 0; i < k_relaxes; ++i) relax();
  }
}

/// Called by every loop that waits for another thread: spins a little, then lets others run.
class spin_wait {
 public:
  /// Lets others run at once if `is_crowded()`, which the first turn asks.
  template <class IsCrowded> void once(IsCrowded const& is_crowded) noexcept {
    if (turns_ == 0 && is_crowded()) turns_ = k_spins;
    once();
  }
  void once() noexcept {
    if (turns_ < k_spins) {
      ++turns_;
      relax();
    } else {
      std::this_thread::yield();
    }
  }
  unsigned turns() const noexcept { return turns_; }

 private:
  static constexpr unsigned k_spins = 64;
  unsigned turns_ = 0;
};

}  // namespace filch::runtime
