// The count of fork()s, and the functions that reset state in a child. Read by teams before they use their threads or
// locks: in a child the threads are gone, and a lock may be held for ever.
#include "runtime/fork_generation.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdlib>

namespace filch::runtime {
namespace {

std::atomic<unsigned> generation{0};

using watcher = void (*)();

/// From the front on; null: none yet. relaxed, all: functions are there from the beginning.
constinit std::array<std::atomic<watcher>, 16> watchers{};

watcher at(std::size_t i) noexcept { return watchers[i].load(std::memory_order_relaxed); }

// relaxed: a child of fork() has one thread.
void count() { generation.fetch_add(1, std::memory_order_relaxed); }

void in_child() {
  for (std::size_t i = 0; i < watchers.size() && at(i); ++i) at(i)();
}

// There is no handler before a fork, and no lock of Filch's is held while one lasts. The program's handlers run in
// the meantime. They may wait for a lock whose holder makes a pool in another thread, and may make or use pools
// themselves. So whatever a pool's construction locks, its holder goes on in the parent. In the child each such lock
// is made new by a watcher, and the data under it is made anew, or is whole between any two stores.
//
// The handler is installed when the library is loaded, not by the first pool: some C libraries hold a lock of their
// own while handlers run, which pthread_atfork() takes, too. And handlers in the child run in the order in which they
// were installed, so the program's find the pools forgotten. Before all constructors of static objects, which may
// make pools.
[[gnu::constructor(101)]] void install() { static_cast<void>(pthread_atfork(nullptr, nullptr, in_child)); }

}  // namespace

unsigned fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void count_forks() noexcept { watch_forks(count); }

void watch_forks(watcher f) noexcept {
  for (auto& place : watchers) {
    watcher there = nullptr;
    if (place.compare_exchange_strong(there, f, std::memory_order_relaxed) || there == f) return;
  }
  std::abort();  // there are fewer watchers in the library
}

}  // namespace filch::runtime
