// The words of sleep and the count of sleepers: announcing, sleeping, waking. Called by the worker loop, by joins
// that sleep, and by owners after an offer. Protocol and proof: idle.md, "Sleeping".
#include "runtime/idle.hpp"

#include "os/linux/futex.hpp"
#include "runtime/checks.hpp"

#include <chrono>
#include <utility>

namespace filch::runtime {

idle::idle(unsigned places) : number_of_places_(places), places_(std::make_unique<place[]>(places)) {}

void idle::looks(unsigned me) noexcept {
  if (!std::exchange(places_[me].looks, true)) searchers_.add_one();
}

void idle::has_work(unsigned me) noexcept {
  if (std::exchange(places_[me].looks, false)) searchers_.take_one_off();
}

void idle::announce_as(unsigned me, std::uint32_t what) noexcept {
  check("worker that is awake", [&] { return team_checks::of_awake(*this, me); });
  looks(me);
  // The count first: it must never be too low, and the worker that finds the word below lowers it.
  // edge idle-1: both before the last look for work; pairs with anybody() and the look at the words.
  (what == sleep_word::k_for_root ? callers_asleep_ : sleepers_).add_one();
  places_[me].waits.announce(what);
}

bool idle::retract(unsigned me) noexcept {
  std::uint32_t const what = places_[me].waits.own();
  // The worker that changes the word to awake lowers the count, once.
  return what != sleep_word::k_awake && wake_if(me, what);
}

void idle::sleep(unsigned me) noexcept {
  check("worker that sleeps", [&] { return team_checks::of_sleeper(*this, me); });
  for (;;) {
    std::uint32_t const what = places_[me].waits.own();
    if (what == sleep_word::k_awake) return;
    os::futex_wait(places_[me].waits.futex(), what);
  }
}

bool idle::sleep_for(unsigned me, std::chrono::nanoseconds limit) noexcept {
  check("worker that sleeps", [&] { return team_checks::of_sleeper(*this, me); });
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + limit;;) {
    std::uint32_t const what = places_[me].waits.own();
    if (what == sleep_word::k_awake) return true;
    auto const left = end - clock::now();
    if (left <= left.zero()) return !retract(me);
    os::futex_wait_for(places_[me].waits.futex(), what, left);
  }
}

bool idle::wake_if(unsigned who, std::uint32_t what) noexcept {
  if (!places_[who].waits.make_awake(what)) return false;
  (what == sleep_word::k_for_root ? callers_asleep_ : sleepers_).take_one_off();
  return true;
}

bool idle::wake(unsigned who) noexcept {
  std::uint32_t const what = places_[who].waits.seen();
  if (what == sleep_word::k_awake || !wake_if(who, what)) return false;
  os::futex_wake(places_[who].waits.futex());
  return true;
}

bool idle::wake_one_for(unsigned offerer) noexcept {
  for (unsigned step = 1; step <= number_of_places_; ++step) {
    unsigned const who = (offerer + step) % number_of_places_;
    std::uint32_t const what = places_[who].waits.seen();
    if ((what == sleep_word::k_for_anything || what == sleep_word::k_for_one + offerer) && wake_if(who, what)) {
      os::futex_wake(places_[who].waits.futex());
      return true;
    }
  }
  return false;
}

bool idle::wake_one() noexcept {
  for (unsigned who = 0; who < number_of_places_; ++who) {
    constexpr std::uint32_t k_what = sleep_word::k_for_anything;
    if (places_[who].waits.seen() == k_what && wake_if(who, k_what)) {
      os::futex_wake(places_[who].waits.futex());
      return true;
    }
  }
  return false;
}

}  // namespace filch::runtime
