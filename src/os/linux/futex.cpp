// The futex system calls: sleeping on a word, with and without a limit, and waking. Used by sleeping workers
// (idle.md), by filch::mutex and by a pool that waits for its callers.
#include "os/linux/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <limits>

namespace filch::os {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// errno is the user's: a task that sets it, forks and reads it must not see ours.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  int const kept = errno;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
  errno = kept;
}

void futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::chrono::nanoseconds limit) noexcept {
  int const kept = errno;
  auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec const relative{static_cast<std::time_t>(seconds.count()), static_cast<long>((limit - seconds).count())};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &relative, nullptr, 0);
  errno = kept;
}

namespace {
void wake(std::atomic<std::uint32_t>& word, int at_most) noexcept {
  int const kept = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, at_most, nullptr, nullptr, 0);
  errno = kept;
}
}  // namespace

void futex_wake(std::atomic<std::uint32_t>& word) noexcept { wake(word, 1); }
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept { wake(word, std::numeric_limits<int>::max()); }

}  // namespace filch::os
