// The system's facts about threads.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

namespace filch_test {

/// Compilers take pthread_self() to be the same on both sides of a join; a system call they make anew.
inline long this_thread() noexcept { return syscall(SYS_gettid); }

/// Is that thread of this process blocked in the kernel, and not only without a processor?
inline bool is_asleep(long thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string const line((std::istreambuf_iterator<char>(file)), {});
  auto const name_end = line.rfind(')');
  return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'S';
}

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
