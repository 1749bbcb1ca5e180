// Calls the signal handler that was installed before the library's own, with its mask and flags. Used by the handlers
// of stack overflows and of interrupts.
#include "os/linux/earlier_handler.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace filch::os {
namespace {

/// The signals of both sets. The kernel has 64, and writes no more of glibc's set.
sigset_t either(sigset_t const& a, sigset_t const& b) noexcept {
  std::uint64_t words[2];
  std::memcpy(&words[0], &a, sizeof words[0]);
  std::memcpy(&words[1], &b, sizeof words[1]);
  words[0] |= words[1];
  sigset_t both;
  sigemptyset(&both);
  std::memcpy(&both, &words[0], sizeof words[0]);
  return both;
}

}  // namespace

void earlier_handler::replace_by(int signal, struct sigaction const& mine) noexcept {
  struct sigaction there{};
  if (sigaction(signal, nullptr, &there) != 0) return;
  // In a child of fork(): another thread of the parent was here.
  if ((there.sa_flags & SA_SIGINFO) && there.sa_sigaction == mine.sa_sigaction) return;
  // Kept first: the handler may be called before sigaction() returns.
  action_ = there;
  sigaction(signal, &mine, &action_);
}

earlier_handler::outcome earlier_handler::call(int signal, siginfo_t* info, void* context) noexcept {
  // Independent of the flags: SA_SIGINFO may come with either of the two.
  if (action_.sa_handler == SIG_IGN) return outcome::ignored;
  if (action_.sa_handler == SIG_DFL) return outcome::by_default;
  // relaxed: it decides only which thread calls.
  if ((static_cast<unsigned>(action_.sa_flags) & SA_RESETHAND) &&
      was_called_.exchange(true, std::memory_order_relaxed)) {
    return outcome::by_default;
  }
  sigset_t blocked = either(static_cast<ucontext_t const*>(context)->uc_sigmask, action_.sa_mask);
  if (!(action_.sa_flags & SA_NODEFER)) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  if (action_.sa_flags & SA_SIGINFO) {
    action_.sa_sigaction(signal, info, context);
  } else {
    action_.sa_handler(signal);
  }
  return outcome::called;
}

}  // namespace filch::os
