// Interrupts of a thread: SIGURG, sent to one thread, and the handler that passes on each signal that is not the
// library's. Used by thieves whose victim has not forked for long.
#include "os/linux/interrupt.hpp"

#include "os/linux/earlier_handler.hpp"
#include "os/linux/once.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace filch::os {
namespace {

constinit earlier_handler before;
interrupt_handler* call = nullptr;

bool may_be_own(siginfo_t const& info) noexcept {
  // At the user's limit of pending signals the kernel names no sender.
  bool const is_unknown = info.si_code == SI_USER && info.si_pid == 0;
  return is_unknown || (info.si_code == SI_TKILL && info.si_pid == getpid());
}

void on_signal(int signal, siginfo_t* info, void* context) {
  int const error = errno;
  bool const may_be_mine = may_be_own(*info);
  // The sender does not matter: a second signal merges with the first one while that is pending.
  bool const was_expected = call(*static_cast<ucontext_t const*>(context), may_be_mine);
  if (!may_be_mine || !was_expected) static_cast<void>(before.call(signal, info, context));
  errno = error;
}

}  // namespace

void on_interrupt(interrupt_handler* f) noexcept {
  static pthread_once_t flag = PTHREAD_ONCE_INIT;
  once(flag, [f] {
    call = f;
    struct sigaction mine{};
    mine.sa_sigaction = on_signal;
    // On the signal stack: the interrupted stack may be small, or nearly used up.
    mine.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&mine.sa_mask);
    // Faults in the handler are reported like other faults.
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&mine.sa_mask, fault);
    before.replace_by(SIGURG, mine);
  });
}

bool can_interrupt() noexcept {
  struct sigaction now{};
  bool const is_mine =
      sigaction(SIGURG, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal;
  // relaxed: the first thread prints the line.
  static constinit std::atomic<bool> was_said{false};
  if (!is_mine && !was_said.exchange(true, std::memory_order_relaxed)) {
    static constexpr char k_text[] =
        "filch: another handler of SIGURG, the program's or that of a second copy of Filch, has replaced Filch's: "
        "workers that do not fork are not interrupted; install yours before the first pool, use one shared Filch, or "
        "set FILCH_INTERRUPTS=0\n";
    if (write(STDERR_FILENO, k_text, sizeof k_text - 1) < 0) return false;  // nothing more can be done
  }
  return is_mine;
}

void admit_interrupts() noexcept {
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGURG);
  pthread_sigmask(SIG_UNBLOCK, &mine, nullptr);
}

bool take_blocked_interrupt() noexcept {
  int const error = errno;
  std::uint64_t const mine = std::uint64_t{1} << (SIGURG - 1);
  siginfo_t info{};
  timespec const at_once{};
  // glibc's sigtimedwait() says of a signal of tgkill() that kill() has sent it.
  bool const is_there = syscall(SYS_rt_sigtimedwait, &mine, &info, &at_once, sizeof mine) == SIGURG;
  bool const is_own = is_there && may_be_own(info);
  // The program's comes again when the signal is not blocked any more.
  if (is_there && !is_own) syscall(SYS_rt_tgsigqueueinfo, getpid(), this_thread(), SIGURG, &info);
  errno = error;
  return is_own;
}

void take_interrupt() noexcept {
  sigset_t blocked;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGURG) != 0) {
    static_cast<void>(take_blocked_interrupt());
  }
}

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

void interrupt(pid_t thread) noexcept { syscall(SYS_tgkill, getpid(), thread, SIGURG); }

}  // namespace filch::os
