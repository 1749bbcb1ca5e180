// The invariants of a task group's lists, executed in builds with FILCH_CHECK (../check.hpp). Each function returns
// the first condition that does not hold. tests/runtime/group_checks.cpp breaks each condition.
#pragma once

#include "runtime/check.hpp"
#include "runtime/group/state.hpp"

#include <cstdint>

namespace filch::runtime {

struct group_checks {
  /// Holder of its lock.
  static broken_condition of_list(group_list const& l) noexcept {
    FILCH_HOLDS((l.newest_ == nullptr) == (l.oldest_ == nullptr));
    FILCH_HOLDS((l.newest_ == nullptr) == (l.size_.own() == 0));
    FILCH_HOLDS(!l.newest_ || !l.newest_->newer);
    FILCH_HOLDS(!l.oldest_ || !l.oldest_->older);
    FILCH_HOLDS((l.free_ == nullptr) == (l.free_count_ == 0));
    FILCH_HOLDS(l.free_count_ <= group_list::k_most_free);
    return nullptr;
  }
  /// The thread that ends the group, after its last task.
  static broken_condition of_end(group_state const& s) noexcept {
    std::uint64_t waiting = 0;
    std::uint64_t open = 0;
    for (unsigned i = 0; i < s.number_of_lists; ++i) {
      waiting += s.lists[i].size();
      open += s.lists[i].added() - s.lists[i].over();
    }
    FILCH_HOLDS(waiting == 0);
    FILCH_HOLDS(open == 0);
    FILCH_HOLDS(s.at_once.get() == 0);
    return nullptr;
  }

  /// For tests, which break them.
  static group_task*& newest(group_list& l) noexcept { return l.newest_; }
  static group_task*& oldest(group_list& l) noexcept { return l.oldest_; }
  static group_task*& free(group_list& l) noexcept { return l.free_; }
  static unsigned& free_count(group_list& l) noexcept { return l.free_count_; }
  static shared_count& size(group_list& l) noexcept { return l.size_; }
};

}  // namespace filch::runtime
