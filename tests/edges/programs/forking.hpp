// fork() in a scenario, and the end of the child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace filch_test {

/// fork(), with nothing in the buffers that both would print.
inline pid_t fork_now() {
  std::fflush(nullptr);
  return fork();
}

inline void wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFEXITED(status)) std::printf("child exited with %d\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) std::printf("child was killed by %d\n", WTERMSIG(status));
}

inline int right(bool yes) { return yes ? 5 : 6; }

}  // namespace filch_test
