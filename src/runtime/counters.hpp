// The counters that a worker has under each scheduler: it alone writes them, any thread reads them. A scheduler's own
// counters are in its folder.
#pragma once

#include <filch/pool_stats.hpp>

#include <atomic>
#include <cstdint>

namespace filch::runtime {

class counter {
 public:
  /// The worker that owns it. relaxed: it orders nothing.
  void bump() noexcept { add(1); }
  void add(std::uint64_t n) noexcept { value_.store(read() + n, std::memory_order_relaxed); }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Cache lines of its own, so that counting disturbs no other worker.
struct alignas(64) counters {
  counter steals;
  counter failed_steals;
  counter backoffs;
  counter leapfrogs;
  counter publications;
  counter sleeps;
  counter wakeups;
  counter suspensions;
  counter give_backs;

  void add_to(pool_stats& sum) const noexcept {
    sum.steals += steals.read();
    sum.failed_steals += failed_steals.read();
    sum.backoffs += backoffs.read();
    sum.leapfrogs += leapfrogs.read();
    sum.publications += publications.read();
    sum.sleeps += sleeps.read();
    sum.wakeups += wakeups.read();
    sum.suspensions += suspensions.read();
    sum.give_backs += give_backs.read();
  }
};
static_assert(sizeof(counters) == 128);

}  // namespace filch::runtime
