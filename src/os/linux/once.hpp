// once: code that runs once in a process.
#pragma once

#include <pthread.h>

namespace filch::os {

/// The first call with this flag runs f, and others wait for its end. A child of fork() runs f anew if a thread of
/// its parent was in f: the C library's flag sees to that, that of libc++'s std::call_once does not. f throws
/// nothing.
template <class F> void once(pthread_once_t& flag, F const& f) noexcept {
  constinit static thread_local F const* calling = nullptr;
  calling = &f;
  pthread_once(&flag, [] { (*calling)(); });
}

}  // namespace filch::os
