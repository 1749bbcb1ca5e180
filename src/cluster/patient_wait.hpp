// How long a wait for other ranks has lasted. Called by cluster.cpp and mpi.cpp, which wait so where no watchdog
// counts ticks.
#pragma once

#include <filch/config.hpp>

#include <algorithm>
#include <chrono>

namespace filch::inline FILCH_ABI::detail {

/// Adds the steps between its looks at the clock. Long ones do not count: they are found where all ranks were stopped
/// and continue.
class patient_wait {
 public:
  using clock = std::chrono::steady_clock;

  /// `patience`: 0: without a limit.
  explicit patient_wait(std::chrono::seconds patience) noexcept : patience_(patience) {}
  /// Called at least ten times a second. Has it lasted so long?
  bool is_over() noexcept {
    constexpr std::chrono::milliseconds k_longest_step{100};
    auto const now = clock::now();
    waited_ += std::min<clock::duration>(now - last_, k_longest_step);
    last_ = now;
    return patience_.count() > 0 && waited_ >= patience_;
  }

 private:
  std::chrono::seconds const patience_;
  clock::duration waited_{0};
  clock::time_point last_ = clock::now();
};

}  // namespace filch::inline FILCH_ABI::detail
