// The invariants of a team, executed in builds with FILCH_CHECK (check.hpp): places, the words of sleep, callers,
// stand-ins. Each function returns the first condition that does not hold. tests/runtime/checks.cpp breaks each
// condition. Conditions hold whatever other threads do meanwhile. Protocol: idle.md.
#pragma once

#include "runtime/check.hpp"
#include "runtime/stand_ins.hpp"
#include "runtime/team.hpp"

#include <algorithm>
#include <cstdint>

namespace filch::runtime {

struct team_checks {
  /// Any thread.
  static broken_condition of_places(places const& p) noexcept {
    std::uint64_t const in_use = p.bits_in_use();
    std::uint64_t const made = p.bits_made();
    FILCH_HOLDS((in_use & ~p.all_bits()) == 0);
    FILCH_HOLDS((made & ~p.all_bits()) == 0);
    return nullptr;
  }
  /// The thread that has entered the place.
  static broken_condition of_entered(places const& p, unsigned place) noexcept {
    FILCH_HOLDS(place < p.all());
    FILCH_HOLDS(p.is_in_use(place));
    return of_places(p);
  }
  /// The thread that works there.
  static broken_condition of_worker(places const& p, unsigned place) noexcept {
    FILCH_HOLDS(p.is_made(place));
    return of_entered(p, place);
  }
  /// The thread that ends the team, after the last caller has left.
  static broken_condition of_end(places const& p) noexcept {
    FILCH_HOLDS((p.bits_in_use() & p.callers_bits()) == 0);
    return nullptr;
  }
  /// A caller that is inside.
  static broken_condition of_callers(caller_count const& callers) noexcept {
    FILCH_HOLDS(callers.has_any());
    return nullptr;
  }

  /// Caller that leaves, and may give pages of this stack back.
  static broken_condition of_left_stack(worker_space const& s) noexcept {
    FILCH_HOLDS(s.call_began_ != 0);
    return nullptr;
  }

  /// Any thread. A worker counts itself once, and a waker that made a word awake takes it off a little later.
  static broken_condition of_counts(idle const& i) noexcept {
    std::uint32_t const wakers_most = i.number_of_places_ + 1;
    FILCH_HOLDS(i.sleepers_.get() <= i.number_of_places_ + wakers_most);
    FILCH_HOLDS(i.callers_asleep_.get() <= i.number_of_places_ + wakers_most);
    FILCH_HOLDS(i.searchers_.get() <= i.number_of_places_);
    return nullptr;
  }
  /// Worker, before it announces itself.
  static broken_condition of_awake(idle const& i, unsigned me) noexcept {
    FILCH_HOLDS(i.places_[me].waits.own() == sleep_word::k_awake);
    return of_counts(i);
  }
  /// Worker that is announced, or was woken since.
  static broken_condition of_sleeper(idle const& i, unsigned me) noexcept {
    FILCH_HOLDS(i.places_[me].waits.own() < sleep_word::k_for_one + i.number_of_places_);
    FILCH_HOLDS(i.places_[me].looks);
    FILCH_HOLDS(i.searchers_.get() != 0);
    return of_counts(i);
  }

  /// Under their mutex.
  static broken_condition of_stand_ins(stand_ins const& s) noexcept {
    auto const number_of = [&s](auto const& is) {
      return static_cast<unsigned>(std::count_if(s.each.begin(), s.each.end(), is));
    };
    FILCH_HOLDS(s.threads.size() <= s.each.size());
    FILCH_HOLDS(s.busy <= s.threads.size());
    FILCH_HOLDS(s.working <= s.busy);
    FILCH_HOLDS(s.busy == number_of([](auto const& each) { return each.works; }));
    FILCH_HOLDS(s.working == number_of([](auto const& each) { return each.works && !each.leaves.is_set(); }));
    return nullptr;
  }

  /// For tests, which break them.
  static sleep_word& word_of(idle& i, unsigned place) noexcept { return i.places_[place].waits; }
  static bool& searches(idle& i, unsigned place) noexcept { return i.places_[place].looks; }
  static sleeper_count& sleepers_of(idle& i) noexcept { return i.sleepers_; }
  static sleeper_count& callers_asleep_of(idle& i) noexcept { return i.callers_asleep_; }
  static searcher_count& searchers_of(idle& i) noexcept { return i.searchers_; }
};

}  // namespace filch::runtime
