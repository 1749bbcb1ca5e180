// The words of sleep and the count of sleepers: announcing, sleeping, waking. Called by the worker loop, by joins
// that sleep, and by owners after an offer. Protocol and proof: idle.md, "Sleeping".
#include "runtime/idle.hpp"

#include "os/linux/futex.hpp"

#include <utility>

namespace filch::runtime {

idle::idle(unsigned places) : number_of_places_(places), places_(std::make_unique<place[]>(places)) {}

void idle::looks(unsigned me) noexcept {
  // relaxed: who wakes this worker, or answers its request, has acquired that.
  if (!std::exchange(places_[me].looks, true)) looking_.fetch_add(1, std::memory_order_relaxed);
}

void idle::has_work(unsigned me) noexcept {
  // edge idle-3: release, what this worker has taken.
  if (std::exchange(places_[me].looks, false)) looking_.fetch_sub(1, std::memory_order_release);
}

void idle::announce_as(unsigned me, std::uint32_t what) noexcept {
  looks(me);
  // The count first: it must never be too low, and whoever finds the word below takes one off it.
  // edge idle-1: both before the last look for work; pairs with anybody() and the look at the words.
  if (what != k_for_root) sleepers_.fetch_add(1, std::memory_order_seq_cst);
  places_[me].waits.store(what, std::memory_order_seq_cst);
}

bool idle::retract(unsigned me) noexcept {
  // edge idle-2: acquire, here and where the exchange fails: who was woken meanwhile passes on what it was woken for.
  std::uint32_t const what = places_[me].waits.load(std::memory_order_acquire);
  // Whoever changes the word to awake takes the sleeper off the count, once.
  return what != k_awake && wake_if(me, what);
}

void idle::sleep(unsigned me) noexcept {
  for (;;) {
    // edge idle-2: what the waker did before waking is seen by the woken.
    std::uint32_t const what = places_[me].waits.load(std::memory_order_acquire);
    if (what == k_awake) return;
    os::futex_wait(places_[me].waits, what);
  }
}

bool idle::sleep_for(unsigned me, std::chrono::nanoseconds limit) noexcept {
  using clock = std::chrono::steady_clock;
  for (auto const end = clock::now() + limit;;) {
    // edge idle-2: as in sleep().
    std::uint32_t const what = places_[me].waits.load(std::memory_order_acquire);
    if (what == k_awake) return true;
    auto const left = end - clock::now();
    if (left <= left.zero()) return !retract(me);
    os::futex_wait_for(places_[me].waits, what, left);
  }
}

bool idle::wake_if(unsigned who, std::uint32_t what) noexcept {
  // edge idle-2: release, to the woken worker's acquire.
  if (!places_[who].waits.compare_exchange_strong(what, k_awake, std::memory_order_acq_rel,
                                                  std::memory_order_acquire)) {
    return false;
  }
  // relaxed: a count that is too high for a moment makes wakers look in vain; it is never too low.
  if (what != k_for_root) sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool idle::wake(unsigned who) noexcept {
  std::uint32_t const what = places_[who].waits.load(std::memory_order_seq_cst);
  if (what == k_awake || !wake_if(who, what)) return false;
  os::futex_wake(places_[who].waits);
  return true;
}

bool idle::wake_one_for(unsigned offerer) noexcept {
  for (unsigned step = 1; step <= number_of_places_; ++step) {
    unsigned const who = (offerer + step) % number_of_places_;
    // edge idle-1: a worker that is not seen here searches after what was offered.
    std::uint32_t const what = places_[who].waits.load(std::memory_order_seq_cst);
    if ((what == k_for_anything || what == k_for_one + offerer) && wake_if(who, what)) {
      os::futex_wake(places_[who].waits);
      return true;
    }
  }
  return false;
}

bool idle::wake_one() noexcept {
  for (unsigned who = 0; who < number_of_places_; ++who) {
    // edge idle-1: as in wake_one_for.
    if (places_[who].waits.load(std::memory_order_seq_cst) == k_for_anything && wake_if(who, k_for_anything)) {
      os::futex_wake(places_[who].waits);
      return true;
    }
  }
  return false;
}

}  // namespace filch::runtime
