// The pool: its members, the way in, and the default pool.
#include "os/linux/interrupt.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pool_of.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <bit>

extern "C" std::uint64_t const filch_implicit_barriers[];

namespace filch::inline FILCH_ABI {
namespace detail {
namespace {

constexpr unsigned k_smallest_barrier_bits = 16;  // of the first in filch_implicit_barriers

// Of a stack's bytes, so many more for its header: a join frame takes at least as much as an eighth of a record.
std::size_t header_bytes(std::size_t stack_bytes) noexcept { return stack_bytes / 2 + sizeof(implicit_stack); }

/// Asks the kernel once in a thread, and once more in a child of fork().
pid_t calling_thread() noexcept {
  constexpr unsigned k_never = ~0u;
  thread_local unsigned asked_in = k_never;
  thread_local pid_t mine = 0;
  if (unsigned const now = runtime::fork_generation(); asked_in != now) {
    asked_in = now;
    mine = os::this_thread();
  }
  return mine;
}

}  // namespace

implicit_team::implicit_team(runtime::settings s, bool tolerate_missing_threads)
    : fiber_team(std::move(s), tolerate_missing_threads, header_bytes) {
  std::size_t const whole = os::reservation::whole_bytes_for(stack_size(), header_bytes(stack_size()));
  barrier_ = filch_implicit_barriers[static_cast<unsigned>(std::countr_zero(whole)) - k_smallest_barrier_bits];
  places_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      (header_bytes(stack_size()) - sizeof(implicit_stack)) / sizeof(implicit_record), implicit_public::k_most));
  for (unsigned i = 0; i < workers(); ++i) make_place(i);
  interrupts_ = asked_for().interrupts && workers() > 1 && answer_interrupts();
  start();
}

implicit_team::~implicit_team() { stop(); }

void implicit_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  // The pool's own threads have the mask of who made it. A caller's is its own affair.
  if (interrupts_ && !all().is_callers(me)) os::admit_interrupts();
  fiber_team::be_worker(me, call, argument);
}

void implicit_team::make_place(unsigned place) noexcept { add(*make_member<implicit_member>(place), place); }

/// While it waits in the system a signal would end its wait early, and it has offered all that it can.
void implicit_team::waits_in_system(bool begins) noexcept {
  auto* const w = static_cast<implicit_member*>(place_of_caller());
  // relaxed: as in takes_up().
  if (w) w->thread.store(begins ? 0 : calling_thread(), std::memory_order_relaxed);
}

void implicit_team::takes_up(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  w.exceptions = runtime::exceptions_here();
  // Zeroed by the kernel, which is what an empty header is.
  // edge implicit-2: release, what the fiber's owner before wrote in it.
  // relaxed: who interrupts the wrong thread interrupts in vain.
  w.thread.store(calling_thread(), std::memory_order_relaxed);
  // edge implicit-5: before the next look at `poll`. A thief that takes this worker for free, or for interrupted, has
  // asked before that look.
  static_cast<void>(w.is_interrupted.exchange(false, std::memory_order_seq_cst));
  auto* const s = reinterpret_cast<implicit_stack*>(w.stack->memory().lower());
  s->barrier = barrier_;
  // No record is offered where a fiber begins, so no thief changes the word.
  implicit_public now = implicit_public::of(s->open.load(std::memory_order_relaxed));
  if (now.root != w.stack->root) {
    now.root = w.stack->root;
    s->open.store(now.word(), std::memory_order_relaxed);
  }
  // edge idle-4: seq_cst, before the look whether its caller sleeps.
  w.offers.store(s, std::memory_order_seq_cst);
}

void implicit_team::is_free(runtime::fiber_member& m) noexcept {
  static_cast<implicit_member&>(m).thread.store(0, std::memory_order_relaxed);  // relaxed: as above
}

void implicit_join_in_default_pool(void (*first)(void*), void* argument, implicit_offer& offer) {
  implicit::default_pool().run(
      [&] { implicit::join([=] { first(argument); }, [&offer] { static_cast<void>(offer.run(offer)); }); });
}

template class pool_of<implicit_team>;

}  // namespace detail

std::size_t implicit::pool::written_stack_bytes() const noexcept { return team().written_stack_bytes(); }

implicit::pool& implicit::default_pool() { return detail::make_default_pool<pool>(); }

}  // namespace filch::inline FILCH_ABI
