// The pool: how it is made, what a worker does when it takes up a fiber or leaves one, and the default pool. Called
// by src/runtime/pool_of.hpp and the fiber team.
#include "os/linux/interrupt.hpp"
#include "runtime/fiber/nesting.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pool_of.hpp"
#include "runtime/workers_around.hpp"
#include "schedulers/implicit/probes.hpp"
#include "schedulers/implicit/worker.hpp"

#include <algorithm>
#include <bit>
#include <thread>

extern "C" std::uint64_t const filch_implicit_barriers[];

namespace filch::inline FILCH_ABI {
namespace detail {
namespace {

// The first entry of filch_implicit_barriers is for stacks of 2^16 bytes.
constexpr unsigned k_smallest_barrier_bits = 16;

/// Bytes of header and records for a stack of this size. A join frame is at least as large as an eighth of a record.
std::size_t header_bytes(std::size_t stack_bytes) noexcept { return stack_bytes / 2 + sizeof(implicit_stack); }

/// Asks the kernel once a thread, and again in a child of fork().
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

implicit_team::implicit_team(runtime::settings s, implicit_options const& own, bool tolerate_missing_threads)
    : fiber_team(std::move(s), tolerate_missing_threads, header_bytes), own_(own) {
  std::size_t const whole = os::reservation::whole_bytes_for(stack_size(), header_bytes(stack_size()));
  barrier_ = filch_implicit_barriers[static_cast<unsigned>(std::countr_zero(whole)) - k_smallest_barrier_bits];
  places_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      (header_bytes(stack_size()) - sizeof(implicit_stack)) / sizeof(implicit_record), runtime::open_range::k_most));
  for (unsigned i = 0; i < workers(); ++i) make_place(i);
  interrupts_ = own.interrupts && asked_for().interrupts && workers() > 1 && answer_interrupts();
  start();
}

implicit_team::~implicit_team() { stop(); }

void implicit_team::add_to(implicit_stats& all) const noexcept {
  fiber_team::add_to(all);
  for (unsigned i = 0; i < all_places(); ++i) {
    if (was_used(i)) all.walks += static_cast<implicit_member const&>(member(i)).walks.read();
  }
}

std::string implicit_team::own_figures() const {
  implicit_stats all;
  add_to(all);
  return fiber_team::own_figures() + "; " + std::to_string(all.walks) + " walks";
}

void implicit_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  // The pool's own threads begin with the signal mask of the thread that made the pool. A caller keeps its own mask.
  if (interrupts_ && !all().is_callers(me)) os::admit_interrupts();
  fiber_team::be_worker(me, call, argument);
}

void implicit_team::make_place(unsigned place) noexcept { add(*make_member<implicit_member>(place), place); }

/// In a stay, or another pool's run, the worker can't answer, and a signal would end a wait in the system early.
void implicit_team::keep_interrupts_away(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  w.thread.clear();
  if (w.interrupted.may_come()) [[unlikely]]
    wait_for_interrupts(w);
}

/// Until the thread has taken every signal that thieves sent it: the program's code that follows gets none. A thief
/// needs a system call's time, and its own processor. In a child of fork() it may have stayed in the parent.
void implicit_team::wait_for_interrupts(implicit_member& w) noexcept {
  constexpr int k_pauses = 1'000;
  for (int i = 0; w.interrupted.is_being_sent() && alive(); ++i) {
    i < k_pauses ? runtime::relax() : std::this_thread::yield();
  }
  os::take_interrupt();
  static_cast<void>(w.interrupted.arrive());  // the handler may have run while the thief was sending
}

void implicit_team::admit_interrupts(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  w.thread.set(calling_thread());  // a thief that reads an old one interrupts in vain
  // A thief that takes this worker for free, or for interrupted, has requested before the worker looks at its
  // request.
  w.interrupted.begin();
}

void implicit_team::takes_up(runtime::fiber_member& m) noexcept {
  auto& w = static_cast<implicit_member&>(m);
  w.exceptions = runtime::exceptions_here();
  admit_interrupts(w);
  // The kernel has zeroed it, which is what an empty header is.
  auto* const s = reinterpret_cast<implicit_stack*>(w.stack->memory().lower());
  s->barrier = barrier_;
  s->open.set_root(w.stack->root);
  // If it is the last stack again, thieves have found it here all the while: implicit-2, idle-4.
  if (w.offers.own() != s) w.offers.publish(*s);
}

/// A caller may leave the pool next. The pool's own threads run no code of the program before their next fiber or
/// their end.
void implicit_team::is_free(runtime::fiber_member& m) noexcept {
  if (all().is_callers(m.index)) {
    keep_interrupts_away(m);
  } else {
    static_cast<implicit_member&>(m).thread.set(0);
  }
}

#if defined(FILCH_PROBES)
namespace probes {
words& all() noexcept {
  static constinit words the_words;
  return the_words;
}
}  // namespace probes
#endif

void implicit_join_in_default_pool(void (*first)(void*), void* argument, implicit_offer& offer) {
  implicit::default_pool().run(
      [&] { implicit::join([=] { first(argument); }, [&offer] { static_cast<void>(offer.run(offer)); }); });
}

void implicit_attach(task_source& s) {
  if (!runtime::fiber_team::attach_here(s, k_implicit_tag)) implicit::default_pool().attach(s);
}

template <> unsigned workers_around<implicit>() noexcept { return runtime::fiber_workers_around(); }

template class pool_of<implicit_team>;

}  // namespace detail

std::size_t implicit::pool::written_stack_bytes() const noexcept { return team().written_stack_bytes(); }

implicit::pool& implicit::default_pool() { return detail::make_default_pool<pool>(); }

}  // namespace filch::inline FILCH_ABI
