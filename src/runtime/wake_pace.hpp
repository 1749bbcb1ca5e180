// Which short loops wake a worker. Asked by the loop engine through the schedulers; team.hpp has one for each worker.
#pragma once

#include "runtime/account.hpp"

#include <algorithm>

namespace filch::runtime {

/// A worker that sleeps arrives 15 to 40 microseconds after it is woken. A loop that is shorter ends before that. But
/// many short loops in a row are as good as a long one: the first ones wake a worker, which then spins between them.
/// Owner's. `level_` grows by the loops that ran alone, and sinks by a part of the time that passes.
class alignas(64) wake_pace {
 public:
  /// All workers that search sleep. Is the `rest` of a loop worth a wake-up?
  bool pays(cycles now, cycles rest) const noexcept { return level(now) >= k_worth - std::min(rest, k_worth); }
  /// A loop ran for so long, since it did not pay.
  void ran_alone(cycles now, cycles lasted) noexcept {
    level_ = level(now) + std::clamp<cycles>(lasted, 0, k_worth);
    at_ = now;
  }

 private:
  static constexpr cycles k_worth = 60'000;
  static constexpr cycles k_part = 4;

  /// After a clock was set back a little it is the last level.
  cycles level(cycles now) const noexcept {
    if (at_ - now > k_longest_ahead) return 0;
    return std::max<cycles>(level_ - std::max<cycles>(now - at_, 0) / k_part, 0);
  }

  cycles level_ = 0;
  cycles at_ = 0;
};

}  // namespace filch::runtime
