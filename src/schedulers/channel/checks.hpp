// The invariants of filch::channel, executed: runtime/check.hpp says when. Each function returns the first condition
// that does not hold. All of them hold between the steps of a worker, on its own thread, whatever other workers do;
// so the slow paths call them where they begin. Protocol: protocol.md, "Words".
#pragma once

#include "runtime/check.hpp"
#include "schedulers/channel/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

inline runtime::broken_condition broken(channel_member const& w) noexcept {
  // The task array. A join takes the newest task off before it looks whether that was sent away: top + 1.
  FILCH_HOLDS(w.tasks_begin() <= w.floor);
  FILCH_HOLDS(w.floor <= w.bottom);
  FILCH_HOLDS(w.bottom <= w.top + 1);
  FILCH_HOLDS(w.top <= w.end);
  FILCH_HOLDS(w.doorbell.is_at(w.bottom));
  // Private tasks, then tasks that were sent away. The ends stand for all.
  FILCH_HOLDS(w.bottom >= w.top || w.bottom->future.is_empty());
  FILCH_HOLDS(w.bottom >= w.top || w.top[-1].future.is_empty());
  FILCH_HOLDS(w.bottom == w.floor || !w.bottom[-1].future.is_empty());
  // All tasks of a worker are of one root.
  FILCH_HOLDS(w.received.first <= w.received.last);
  FILCH_HOLDS(w.received.detached.is_empty());
  FILCH_HOLDS(w.received.is_empty() || w.received.root == w.root);
  FILCH_HOLDS(!w.root.is_any() || w.has_no_task());
  FILCH_HOLDS(!w.root.is_any() || w.detached_running == 0);
  // At most one request is out. Tasks that come are of the root of those that the worker has.
  FILCH_HOLDS(w.is_requesting == !w.own->tasks.is_closed());
  FILCH_HOLDS(!w.is_requesting || w.mine.thief == w.index);
  FILCH_HOLDS(!w.is_requesting || w.own->tasks.is_open_for(w.wanted_root));
  FILCH_HOLDS(!w.is_requesting || w.wanted_root == w.root || w.root.is_any());
  // The call counter counts the worker while it has, or runs, detached tasks of another place's call.
  FILCH_HOLDS(w.is_counted == (counts_detached(w) && (!w.detached.is_empty() || w.detached_running != 0)));
  return nullptr;
}

/// A message that the thief has taken out of its task channel.
inline runtime::broken_condition broken(batch const& message, channel_member const& thief) noexcept {
  FILCH_HOLDS(message.first <= message.last);
  FILCH_HOLDS(message.is_empty() || message.detached.is_empty());
  FILCH_HOLDS(!message.is_lone || (message.size() <= 1 && message.detached.is_empty()));
  FILCH_HOLDS(message.from != thief.index);
  FILCH_HOLDS(message.size() == 0 || !message.root.is_any());
  FILCH_HOLDS(message.size() == 0 || thief.wanted_root.admits(message.root));
  FILCH_HOLDS(message.is_for_any_root == thief.wanted_root.is_any());
  return nullptr;
}

/// A request that the victim has taken out of that thief's slot.
inline runtime::broken_condition broken(request const& r, unsigned slot, channel_member const& victim) noexcept {
  FILCH_HOLDS(r.is_there == 1);
  FILCH_HOLDS(r.thief == slot);
  FILCH_HOLDS(r.thief != victim.index);
  FILCH_HOLDS(!r.is_broadcast || r.hops == 0);
  return nullptr;
}

/// At the entry of a slow path of worker w.
inline void check(channel_member const& w) noexcept {
  runtime::check("channel worker", [&] { return broken(w); });
}

}  // namespace filch::inline FILCH_ABI::detail
