// Thieves that do not get an answer, and victims that do not fork for long.
#include "os/linux/interrupt.hpp"
#include "runtime/sanitizer.hpp"
#include "schedulers/implicit/worker.hpp"

#include <array>

extern "C" char const filch_implicit_barriers_begin[];
extern "C" char const filch_implicit_barriers_end[];

namespace filch::inline FILCH_ABI::detail {
namespace {

/// The functions of the unwinder from which it goes through a stack: a frame that is offered under them would lie
/// where they are about to go.
class unwinder {
 public:
  unwinder() noexcept {
    add(reinterpret_cast<std::uint64_t>(&_Unwind_RaiseException));
    add(reinterpret_cast<std::uint64_t>(&_Unwind_Resume));
    add(reinterpret_cast<std::uint64_t>(&_Unwind_Resume_or_Rethrow));
    add(reinterpret_cast<std::uint64_t>(&_Unwind_ForcedUnwind));
  }
  bool has(std::uint64_t ip) const noexcept {
    for (auto const& r : ranges_) {
      if (ip >= r.begin && ip < r.end) return true;
    }
    return false;
  }

 private:
  struct range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  void add(std::uint64_t address) noexcept {
    function_range(address, ranges_[count_].begin, ranges_[count_].end);
    ++count_;
  }
  std::array<range, 4> ranges_{};
  std::size_t count_ = 0;
};

unwinder const& the_unwinder() noexcept {
  static unwinder const u;
  return u;
}

frame_registers registers_of(ucontext_t const& c) noexcept {
  auto const& g = c.uc_mcontext.gregs;
  auto const reg = [&g](int i) { return static_cast<std::uint64_t>(g[i]); };
  return {{reg(REG_RBX), reg(REG_RBP), reg(REG_R12), reg(REG_R13), reg(REG_R14), reg(REG_R15), reg(REG_RSP)},
          reg(REG_RIP)};
}

bool is_unwinding(frame_registers at, std::uint64_t low, std::uint64_t high, call_frame_cache& cache) noexcept {
  bool is_return_address = false;
  for (;;) {
    std::uint64_t const rsp = at[frame_registers::rsp];
    if (rsp < low || rsp >= high) return false;
    if (the_unwinder().has(is_return_address ? at.ip - 1 : at.ip)) return true;
    call_frame const f = is_return_address ? cache.at(at.ip) : find_call_frame(at.ip, false);
    is_return_address = true;
    if (f.pad || !step(at, f)) return false;  // what an exception is looking for is no further away
  }
}

void interrupted(ucontext_t const& context) {
  strand_worker& self = strand_self();
  if (self.kind != strand_kind::implicit) return;
  auto& w = static_cast<implicit_member&>(self);
  frame_registers const there = registers_of(context);
  // edge implicit-5: not while the worker changes what this would change. relaxed: the thread's own.
  bool refuses = w.is_busy.load(std::memory_order_relaxed) || !w.stack;
  refuses = refuses || (there.ip >= reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_begin) &&
                        there.ip < reinterpret_cast<std::uint64_t>(&filch_implicit_barriers_end));
  if (!refuses) {
    auto const low = reinterpret_cast<std::uint64_t>(w.stack->memory().low());
    auto const high = reinterpret_cast<std::uint64_t>(w.stack->memory().high());
    std::uint64_t const rsp = there[frame_registers::rsp];
    refuses = rsp < low || rsp >= high || is_unwinding(there, low, high, w.frames);
  }
  if (refuses) {
    w.is_interrupted.store(false, std::memory_order_relaxed);  // relaxed: the next thief may try
    return;
  }
  team_of(w).publish_interrupted(w, there);
}

}  // namespace

void answer_interrupts() noexcept {
#if !defined(FILCH_TSAN)  // which puts signals off, to where their context says nothing any more
  static_cast<void>(the_unwinder());
  os::on_interrupt(interrupted);
#endif
}

/// Interrupts those who hold back a request, each once until it offers something. Edge implicit-5.
void implicit_team::insist(unsigned me) noexcept {
#if !defined(FILCH_TSAN)
  for (unsigned i = 0; i < workers(); ++i) {
    if (i == me) continue;
    auto& victim = static_cast<implicit_member&>(member(i));
    // relaxed, all: hints. A poll that stands for as long as a thief insists is one that nobody answers.
    pid_t const thread = victim.thread.load(std::memory_order_relaxed);
    if (thread == 0 || victim.poll.load(std::memory_order_relaxed) == 0 || offers_task(victim)) continue;
    // edge implicit-5: once for each request.
    if (victim.is_interrupted.exchange(true, std::memory_order_relaxed)) continue;
    os::interrupt(thread);
  }
#else
  static_cast<void>(me);
#endif
}

}  // namespace filch::inline FILCH_ABI::detail
