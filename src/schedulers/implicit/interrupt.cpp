// A victim that does not fork is interrupted by a signal, and its handler offers. The first half runs in the victim's
// handler; the second half is the thief's: when it sends interrupts. Called by the signal handler of
// src/os/linux/interrupt.cpp, and by thieves that are about to sleep. See protocol.md, edge implicit-5.
#include "os/linux/interrupt.hpp"
#include "runtime/sanitizer.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

extern "C" char const filch_implicit_barriers_begin[];
extern "C" char const filch_implicit_barriers_end[];

namespace filch::inline FILCH_ABI::detail {
namespace {

/// ThreadSanitizer delays signal handlers to a point where their context means nothing.
bool are_there_interrupts() noexcept { return !runtime::is_on_tsan(); }

frame_registers registers_of(ucontext_t const& c) noexcept {
  auto const& g = c.uc_mcontext.gregs;
  auto const reg = [&g](int i) { return static_cast<std::uint64_t>(g[i]); };
  return {{reg(REG_RBX), reg(REG_RBP), reg(REG_R12), reg(REG_R13), reg(REG_R14), reg(REG_R15), reg(REG_RSP)},
          reg(REG_RIP)};
}

/// The thread may have been a worker of another implicit pool when the signal was sent. True: a thief had sent it.
bool forget_interrupt(fiber_worker& innermost) noexcept {
  bool was_sent = false;
  for (fiber_worker* w = &innermost; w; w = w->outer) {
    if (w->kind != k_implicit_tag) continue;
    was_sent |= static_cast<implicit_member*>(w)->interrupted.forget();
  }
  return was_sent;
}

/// Inline assembly around `cpuid`, in Clang's own header too, keeps rbx in another register, without call-frame
/// information that says so: the walk would find older frames with a wrong rbx.
bool is_around_cpuid(std::uint64_t ip) noexcept {
  constexpr std::uint64_t k_page = 4096;
  auto const is_at = [](std::uint64_t at) {
    auto const* const code = reinterpret_cast<std::uint8_t const*>(at);
    return code[0] == 0x0f && code[1] == 0xa2;
  };
  // The second byte may lie on the next page, which is there if the first one is an instruction's. The two before it
  // may lie on a page that does not exist.
  if (*reinterpret_cast<std::uint8_t const*>(ip) == 0x0f && is_at(ip)) return true;
  return (ip % k_page >= 2 || is_function(ip - 2)) && is_at(ip - 2);
}

// Cycles that a request stands before an interrupt is sent. A victim that forks answers sooner.
constexpr runtime::cycles k_patience = runtime::cycles{1} << 17;

/// May the handler walk from there, and change records? edge implicit-5: not while the worker changes them.
bool can_answer(implicit_member& w, frame_registers const& there) noexcept {
  if (w.change.is_set() || !w.stack) return false;
  if (there.ip >= reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_begin) &&
      there.ip < reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_end)) {
    return false;
  }
  // Code without tables may lie on pages that can only be executed. No walk gets past it.
  if (!is_function(there.ip) || is_around_cpuid(there.ip)) return false;
  stack_bounds const bounds = bounds_of(w);
  std::uint64_t const rsp = there[frame_registers::rsp];
  if (rsp < bounds.low || rsp >= bounds.high) return false;
  // An unwinder may be on its way to a frame, which must not change. On the fiber's own stack the worker knows its
  // thread's exceptions.
  return w.exceptions->uncaught == 0;
}

/// Runs in the victim's signal handler. True: a thief has sent the signal.
bool interrupted(ucontext_t const& context, bool may_be_a_thief_s) {
  fiber_worker& self = fiber_self();
  // In another pool's run, or in a stay: the worker looks at the request when that is over.
  if (self.kind != k_implicit_tag) return forget_interrupt(self);
  auto& w = static_cast<implicit_member&>(self);
  std::uint32_t const sent = w.interrupted.arrive();
  // The others came since this handler began. The system makes one of them, whose handler would not know that it was
  // sent.
  if (sent == interrupt_mark::k_several) static_cast<void>(os::take_blocked_interrupt());
  bool was_sent = sent != 0 || w.interrupted.is_set();
  if (w.outer) was_sent |= forget_interrupt(*w.outer);
  if (!was_sent && !may_be_a_thief_s) return false;
  frame_registers const there = registers_of(context);
  if (can_answer(w, there)) {
    team_of(w).publish_interrupted(w, there);
  } else {
    team_of(w).answer_later(w);
  }
  return was_sent;
}

}  // namespace

bool answer_interrupts() noexcept {
  if (!are_there_interrupts()) return false;
  os::on_interrupt(interrupted);
  return true;
}

/// Thief, before it sleeps: sends an interrupt to each victim that does not answer its request.
std::chrono::nanoseconds implicit_team::insist(unsigned me) noexcept {
  constexpr auto k_never = std::numeric_limits<runtime::cycles>::max();
  runtime::cycles soonest = k_never;
  runtime::fiber_member const& thief = member(me);
  all().each_in_use([&](unsigned i) {
    if (i == me || !may_take_from(thief, member(i))) return;
    auto& victim = static_cast<implicit_member&>(member(i));
    runtime::cycles in = request_if_due(victim);
    if (in == 0) in = interrupt(me, victim);
    if (in != 0) soonest = std::min(soonest, in);
  });
  // The clock's rate need not be known exactly: processors run at some cycles a nanosecond.
  constexpr runtime::cycles k_cycles_per_nanosecond = 2;
  return soonest == k_never ? k_until_woken : std::chrono::nanoseconds(soonest / k_cycles_per_nanosecond);
}

runtime::cycles implicit_team::interrupt(unsigned me, implicit_member& victim) noexcept {
  if (!interrupts_) return 0;
  if (!victim.thread.is_set() || offers_task(victim)) return 0;
  // The request may not be older than that.
  if (runtime::cycles const in = runtime::time_until(victim.may_be_requested_at() + k_patience)) return in;
  if (runtime::cycles const in = runtime::time_until(victim.pause.until())) return in;
  if (!victim.request().is_requested() || !os::can_interrupt()) return 0;
  // Once until the victim has answered.
  if (!victim.interrupted.claim()) return 0;
  // After the claim: a worker that takes up a fiber says which thread it is, and then takes the mark away.
  if (victim.interrupted.send_to(victim.thread, os::interrupt)) {
    note(me, runtime::trace::kind::interrupts, victim.index);
  }
  return 0;
}

/// Has this worker no request, so that a sleeper may have to come again? A worker that puts a request off wakes a
/// sleeper after that: this thief, or another one, which comes here, too.
bool implicit_team::is_owed(unsigned worker) const noexcept {
  return !static_cast<implicit_member&>(member(worker)).request().is_requested();
}

}  // namespace filch::inline FILCH_ABI::detail
