// Calls at the end of a thread.
#pragma once

#include <pthread.h>

namespace filch::os {

/// A static of the code that needs it. A thread-local's destructor would need the dynamic loader's lock: a new
/// thread would wait for the thread that loads or unloads a library. That one may wait for the new thread, if a pool
/// comes or goes with the library.
class at_thread_end {
 public:
  explicit at_thread_end(void (*call)(void*)) noexcept : is_there_(pthread_key_create(&key_, call) == 0) {}
  /// False if the system has no key left.
  bool is_there() const noexcept { return is_there_; }
  /// At the end of the calling thread, call(p); p is not null. False without memory.
  [[nodiscard]] bool pass(void* p) const noexcept { return is_there_ && pthread_setspecific(key_, p) == 0; }

 private:
  pthread_key_t key_{};
  bool is_there_;
};

}  // namespace filch::os
