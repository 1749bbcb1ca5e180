// FILCH_FORCE_STEAL, a build for tests. A side of a join that was not stolen is handed over instead of taken back,
// and runs as a stolen one does, on another worker if there is one. If the last to arrive at a join is on the worker
// that began it, the join's frame is handed over too. So a program that may not change threads fails in its tests.
#pragma once

#include <filch/detail/fiber.hpp>

#include "runtime/forced_steals.hpp"
#include "runtime/places.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace filch::runtime {

/// With so many stacks in use, sides of joins are taken back as in other builds.
inline constexpr std::size_t k_most_stacks_to_force = 1024;

/// The queue of tasks and frames that workers hand over for others to take.
class handed_over {
 public:
  struct work {
    fiber_stack* stack = nullptr;        // null: nothing
    detail::fiber_task* task = nullptr;  // to begin on the stack; null: the fiber on it continues
    unsigned from = 0;
    bool comes_last = false;  // it comes after all work in the queue
    std::uint16_t root = k_any_root;
    /// May a worker with this `limit` take it?
    bool may_go_to(std::uint16_t limit) const noexcept { return limit == k_any_root || limit == root; }
  };

  /// Room for about as much as there will be: giving can't fail.
  handed_over() {
    if constexpr (k_steals_are_forced) all_.reserve(2 * k_most_stacks_to_force);
  }

  void give(work w) {
    std::lock_guard const lock(mutex_);
    all_.insert(w.comes_last ? all_.begin() : all_.end(), w);
    count_.store(all_.size(), std::memory_order_seq_cst);  // edge idle-1: offered before a worker is woken
  }
  /// The newest work that other workers gave. A worker that looked in vain very often gets its own: the others may be
  /// busy until just that is done. So does the only worker at once, and the only thread that takes work of no root.
  work take(unsigned me, std::uint16_t limit, unsigned threads) {
    std::lock_guard const lock(mutex_);
    auto const find = [this](auto const& fits) { return std::find_if(all_.rbegin(), all_.rend(), fits); };
    auto const others = find([me, limit](work const& w) { return w.from != me && w.may_go_to(limit); });
    if (others != all_.rend()) return remove(std::prev(others.base()));
    auto const own = find([limit](work const& w) { return w.may_go_to(limit); });
    if (own == all_.rend()) return {};
    bool const is_only = threads == 0 || (threads == 1 && own->root == k_any_root);
    if (!is_only && ++passed_over_ < k_passed_over_most) return {};
    return remove(std::prev(own.base()));
  }
  /// edge idle-1: in order after the announcement; where the lock is taken, it orders them.
  bool any(std::uint16_t limit) const {
    if constexpr (!k_steals_are_forced) return false;
    if (count_.load(std::memory_order_seq_cst) == 0) return false;
    if (limit == k_any_root) return true;
    std::lock_guard const lock(mutex_);
    return std::any_of(all_.begin(), all_.end(), [limit](work const& w) { return w.may_go_to(limit); });
  }

 private:
  static constexpr unsigned k_passed_over_most = 1'000;

  work remove(std::vector<work>::iterator at) {
    work const w = *at;
    all_.erase(at);
    count_.store(all_.size(), std::memory_order_seq_cst);  // as in give(); only the greater number must be in order
    passed_over_ = 0;
    return w;
  }

  mutable std::mutex mutex_;
  std::vector<work> all_;     // under mutex_
  unsigned passed_over_ = 0;  // under mutex_
  std::atomic<std::size_t> count_{0};
};

}  // namespace filch::runtime
