// The invariants of a worker of filch::cactus, executed in builds with FILCH_CHECK (src/runtime/check.hpp). The
// owner's slow paths call check() at their entry. Conditions hold whatever thieves do meanwhile. Protocol:
// protocol.md, "Invariants".
#pragma once

#include "runtime/check.hpp"
#include "schedulers/cactus/worker.hpp"

#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

/// The places and the words of a worker. Its owner's thread calls this.
inline runtime::broken_condition broken_places(cactus_member& w) noexcept {
  // Thieves read a place after they raised the tail.
  std::uint32_t const read = w.taken.count();
  runtime::open_places const open = w.open.look();
  FILCH_HOLDS(w.kind == k_cactus_tag);
  FILCH_HOLDS(w.base == reinterpret_cast<fiber_task**>(&w + 1));
  FILCH_HOLDS(w.places <= runtime::open_range::k_most);
  FILCH_HOLDS(w.base <= w.head);
  FILCH_HOLDS(open.end <= w.places);
  FILCH_HOLDS(open.tail <= open.end);
  FILCH_HOLDS(open.end <= w.index_of_head());
  FILCH_HOLDS(read <= open.tail);
  FILCH_HOLDS(w.requests().is_quiet_at_or_above(w.base + open.end));
  FILCH_HOLDS(w.taken_back_in_a_row < cactus_member::k_taken_back_until_private);
  return nullptr;
}

/// The fiber that the worker runs.
inline runtime::broken_condition broken_fiber(cactus_member const& w) noexcept {
  FILCH_HOLDS(w.stack != nullptr);
  FILCH_HOLDS(w.base <= w.counted);
  FILCH_HOLDS(w.counted <= w.base + w.places);
  FILCH_HOLDS(w.stack != w.home);
  FILCH_HOLDS(w.stack != w.spare);
  FILCH_HOLDS(w.open.peek().root == w.stack->root);
  // More forks were opened than closed (I5).
  FILCH_HOLDS(static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >= 0);
  // Tasks that were neither taken back nor stolen are open forks of the fiber (I1).
  FILCH_HOLDS(static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >=
              static_cast<std::int64_t>(w.index_of_head() - w.open.look().end));
  return nullptr;
}

inline void check(cactus_member& w) noexcept {
  runtime::check("cactus worker", [&w] {
    runtime::broken_condition const places = broken_places(w);
    return places || !w.stack ? places : broken_fiber(w);
  });
}

}  // namespace filch::inline FILCH_ABI::detail
