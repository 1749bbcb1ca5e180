// What the system knows of the calling thread.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace filch_test {

/// Compilers take pthread_self() to be the same on both sides of a join; a system call they make anew.
inline long this_thread() noexcept { return syscall(SYS_gettid); }

/// While this lives, no signal interrupts the thread. For code that stays on it.
class no_interrupts {
 public:
  no_interrupts() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  no_interrupts(no_interrupts const&) = delete;
  no_interrupts& operator=(no_interrupts const&) = delete;
  ~no_interrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace filch_test
