// Thieves that do not get an answer, and victims that do not fork for long.
#include "os/linux/interrupt.hpp"
#include "runtime/sanitizer.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <limits>

extern "C" char const filch_implicit_barriers_begin[];
extern "C" char const filch_implicit_barriers_end[];

namespace filch::inline FILCH_ABI::detail {
namespace {

/// ThreadSanitizer puts signals off, to where their context says nothing any more.
bool are_there_interrupts() noexcept { return !runtime::is_on_tsan(); }

frame_registers registers_of(ucontext_t const& c) noexcept {
  auto const& g = c.uc_mcontext.gregs;
  auto const reg = [&g](int i) { return static_cast<std::uint64_t>(g[i]); };
  return {{reg(REG_RBX), reg(REG_RBP), reg(REG_R12), reg(REG_R13), reg(REG_R14), reg(REG_R15), reg(REG_RSP)},
          reg(REG_RIP)};
}

/// The thread may have been another implicit pool's worker when the signal was sent. True if it was sent.
bool forget_interrupt(fiber_worker& innermost) noexcept {
  bool was_sent = false;
  for (fiber_worker* w = &innermost; w; w = w->outer) {
    if (w->kind != fiber_kind::implicit) continue;
    was_sent |= static_cast<implicit_member*>(w)->is_interrupted.exchange(false, std::memory_order_relaxed);
  }
  return was_sent;
}

/// Inline assembly around `cpuid`, in Clang's own header too, keeps rbx elsewhere meanwhile, and no call-frame
/// information says so: the frames that the register is preserved for would be found with a wrong one.
bool is_around_cpuid(std::uint64_t ip) noexcept {
  constexpr std::uint64_t k_page = 4096;
  auto const is_at = [](std::uint64_t at) {
    auto const* const code = reinterpret_cast<std::uint8_t const*>(at);
    return code[0] == 0x0f && code[1] == 0xa2;
  };
  // Of what is about to run, the next byte may be on a page that does not exist; so may the last one.
  if (ip % k_page < k_page - 1 && is_at(ip)) return true;
  return ip % k_page >= 2 && is_at(ip - 2);
}

// A victim that forks answers sooner.
constexpr runtime::cycles k_patience = runtime::cycles{1} << 17;

/// True if a thief has sent a signal.
bool interrupted(ucontext_t const& context, bool may_be_a_thief_s) {
  fiber_worker& self = fiber_self();
  // In another pool's run, or a stay: once that is over the request is looked at. relaxed: the next thief may try.
  if (self.kind != fiber_kind::implicit) return forget_interrupt(self);
  auto& w = static_cast<implicit_member&>(self);
  bool was_sent = w.is_interrupted.load(std::memory_order_relaxed);
  if (w.outer) was_sent |= forget_interrupt(*w.outer);
  if (!was_sent && !may_be_a_thief_s) return false;
  frame_registers const there = registers_of(context);
  // edge implicit-5: not while the worker changes what this would change. relaxed: the thread's own.
  bool refuses = w.is_busy.load(std::memory_order_relaxed) || !w.stack;
  refuses = refuses || (there.ip >= reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_begin) &&
                        there.ip < reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_end));
  refuses = refuses || is_around_cpuid(there.ip);
  if (!refuses) {
    auto const [low, high] = bounds_of(w);
    std::uint64_t const rsp = there[frame_registers::rsp];
    refuses = rsp < low || rsp >= high;
  }
  // The unwinder may be on its way to a frame, which may not become another one meanwhile. On the fiber's own stack
  // the worker has taken it up, so it knows its thread's exceptions.
  refuses = refuses || w.exceptions->uncaught != 0;
  if (refuses) {
    team_of(w).refuse(w);
  } else {
    team_of(w).publish_interrupted(w, there);
  }
  return was_sent;
}

}  // namespace

bool answer_interrupts() noexcept {
  if (!are_there_interrupts()) return false;
  os::on_interrupt(interrupted);
  return true;
}

/// With those who hold back a request.
std::chrono::nanoseconds implicit_team::insist(unsigned me) noexcept {
  constexpr auto k_never = std::numeric_limits<runtime::cycles>::max();
  runtime::cycles soonest = k_never;
  runtime::fiber_member const& thief = member(me);
  all().each_in_use([&](unsigned i) {
    if (i == me || !may_take_from(thief, member(i))) return;
    auto& victim = static_cast<implicit_member&>(member(i));
    runtime::cycles in = ask_if_due(victim);
    if (in == 0) in = insist_on(victim);
    if (in != 0) soonest = std::min(soonest, in);
  });
  // Nobody needs to know the clock's rate: a processor's is some cycles a nanosecond.
  constexpr runtime::cycles k_cycles_per_nanosecond = 2;
  return soonest == k_never ? k_until_woken : std::chrono::nanoseconds(soonest / k_cycles_per_nanosecond);
}

runtime::cycles implicit_team::insist_on(implicit_member& victim) noexcept {
  if (!interrupts_) return 0;
  // relaxed, all: hints.
  if (victim.thread.load(std::memory_order_relaxed) == 0 || offers_task(victim)) return 0;
  // It may not have been asked for longer.
  if (runtime::cycles const in = runtime::time_until(victim.may_be_asked_at() + k_patience)) return in;
  if (runtime::cycles const in = runtime::time_until(victim.refused_until.load(std::memory_order_relaxed))) return in;
  if (victim.poll.load(std::memory_order_relaxed) != k_requested || !os::can_interrupt()) return 0;
  // edge implicit-5: once until the victim has offered something, or could not.
  if (victim.is_interrupted.exchange(true, std::memory_order_seq_cst)) return 0;
  // After the exchange: who takes up a fiber on another thread meanwhile takes the mark away later than it says so.
  if (pid_t const thread = victim.thread.load(std::memory_order_relaxed)) os::interrupt(thread);
  return 0;
}

/// Does nobody ask this worker for those who sleep, nor wait until it may be asked?
bool implicit_team::is_owed(unsigned worker) const noexcept {
  auto const& w = static_cast<implicit_member const&>(member(worker));
  // relaxed: who put it off looked for sleepers after that, and woke one: this worker, or one that passes it on, too.
  return w.poll.load(std::memory_order_relaxed) != k_requested;
}

/// Who insisted, or saw that somebody had, may sleep by now: one sleeper has to come again.
void implicit_team::refuse(implicit_member& w) noexcept {
  runtime::cycles const pause = w.pause.load(std::memory_order_relaxed);
  w.pause.store(std::min(2 * pause, implicit_member::k_longest_pause), std::memory_order_relaxed);
  w.refused_until.store(runtime::time_stamp() + pause, std::memory_order_relaxed);
  // edge implicit-5: before the look at who sleeps.
  w.is_interrupted.store(false, std::memory_order_seq_cst);
  task_is_public(w.index, root_of(w));
}

}  // namespace filch::inline FILCH_ABI::detail
