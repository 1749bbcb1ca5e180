// The records of all threads: made at a thread's first run, read by
// the report. record.cpp and report.cpp call it.
#include "runtime/profile/record.hpp"

#include "runtime/fork_generation.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace filch::runtime::profile {
namespace {

struct registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<record>> all;  // under mutex
  std::vector<record*> free;                 // under mutex: their threads have ended
};

// Never destroyed: threads may outlive static destruction.
registry& the_registry() {
  static registry* const r = new registry;
  return *r;
}
// Made when the library is loaded: a child that was forked during another thread's first call would wait for that
// thread for ever.
[[maybe_unused]] registry const& made_early = the_registry();

/// The record of a thread that ends serves another one.
struct holder {
  record* held = nullptr;
  ~holder() {
    // exit() in a task: the report finds the record as its own.
    if (!held || held->is_orphan() || held->is_running()) return;
    registry& r = the_registry();
    std::lock_guard const lock(r.mutex);
    r.free.push_back(std::exchange(held, nullptr));
  }
};
thread_local holder mine;

void forget_in_child() {
  registry& r = the_registry();
  // Another thread of the parent may have held it, and changed the lists. The records are orphans.
  ::new (static_cast<void*>(&r)) registry;
}

}  // namespace

record& of_this_thread() {
  if (mine.held && !mine.held->is_orphan()) return *mine.held;
  watch_forks(forget_in_child);
  registry& r = the_registry();
  std::lock_guard const lock(r.mutex);
  if (r.free.empty()) {
    r.all.push_back(std::make_unique<record>());
    mine.held = r.all.back().get();
  } else {
    mine.held = r.free.back();
    r.free.pop_back();
  }
  return *mine.held;
}

unsigned each_record(void (*see)(record const&, void* argument), void* argument) {
  registry& r = the_registry();
  std::lock_guard const lock(r.mutex);
  unsigned missing = 0;
  for (auto& each : r.all) {
    if (each.get() == mine.held) {
      see(*each, argument);
    } else if (each->mutex.try_lock()) {
      see(*each, argument);
      each->mutex.unlock();
    } else {
      ++missing;
    }
  }
  return missing;
}

void each_last_hook(std::function<void(record const&, cycles at)> const& see) {
  registry& r = the_registry();
  std::lock_guard const lock(r.mutex);
  for (auto const& each : r.all) see(*each, each->hooks().look());
}

fork_tree recorded_fork_tree() {
  struct {
    fork_tree all;
    unsigned thread = 0;
  } sum;
  static_cast<void>(each_record(
      [](record const& r, void* p) {
        auto& to = *static_cast<decltype(sum)*>(p);
        std::vector<unsigned> places;
        for (unsigned i = 0; i <= r.places().number(); ++i) {
          code const task = i < r.places().number() ? r.places()[i].task : nullptr;
          auto const known = std::find(to.all.places.begin(), to.all.places.end(), task);
          places.push_back(static_cast<unsigned>(known - to.all.places.begin()));
          if (known == to.all.places.end()) to.all.places.push_back(task);
        }
        places.resize(place_table::k_most + 1, places.back());  // the others
        r.tree().add_to(to.all, to.thread++, calibrated.cycles_per_ns, places);
      },
      &sum));
  return std::move(sum.all);
}

}  // namespace filch::runtime::profile
