// The invariants of filch::implicit, executed where the library is built with FILCH_CHECK (src/runtime/check.hpp).
// The owner's slow paths call them where it changes records, lists or the memory of walks: its signal handler keeps
// away then. Conditions hold whatever thieves do meanwhile.
#pragma once

#include "runtime/check.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>

namespace filch::inline FILCH_ABI::detail {

struct implicit_checks {
  /// The words that are the same for all stacks of a pool.
  struct pool_words {
    std::uint32_t places;
    std::uint64_t barrier;
  };

  static runtime::broken_condition of_worker(implicit_member& w) noexcept {
    FILCH_HOLDS(w.kind == k_implicit_tag);
    FILCH_HOLDS(w.request().is_valid());
    FILCH_HOLDS(w.pause.next() >= interrupt_pause::k_first);
    FILCH_HOLDS(w.pause.next() <= interrupt_pause::k_longest_in_vain);
    FILCH_HOLDS(w.walk_cost > 0);
    if (!w.stack) return nullptr;
    FILCH_HOLDS(w.offers.own() == reinterpret_cast<implicit_stack*>(w.stack->memory().lower()));
    FILCH_HOLDS(w.offers.own()->open.peek().root == w.stack->root);
    return nullptr;
  }

  static runtime::broken_condition of_stack(implicit_stack const& s, stack_bounds const& bounds,
                                            pool_words const& pool) noexcept {
    runtime::open_places const open = s.open.peek();
    FILCH_HOLDS(open.tail <= open.end);
    FILCH_HOLDS(open.end <= pool.places);
    FILCH_HOLDS(s.barrier == pool.barrier);
    FILCH_HOLDS((s.newest_scope == nullptr) == (s.oldest_scope == nullptr));
    implicit_record const* newest_join = nullptr;
    // The newest ones only: a deep recursion has thousands.
    constexpr std::uint32_t k_most = 64;
    std::uint32_t const oldest = open.end > k_most ? open.end - k_most : 0;
    for (std::uint32_t i = open.end; i-- > oldest;) {
      implicit_record const& record = s.record(i);
      if (record.is_join() && !newest_join) newest_join = &record;
      if (auto const broken = of_record(record, s, bounds)) return broken;
      if (i == 0) break;
      if (auto const broken = of_pair(s.record(i - 1), record)) return broken;
    }
    FILCH_HOLDS(open.end == 0 || s.known_end >= &s.record(open.end));
    if (newest_join) {
      FILCH_HOLDS(s.barrier_slot == newest_join->return_slot);
      FILCH_HOLDS(s.hidden_return == newest_join->hidden_return);
    } else if (oldest == 0) {
      FILCH_HOLDS(s.barrier_slot == nullptr);
    }
    return nullptr;
  }

  /// While f of the newest offered frame runs: not in code that the barrier calls.
  static runtime::broken_condition of_barrier(implicit_stack const& s) noexcept {
    FILCH_HOLDS(s.barrier_slot == nullptr || *s.barrier_slot == s.barrier);
    return nullptr;
  }

  static runtime::broken_condition of_scope(implicit_frame const& scope) noexcept {
    FILCH_HOLDS((scope.waiting_ == 0) == (scope.oldest_ == nullptr));
    FILCH_HOLDS((scope.waiting_ == 0) == (scope.newest_ == nullptr));
    FILCH_HOLDS(scope.waiting_ + scope.offered_ <= implicit_frame::k_pending_most);
    FILCH_HOLDS(scope.sequence_ < scope.stack_->scopes);
    FILCH_HOLDS(scope.rank_ > scope.position_);
    FILCH_HOLDS(scope.older_ == nullptr || scope.older_->sequence_ < scope.sequence_);
    return nullptr;
  }

  /// For tests, which break them.
  struct scope_words {
    implicit_frame::waiting*& oldest;
    implicit_frame::waiting*& newest;
    unsigned& offered;
    std::uint64_t& sequence;
    std::uint64_t& rank;
  };
  static scope_words words_of(implicit_frame& scope) noexcept {
    return {scope.oldest_, scope.newest_, scope.offered_, scope.sequence_, scope.rank_};
  }
  static implicit_stack*& stack_of(implicit_frame& scope) noexcept { return scope.stack_; }

 private:
  static runtime::broken_condition of_record(implicit_record const& record, implicit_stack const& s,
                                             stack_bounds const& bounds) noexcept {
    FILCH_HOLDS(record.what != implicit_record::kind::outside);
    if (!record.is_join()) {
      FILCH_HOLDS(record.scope != nullptr);
      FILCH_HOLDS(record.scope->stack_ == &s);
      return nullptr;
    }
    FILCH_HOLDS(record.stack == &s);
    FILCH_HOLDS(bounds.hold_word(reinterpret_cast<std::uint64_t>(record.return_slot)));
    FILCH_HOLDS(record.rank == reinterpret_cast<std::uint64_t>(record.return_slot + 1));
    FILCH_HOLDS(record.hidden_return != s.barrier);
    return nullptr;
  }

  /// The order of records is that of their frames' age: I1 in protocol.md.
  static runtime::broken_condition of_pair(implicit_record const& older, implicit_record const& newer) noexcept {
    if (newer.is_join()) {
      FILCH_HOLDS(older.rank > newer.rank || (!older.is_join() && older.rank == newer.rank));
    } else if (older.is_join()) {
      FILCH_HOLDS(newer.rank < older.rank);
    } else {
      FILCH_HOLDS(newer.scope->sequence_ >= older.scope->sequence_);
    }
    return nullptr;
  }
};

/// Owner, in code that its handler keeps away from.
inline void check_stack(implicit_member& w) noexcept {
  if (!w.stack) return;
  runtime::check("implicit stack", [&w] {
    implicit_team const& team = team_of(w);
    return implicit_checks::of_stack(*w.offers.own(), bounds_of(w), {team.places(), team.barrier()});
  });
}

inline void check_scope(implicit_frame const& scope) noexcept {
  runtime::check("implicit scope", [&scope] { return implicit_checks::of_scope(scope); });
}

/// Owner, at a fork: f of its newest offered frame runs.
inline void check_barrier(implicit_member& w) noexcept {
  runtime::check("implicit stack", [&w] {
    w.change.begin();  // a handler would move the barrier meanwhile
    auto const broken = implicit_checks::of_barrier(*w.offers.own());
    w.change.end();
    return broken;
  });
}

/// Owner: from here on its handler changes nothing.
inline void begin_change(implicit_member& w) noexcept {
  runtime::check("implicit worker", [&w]() -> runtime::broken_condition {
    FILCH_HOLDS(!w.change.is_set());
    return nullptr;
  });
  w.change.begin();
  runtime::check("implicit worker", [&w] { return implicit_checks::of_worker(w); });
  check_stack(w);
}
inline void end_change(implicit_member& w) noexcept {
  check_stack(w);
  w.change.end();
}

}  // namespace filch::inline FILCH_ABI::detail
