// fork() while another thread calls num_workers() first, which makes the default pool: the child makes its own.
#include <filch/default_scheduler.hpp>
#include <filch/detail/parlay_calls.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using calls = filch::detail::parlay_calls<filch::default_scheduler>;

int main() {
  auto const threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  std::atomic<bool> is_made = false;
  std::thread first([&] {
    static_cast<void>(calls::num_workers());
    is_made = true;
  });
  while (threads() < 10 && !is_made) {  // the pool is in the making: FILCH_NUM_THREADS asks for many workers
  }
  pid_t const child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(calls::num_workers() >= calls::workers() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  first.join();
  if (status != 0) std::fprintf(stderr, "the child ended with status %d; %d is an endless wait\n", status, SIGALRM);
  return status == 0 ? 0 : 1;
}
