// Sleeping workers, and waking one of them. The protocol and its proof: idle.md.
#pragma once

#include "runtime/places.hpp"
#include "runtime/sleep_words.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace filch::runtime {

class idle {
 public:
  explicit idle(unsigned places);

  /// Worker `me` searches, or is about to: until it has a task it is counted, awake or asleep.
  void looks(unsigned me) noexcept;
  void has_work(unsigned me) noexcept;
  /// The number of searching workers: those that sleep, were woken or have yet to come included.
  std::uint32_t looking() const noexcept { return searchers_.get(); }

  /// The searching worker `me` is about to sleep until there is anything to do. It must look once more for work after
  /// this, and then call retract() or sleep().
  void announce(unsigned me) noexcept { announce_as(me, sleep_word::k_for_anything); }
  /// The same for a worker that waits in a join and may run tasks of `thief` only.
  void announce_for(unsigned me, unsigned thief) noexcept { announce_as(me, sleep_word::k_for_one + thief); }
  /// The same for the caller at place `me`, which may run tasks of its own call only.
  void announce_for_root(unsigned me) noexcept { announce_as(me, sleep_word::k_for_root); }
  /// `me` saw work, and does not sleep. False: another worker has woken `me` already.
  bool retract(unsigned me) noexcept;
  /// Sleeps until another worker wakes `me`, or has done so already.
  void sleep(unsigned me) noexcept;
  /// The same for so long at most: then `me` wakes itself. Returns whether another worker has.
  [[nodiscard]] bool sleep_for(unsigned me, std::chrono::nanoseconds limit) noexcept;

  /// Do all searching workers sleep? A hint.
  bool all_sleep() const noexcept {
    std::uint32_t const looking = searchers_.get();
    return looking != 0 && sleepers_.get() + callers_asleep_.get() >= looking;
  }

  /// Does a worker search, awake or asleep, callers that sleep left out? A hint.
  bool somebody_looks() const noexcept { return searchers_.get() > callers_asleep_.get(); }

  /// Is a worker announced, callers left out? Sequentially consistent: pairs with announce (edge idle-1).
  bool anybody() const noexcept { return sleepers_.get() != 0; }
  /// Is the caller of that call announced? edge idle-1, as anybody().
  bool sleeps_for_root(std::uint16_t root) const noexcept {
    return root != k_any_root && places_[root].waits.seen() == sleep_word::k_for_root;
  }
  /// Wakes that caller, if it sleeps.
  bool wake_for_root(std::uint16_t root) noexcept { return sleeps_for_root(root) && wake(root); }
  /// Wakes one worker that may run tasks of `offerer`; false if there is none.
  bool wake_one_for(unsigned offerer) noexcept;
  /// Wakes one worker that waits for anything at all.
  bool wake_one() noexcept;
  /// Wakes this worker, if it sleeps.
  bool wake(unsigned who) noexcept;

 private:
  friend struct team_checks;
  struct alignas(64) place {
    sleep_word waits;
    bool looks = false;  // the worker's own, once its thread runs
  };

  void announce_as(unsigned me, std::uint32_t what) noexcept;
  bool wake_if(unsigned who, std::uint32_t what) noexcept;

  unsigned const number_of_places_;
  std::unique_ptr<place[]> places_;
  alignas(64) sleeper_count sleepers_;
  sleeper_count callers_asleep_;  // announced for a root
  searcher_count searchers_;
};

}  // namespace filch::runtime
