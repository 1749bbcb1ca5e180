#include "os/linux/interrupt.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>

namespace filch::os {
namespace {

struct sigaction before;
bool (*call)(ucontext_t const&) = nullptr;

void on_signal(int signal, siginfo_t* info, void* context) {
  int const error = errno;
  bool const may_be_mine = info->si_code == SI_TKILL && info->si_pid == getpid();
  if (may_be_mine && call(*static_cast<ucontext_t const*>(context))) {
    // what it was for is done
  } else if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
    before.sa_handler(signal);
  }
  errno = error;
}

}  // namespace

void on_interrupt(bool (*f)(ucontext_t const&)) noexcept {
  static std::once_flag once;
  std::call_once(once, [f] {
    call = f;
    struct sigaction mine{};
    mine.sa_sigaction = on_signal;
    mine.sa_flags = SA_SIGINFO | SA_RESTART;  // on the stack that it interrupts, which is the one to be looked at
    sigfillset(&mine.sa_mask);
    sigaction(SIGURG, &mine, &before);
  });
}

void admit_interrupts() noexcept {
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGURG);
  pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
}

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

void interrupt(pid_t thread) noexcept { syscall(SYS_tgkill, getpid(), thread, SIGURG); }

}  // namespace filch::os
