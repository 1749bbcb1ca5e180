// Interrupting a thread that does not look.
#pragma once

#include <sys/types.h>
#include <ucontext.h>

namespace filch::os {

/// Once a process: from now on a thread that is interrupted calls f, in a signal handler, with all signals blocked.
/// The signal is SIGURG, whose default is to be ignored. What comes from elsewhere goes to the handler that was there
/// before, and so does what f was not expecting: false.
void on_interrupt(bool (*f)(ucontext_t const&)) noexcept;
/// From now on the calling thread does not block them.
void admit_interrupts() noexcept;
/// The calling thread, as interrupt() wants it: another one in a child of fork(). Asks the kernel.
pid_t this_thread() noexcept;
/// Costs the interrupted thread some microseconds. A thread that is gone is no error.
void interrupt(pid_t thread) noexcept;

}  // namespace filch::os
