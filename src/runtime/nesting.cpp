// The registry of nesting.hpp: schedulers add themselves at their first pool or stay; every team entry and blocking
// wait reads it without a lock.
#include "runtime/nesting.hpp"

#include "runtime/filled_once.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/serve_thieves.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace filch::runtime {

constinit thread_local unsigned teams_entered = 0;

namespace {

filled_once<hideable, k_hideables_most> hideables;
std::mutex adding_hideable;

// Another thread of the parent may have held it. An entry that was not counted yet is written again.
void renew_in_child() { ::new (static_cast<void*>(&adding_hideable)) std::mutex; }

}  // namespace

std::span<hideable const> FILCH_ABI::all_hideables() noexcept { return hideables.all(); }

bool gives_way() noexcept {
  auto const all = all_hideables();
  return std::any_of(all.begin(), all.end(), [](hideable const& each) { return each.give_way && each.give_way(); });
}

void FILCH_ABI::hide_on_entry(hideable h) {
  auto const is_there = [h] {
    auto const all = all_hideables();
    return std::any_of(all.begin(), all.end(), [h](hideable const& other) { return other.hide == h.hide; });
  };
  if (is_there()) return;
  watch_forks(renew_in_child);
  std::lock_guard const lock(adding_hideable);
  if (is_there()) return;
  hideables.add(h);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

void serve_all_thieves() noexcept {
  for (auto const& each : runtime::all_hideables()) each.answer();
}

}  // namespace filch::inline FILCH_ABI::detail
