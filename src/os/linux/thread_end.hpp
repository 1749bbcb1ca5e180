// Calls at the end of a thread.
#pragma once

#include <pthread.h>

#include <atomic>

namespace filch::os {

/// A static of the code that needs it. A thread-local's destructor would need the dynamic loader's lock: a new
/// thread would wait for the thread that loads or unloads a library. That one may wait for the new thread, if a pool
/// comes or goes with the library.
class at_thread_end {
 public:
  /// `constinit`: the guard of a static local is never open in a child that is forked during another thread's first
  /// call.
  constexpr explicit at_thread_end(void (*call)(void*)) noexcept : call_(call) {}
  /// False if the system has no key left.
  bool is_there() noexcept { return key() != k_none; }
  /// At the end of the calling thread, call(p); p is not null. False without memory.
  [[nodiscard]] bool pass(void* p) noexcept {
    unsigned const mine = key();
    return mine != k_none && pthread_setspecific(mine, p) == 0;
  }

 private:
  static constexpr unsigned k_none = ~0u;

  unsigned key() noexcept {
    // relaxed, both: a key is a number, and good from its creation on.
    unsigned there = key_.load(std::memory_order_relaxed);
    if (there != k_none) return there;
    pthread_key_t made{};
    if (pthread_key_create(&made, call_) != 0) return k_none;
    if (key_.compare_exchange_strong(there, made, std::memory_order_relaxed)) return made;
    pthread_key_delete(made);  // another thread was faster
    return there;
  }

  void (*call_)(void*);
  std::atomic<unsigned> key_{k_none};
};

}  // namespace filch::os
