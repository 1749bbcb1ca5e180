// The invariants of fibers and of their stacks, executed in builds with FILCH_CHECK (../check.hpp). Each function
// returns the first condition that does not hold. tests/fibers/checks.cpp breaks each condition. Conditions hold
// whatever other threads do meanwhile. Protocol: ../fibers.md.
#pragma once

#include "runtime/check.hpp"
#include "runtime/fiber/team.hpp"

#include <algorithm>

namespace filch::runtime {

struct fiber_checks {
  /// A worker, on its home stack, with a fiber that it is about to run.
  static broken_condition of_fiber(fiber_member const& w) noexcept {
    FILCH_HOLDS(w.home != nullptr);
    FILCH_HOLDS(w.stack != nullptr);
    FILCH_HOLDS(w.stack != w.home);
    FILCH_HOLDS(w.stack != w.spare);
    // A caller runs fibers of its own call alone.
    FILCH_HOLDS(w.limit == k_any_root || w.stack->root == w.limit);
    return nullptr;
  }

  /// The same worker, after the fiber has left `left`, and before another worker can come to it.
  static broken_condition of_parting(fiber_member const& w, fiber_stack const& left) noexcept {
    fiber_parting const& p = w.parting;
    bool const has_counter = p.what == fiber_parting::suspends || p.what == fiber_parting::resumes;
    bool const is_forced = p.what == fiber_parting::moves || p.what == fiber_parting::returns;
    FILCH_HOLDS(w.next_task == nullptr);
    FILCH_HOLDS((p.counter != nullptr) == has_counter);
    FILCH_HOLDS((p.next != nullptr) == (p.what == fiber_parting::resumes));
    FILCH_HOLDS(p.next != &left);
    FILCH_HOLDS(p.next != w.home);
    FILCH_HOLDS(k_steals_are_forced || !is_forced);
    if (p.what == fiber_parting::suspends) {
      FILCH_HOLDS(p.stolen > 0);
      FILCH_HOLDS(p.counter->suspended == &left);
      // Each part arrives once; the owner has yet to add their number.
      std::int32_t const arrived = p.counter->arrived();
      FILCH_HOLDS(0 <= arrived);
      FILCH_HOLDS(arrived <= p.stolen);
    } else if (p.what == fiber_parting::resumes) {
      FILCH_HOLDS(p.counter->arrived() == 0);
    }
    return nullptr;
  }

  /// Under the pool's mutex.
  static broken_condition of_stacks(fiber_stack_pool const& p) noexcept {
    FILCH_HOLDS(p.free_.size() + p.free_with_slack_.size() <= p.all_.size());
    FILCH_HOLDS(p.free_with_slack_.size() <= p.with_slack_);
    FILCH_HOLDS(p.with_slack_ <= p.most_with_slack_);
    return nullptr;
  }
  /// The same, before the stack is given back: it is not free, and its list needs no memory.
  static broken_condition of_given_back(fiber_stack_pool const& p, fiber_stack const& s) noexcept {
    auto const& list = s.has_slack_ ? p.free_with_slack_ : p.free_;
    FILCH_HOLDS(p.free_.size() + p.free_with_slack_.size() < p.all_.size());
    FILCH_HOLDS(list.empty() || list.back() != &s);
    FILCH_HOLDS(list.size() < list.capacity());
    return of_stacks(p);
  }

  /// For tests, which break them.
  struct lists {
    std::vector<std::unique_ptr<fiber_stack>>& all;
    std::vector<fiber_stack*>& free;
    std::vector<fiber_stack*>& free_with_slack;
    std::size_t& with_slack;
  };
  static lists lists_of(fiber_stack_pool& p) noexcept { return {p.all_, p.free_, p.free_with_slack_, p.with_slack_}; }
  static bool& has_slack(fiber_stack& s) noexcept { return s.has_slack_; }
};

}  // namespace filch::runtime
