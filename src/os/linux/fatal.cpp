// Errors that end the process. Called if the program can't continue after a user's mistake or a refusal of the
// system.
#include "os/linux/fatal.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace filch::os {
namespace {

/// The address of a thread's own byte names the thread.
constinit thread_local char here __attribute__((tls_model("initial-exec"))) = 0;
constinit std::atomic<char const*> first{nullptr};

}  // namespace

void end_with_line(char const* line) noexcept {
  char const* expected = nullptr;
  // relaxed: nothing is read by way of it. A handler of SIGABRT may come here again.
  if (!first.compare_exchange_strong(expected, &here, std::memory_order_relaxed) && expected != &here) {
    for (;;) pause();
  }
  if (write(STDERR_FILENO, line, std::strlen(line)) < 0) {  // nothing more can be done
  }
  std::abort();
}

}  // namespace filch::os
