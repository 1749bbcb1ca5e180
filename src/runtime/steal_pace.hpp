// The pauses of a thief between looks, and after tiny tasks. "What a thief may cost its victim" in the schedulers'
// protocol.md.
#pragma once

#include "runtime/account.hpp"

#include <algorithm>
#include <cstddef>

namespace filch::runtime {

/// Many thieves look less often each, in all as often as four: a victim writes the words that all of them read. With
/// more workers than processors few of them run at a time, and each pause is a yield.
constexpr unsigned pauses_between_looks(unsigned workers, bool is_oversubscribed) noexcept {
  constexpr unsigned k_thieves_that_look = 4;
  return is_oversubscribed ? 1 : std::max(1U, (workers - 1) / k_thieves_that_look);
}

/// No more workers than processors run at a time, and cost a victim something.
constexpr unsigned workers_at_once(unsigned workers, std::size_t processors) noexcept {
  return static_cast<unsigned>(std::clamp<std::size_t>(processors, 1, workers));
}

/// The cost of a steal for the victim: waits for cache lines and for the end of the task.
struct steal_cost {
  cycles least;
  cycles for_search;  // for each cycle of the thief's search, which waits for cache lines, too
  cycles most;        // another process may have had the thief's processor
};

/// Each worker has one. A task that lasts less than its steal costs the victim makes the victim slower. Longer tasks
/// pay for such tasks. Where they don't, the thief then leaves all workers alone for a multiple of the loss. So the
/// loss is a fixed part of its time, and all thieves' losses together are a part of one worker's time.
class alignas(64) steal_pace {
 public:
  steal_pace(steal_cost const& cost, unsigned workers) noexcept
      : cost_(cost), part_(std::max(account::k_part, k_part_of_all * static_cast<cycles>(workers - 1))) {}
  /// A clock that was set back, as of a restored virtual machine, makes no thief wait for longer.
  bool waits(cycles now) const noexcept { return now < waits_until_ && waits_until_ - now <= longest(); }
  /// No victim may be requested before then, so a look brings nothing.
  void rest_until(cycles then) noexcept { waits_until_ = then; }
  /// A stolen task has run, and that took so long. The thief needed `search` to get it: where caches are far from
  /// each other both of them pay more. So they do for a divided task, of which they steal parts from each other.
  void task_ran(cycles now, cycles lasted, cycles search = 0, bool is_divided = false) noexcept {
    cycles const cost = is_divided ? cost_.most : std::clamp(cost_.for_search * search, cost_.least, cost_.most);
    cycles const gain = lasted - cost;
    if (gain > 0) {
      earned_ = std::min(earned_ + gain / k_gains_for_loss, k_most_earned);
      waits_until_ = std::min(waits_until_, now);
      return;
    }
    cycles const paid = std::min(earned_, -gain);
    earned_ -= paid;
    cycles const from = std::clamp(waits_until_, now - k_credit, now);
    waits_until_ = from + part_ * (-gain - paid);
  }

 private:
  cycles longest() const noexcept { return part_ * cost_.most; }

  // All thieves together cost at most this part of a worker's time.
  static constexpr cycles k_part_of_all = 4;
  // Half of what its longer tasks have gained a thief may lose again, a few hundred tiny tasks at once. A search
  // among very uneven tasks, most of them tiny, goes on so.
  static constexpr cycles k_gains_for_loss = 2;
  static constexpr cycles k_most_earned = cycles{1} << 20;
  // Without tiny tasks credit gathers for so long, half a millisecond: for some sixteen of them, fewer in a large
  // pool.
  static constexpr cycles k_credit = cycles{1} << 20;

  steal_cost cost_;
  cycles part_;
  cycles waits_until_ = 0;
  cycles earned_ = 0;
};

}  // namespace filch::runtime
