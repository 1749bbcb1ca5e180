// The invariants of filch::direct, executed in builds with FILCH_CHECK (src/runtime/check.hpp). Each function returns
// the first condition that does not hold; the slow paths call the check_ functions. tests/direct/checks.cpp breaks
// each condition. "Invariants" in protocol.md says why no other thread can break one for a moment.
#pragma once

#include "runtime/check.hpp"
#include "schedulers/direct/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

/// A worker, on its owner's thread. `top`: the end of its tasks, one that is being joined included.
inline runtime::broken_condition broken_worker(direct_member const& w, direct_task const* top) noexcept {
  direct_task const* const base = w.first_task();
  direct_task const* const bot = w.bot.look();
  direct_task const* const public_end = w.public_end.get();
  FILCH_HOLDS(base <= bot);
  FILCH_HOLDS(bot <= public_end);
  FILCH_HOLDS(public_end <= w.end);
  FILCH_HOLDS(bot <= top);
  FILCH_HOLDS(top <= w.end);
  FILCH_HOLDS(w.split.is_at(public_end) || w.split.is_requested());
  FILCH_HOLDS(bot == base || bot[-1].state.unordered() != direct_state::task);
  FILCH_HOLDS(public_end == w.end || public_end->state.unordered() == direct_state::empty);
  FILCH_HOLDS(top == w.end || top->state.unordered() == direct_state::empty);
  FILCH_HOLDS(w.inlined_in_a_row < k_inlined_until_private);
  return nullptr;
}

/// A task of w, by the thread that holds it.
inline runtime::broken_condition broken_task(direct_member const& w, direct_task const& t) noexcept {
  FILCH_HOLDS(w.first_task() <= &t && &t < w.end);
  FILCH_HOLDS(t.run != nullptr);
  return nullptr;
}

/// A task that only its owner knows: private, or not offered yet.
inline runtime::broken_condition broken_private(direct_member const& w, direct_task const& t) noexcept {
  if (auto const condition = broken_task(w, t)) return condition;
  FILCH_HOLDS(t.state.unordered() == direct_state::empty);
  return nullptr;
}

/// A task that `thief` has run, before its state says so.
inline runtime::broken_condition broken_stolen(direct_task const& t, unsigned thief) noexcept {
  direct_state const state = t.state.unordered();
  FILCH_HOLDS(state == stolen_by(thief) || state == direct_state::empty || state == direct_state::waited);
  return nullptr;
}

/// A task for which its owner, w, waits.
inline runtime::broken_condition broken_waiting(direct_member const& w, direct_task const& t,
                                                unsigned thief) noexcept {
  direct_state const state = t.state.unordered();
  FILCH_HOLDS(thief != w.index);
  FILCH_HOLDS(w.bot.look() <= &t + 1);
  FILCH_HOLDS(&t < w.public_end.get());
  FILCH_HOLDS(state != direct_state::task && state != direct_state::taken);
  FILCH_HOLDS(!is_stolen(state) || state == stolen_by(thief));
  return nullptr;
}

/// A worker whose call has returned.
inline runtime::broken_condition broken_idle(direct_member const& w) noexcept {
  FILCH_HOLDS(w.top == w.first_task());
  FILCH_HOLDS(w.bot.look() == w.first_task());
  return nullptr;
}

inline void check_worker(direct_member const& w, direct_task const* top) noexcept {
  runtime::check("direct worker", [&] { return broken_worker(w, top); });
}
inline void check_task(direct_member const& w, direct_task const& t) noexcept {
  runtime::check("direct task", [&] { return broken_task(w, t); });
}
inline void check_private(direct_member const& w, direct_task const& t) noexcept {
  runtime::check("private direct task", [&] { return broken_private(w, t); });
}
inline void check_stolen(direct_task const& t, unsigned thief) noexcept {
  runtime::check("stolen direct task", [&] { return broken_stolen(t, thief); });
}
inline void check_waiting(direct_member const& w, direct_task const& t, unsigned thief) noexcept {
  runtime::check("direct task that is waited for", [&] { return broken_waiting(w, t, thief); });
}
inline void check_idle(direct_member const& w) noexcept {
  runtime::check("idle direct worker", [&] { return broken_idle(w); });
}

}  // namespace filch::inline FILCH_ABI::detail
