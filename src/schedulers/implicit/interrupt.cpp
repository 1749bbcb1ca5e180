// Thieves that do not get an answer, and victims that do not fork for long.
#include "os/linux/interrupt.hpp"
#include "runtime/sanitizer.hpp"
#include "schedulers/implicit/worker.hpp"

extern "C" char const filch_implicit_barriers_begin[];
extern "C" char const filch_implicit_barriers_end[];

namespace filch::inline FILCH_ABI::detail {
namespace {

#if defined(FILCH_TSAN)  // puts signals off, to where their context says nothing any more
constexpr bool k_interrupts = false;
#else
constexpr bool k_interrupts = true;
#endif

// Who can't offer anything now, because an exception is on its way perhaps, is interrupted again so much later.
constexpr std::uint64_t k_cycles_after_refusal = std::uint64_t{1} << 18;

frame_registers registers_of(ucontext_t const& c) noexcept {
  auto const& g = c.uc_mcontext.gregs;
  auto const reg = [&g](int i) { return static_cast<std::uint64_t>(g[i]); };
  return {{reg(REG_RBX), reg(REG_RBP), reg(REG_R12), reg(REG_R13), reg(REG_R14), reg(REG_R15), reg(REG_RSP)},
          reg(REG_RIP)};
}

/// The thread may have been another implicit pool's worker when the signal was sent. True if it was sent.
bool forget_interrupt(strand_worker& innermost) noexcept {
  bool was_sent = false;
  for (strand_worker* w = &innermost; w; w = w->outer) {
    if (w->kind != strand_kind::implicit) continue;
    was_sent |= static_cast<implicit_member*>(w)->is_interrupted.exchange(false, std::memory_order_relaxed);
  }
  return was_sent;
}

/// True if a thief has sent the signal.
bool interrupted(ucontext_t const& context) {
  strand_worker& self = strand_self();
  // In another pool's run, or a stay: once that is over the request is looked at. relaxed: the next thief may try.
  if (self.kind != strand_kind::implicit) return forget_interrupt(self);
  auto& w = static_cast<implicit_member&>(self);
  bool was_sent = w.is_interrupted.load(std::memory_order_relaxed);
  if (w.outer) was_sent |= forget_interrupt(*w.outer);
  frame_registers const there = registers_of(context);
  // edge implicit-5: not while the worker changes what this would change. relaxed: the thread's own.
  bool refuses = w.is_busy.load(std::memory_order_relaxed) || !w.stack;
  refuses = refuses || (there.ip >= reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_begin) &&
                        there.ip < reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_end));
  if (!refuses) {
    auto const low = reinterpret_cast<std::uint64_t>(w.stack->memory().low());
    auto const high = reinterpret_cast<std::uint64_t>(w.stack->memory().high());
    std::uint64_t const rsp = there[frame_registers::rsp];
    refuses = rsp < low || rsp >= high;
  }
  // The unwinder may be on its way to a frame, which may not become another one meanwhile. On the strand's own stack
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

void answer_interrupts() noexcept {
  if constexpr (!k_interrupts) return;
  os::on_interrupt(interrupted);
}

/// With those who hold back a request.
bool implicit_team::insist(unsigned me) noexcept {
  bool all_hear = true;
  runtime::strand_member const& thief = member(me);
  all().each_in_use([&](unsigned i) {
    if (i == me || !may_take_from(thief, member(i))) return;
    all_hear = insist_on(static_cast<implicit_member&>(member(i))) && all_hear;
  });
  return all_hear;
}

bool implicit_team::insist_on(implicit_member& victim) noexcept {
  if constexpr (!k_interrupts) return true;
  // relaxed, all: hints.
  if (victim.thread.load(std::memory_order_relaxed) == 0 || victim.poll.load(std::memory_order_relaxed) != k_asked ||
      offers_task(victim))
    return true;
  if (__builtin_ia32_rdtsc() - victim.refused_at.load(std::memory_order_relaxed) < k_cycles_after_refusal)
    return false;
  // edge implicit-5: once until the victim has offered something, or could not.
  if (victim.is_interrupted.exchange(true, std::memory_order_seq_cst)) return true;
  // After the exchange: who takes up a strand on another thread meanwhile takes the mark away later than it says so.
  if (pid_t const thread = victim.thread.load(std::memory_order_relaxed)) os::interrupt(thread);
  return true;
}

/// Who insisted, or saw that somebody had, may sleep by now: one sleeper has to come again.
void implicit_team::refuse(implicit_member& w) noexcept {
  w.refused_at.store(__builtin_ia32_rdtsc(), std::memory_order_relaxed);
  // edge implicit-5: before the look at who sleeps.
  w.is_interrupted.store(false, std::memory_order_seq_cst);
  task_is_public(w.index, w.stack ? w.stack->root : runtime::k_any_root);
}

}  // namespace filch::inline FILCH_ABI::detail
