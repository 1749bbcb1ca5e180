// Wake-ups after an offer, and offers that no thief has requested: an owner compares how many workers search with how
// many tasks it offers. Called by the owner after each offer, and by a thief after a steal. Protocol: idle.md.
#pragma once

#include "runtime/team.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace filch::runtime {

/// The number of offers that a worker may still make to workers that have yet to request.
struct unasked_offers {
  unsigned left = 0;
  bool asked_itself = false;  // the request that stands is the worker's own
};

inline void team::begins_task(unasked_offers& more) const noexcept { more.left = std::max(more.left, workers() - 1); }

template <class Offers, class RootOf>
void team::pass_on(unsigned me, Offers const& offers, RootOf const& root_of) noexcept {
  static_cast<void>(places_.any_in_use(0, [&](unsigned i) {
    // A worker that sleeps in a join may be there for the tasks of one worker alone.
    if (!offers(i) || !wake_for(i, root_of(i))) return false;
    counters_[me].wakeups.bump();
    return true;
  }));
  pass_on_groups(me);
}

inline void team::pass_on_groups(unsigned me) noexcept {
  if (idle_.anybody() && sources_.any_with_tasks({k_any_root, 0}) && idle_.wake_one()) counters_[me].wakeups.bump();
}

inline bool team::task_is_public(unsigned worker, std::uint16_t root) noexcept {
  if (!anybody_sleeps(root) || !wake_for(worker, root)) return false;
  counters_[worker].wakeups.bump();
  return true;
}

template <class Untaken>
bool team::offers_next(unsigned worker, bool was_asked, unasked_offers& more, Untaken const& untaken,
                       std::uint16_t root) noexcept {
  bool const by_others = was_asked && !std::exchange(more.asked_itself, false);
  if (task_is_public(worker, root) || by_others) more.left = most_unasked();
  return offers_unasked(more, untaken);
}

template <class Untaken> bool team::offers_unasked(unasked_offers& more, Untaken const& untaken) noexcept {
  if (more.left == 0) return false;
  // edge idle-3: first the searching workers, then the untaken tasks. A thief takes a task before it stops searching.
  std::uint32_t const looking = idle_.looking();
  if (untaken() >= looking) return false;
  --more.left;
  more.asked_itself = true;
  return true;
}

template <class Untaken>
bool team::should_ask_itself(unasked_offers& more, Untaken const& untaken, std::uint16_t root) noexcept {
  return anybody_sleeps(root) || offers_unasked(more, untaken);
}

}  // namespace filch::runtime
