// The records of all threads: made at a thread's first run, read by the report.
#include "runtime/profile/record.hpp"

#include "runtime/fork_generation.hpp"

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
  // Another thread of the parent may have held it.
  ::new (static_cast<void*>(&r.mutex)) std::mutex;
  for (auto& each : r.all) each.release()->orphan();
  r.all.clear();
  r.free.clear();
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

}  // namespace filch::runtime::profile
