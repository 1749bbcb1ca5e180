// Interrupts of a thread that does not poll.
#pragma once

#include <sys/types.h>
#include <ucontext.h>

namespace filch::os {

/// Called by an interrupted thread, in a signal handler, with all signals blocked but those of faults; on the
/// thread's signal stack, if it has one. `may_be_mine`: the kernel names no other sender. Returns whether interrupt()
/// was called for the thread.
using interrupt_handler = bool(ucontext_t const&, bool may_be_mine);

/// Once a process. The signal is SIGURG, which is ignored by default. Signals of other senders, and those that f did
/// not expect, go to the handler that was there before.
void on_interrupt(interrupt_handler* f) noexcept;
/// Is the library's handler still installed? Asks the kernel. The first time that it is not, one line says so.
bool can_interrupt() noexcept;
/// From now on the calling thread does not block interrupts.
void admit_interrupts() noexcept;
/// For the calling thread, where the signal is blocked, as in the handler: takes one away that is pending and may be
/// from interrupt(). False: there is none.
bool take_blocked_interrupt() noexcept;
/// After interrupt() was called for the calling thread, and has returned: the handler has run when this returns.
/// Where the thread blocks the signal, it is taken away instead.
void take_interrupt() noexcept;
/// The calling thread's id for interrupt(). It changes in a child of fork(). Asks the kernel.
pid_t this_thread() noexcept;
/// Costs the interrupted thread some microseconds. A thread that is gone is no error.
void interrupt(pid_t thread) noexcept;

}  // namespace filch::os
