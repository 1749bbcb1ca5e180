// The count of fork()s, and the functions that reset state in a child. Read by teams before they use their threads or
// locks: in a child the threads are gone, and a lock may be held for ever.
#include "runtime/fork_generation.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace filch::runtime {
namespace {

std::atomic<unsigned> generation{0};

struct watchers {
  std::mutex mutex;
  std::vector<void (*)()> in_child;  // under mutex
};

// Never destroyed: a process may fork during static destruction.
watchers& all_watchers() {
  static watchers* const w = new watchers;
  return *w;
}

// The mutex is held across fork(), so that the child finds the list whole.
void before() { all_watchers().mutex.lock(); }
void in_parent() { all_watchers().mutex.unlock(); }
void in_child() {
  // relaxed: a child of fork() has one thread.
  generation.fetch_add(1, std::memory_order_relaxed);
  for (auto* const f : all_watchers().in_child) f();
  all_watchers().mutex.unlock();
}

}  // namespace

unsigned fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void watch_forks(void (*f)()) {
  watchers& w = all_watchers();
  std::lock_guard const lock(w.mutex);
  if (w.in_child.empty()) pthread_atfork(before, in_parent, in_child);
  if (std::find(w.in_child.begin(), w.in_child.end(), f) == w.in_child.end()) w.in_child.push_back(f);
}

}  // namespace filch::runtime
