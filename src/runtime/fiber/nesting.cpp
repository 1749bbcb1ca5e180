// The state of the calling thread: a worker of a fiber team, in a stay, in the run of another scheduler's pool, in a
// child of fork(), or outside. detail/fiber.hpp has the thread-local that forks read.
#include "runtime/fiber/nesting.hpp"

#include <filch/detail/fiber_frame.hpp>

#include "runtime/fiber/team.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/profile/record.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace filch::runtime {
namespace {

// Its head is null, below its split, so a fork's compare leads to the slow path. Never written.
constinit detail::fiber_task* no_place = nullptr;
constinit detail::fiber_worker outside(detail::fiber_kind::outside, 1, &no_place);

}  // namespace
}  // namespace filch::runtime

// Named for the assembly that reads it; see fiber_self(). Optimisers of whole programs do not see that, hence
// `used`.
extern "C" {
FILCH_API extern constinit thread_local filch::detail::fiber_worker* filch_fiber_self
    __attribute__((tls_model("initial-exec")));
FILCH_API constinit thread_local filch::detail::fiber_worker* filch_fiber_self
    __attribute__((tls_model("initial-exec"), used)) = &filch::runtime::outside;
}

namespace filch::runtime {
namespace {

using detail::fiber_kind;
using detail::fiber_requested;
using detail::fiber_self;
using detail::fiber_worker;

fiber_member* member_around_stays(fiber_worker* w) noexcept {
  while (w->kind == fiber_kind::staying) w = static_cast<detail::fiber_staying*>(w)->within;
  return member_or_null(w);
}

void serve_own_thieves() noexcept {
  if (fiber_member* const m = member_or_null(&fiber_self())) m->team->serve_thieves(*m);
}
/// A stay, or another pool's run, begins.
void leave_forks() noexcept {
  fiber_member* const m = member_or_null(&fiber_self());
  if (!m) return;
  m->team->keep_interrupts_away(*m);
  m->team->serve_thieves(*m);
}
bool is_measured(fiber_worker* w) noexcept {
  fiber_member const* const m = member_or_null(w);
  return m && m->team->is_measured();
}
/// It is over. Thieves that requested meanwhile got no answer, and may sleep.
void come_back() noexcept {
  fiber_member* const m = member_or_null(&fiber_self());
  if (!m) return;
  m->team->admit_interrupts(*m);
  m->team->serve_thieves(*m);
}

// A child of fork() is outside all pools, also if a task forked it. The task's worker is found again when the task
// ends. The screen is never freed, since that may be at any time.
void leave_pools_in_child() {
  fiber_worker* w = &fiber_self();
  while (w->kind == fiber_kind::staying) w = w->outer;
  if (member_or_null(w)) {
    auto* const screen = new fiber_worker(fiber_kind::forked, 1, fiber_requested());
    screen->outer = w;
    w = screen;
  }
  become(w);
}

// While a fiber is in another pool's run its thread is no worker here, but its place can still be found.
struct hiding_worker : fiber_worker {
  unsigned const generation = fork_generation();
  hiding_worker() noexcept : fiber_worker(fiber_kind::outside, 1, fiber_requested()) {}
};

bool hide(void* room) noexcept {
  fiber_worker* const w = &fiber_self();
  if (w == &outside) return false;
  leave_forks();
  static_assert(sizeof(hiding_worker) <= hideable::k_room && alignof(hiding_worker) <= 64);
  auto* const screen = ::new (room) hiding_worker;
  screen->outer = w;
  become(screen);
  return true;
}
void show(void* room) noexcept {
  auto* const screen = std::launder(static_cast<hiding_worker*>(room));
  become(screen->outer);
  if (screen->generation != fork_generation()) leave_pools_in_child();  // the run's task forked
  std::destroy_at(screen);
  come_back();
}

/// The calling code keeps its thread until end_stay().
bool stay(void* room) noexcept {
  if (!member_or_null(&fiber_self())) return false;
  static_assert(sizeof(detail::fiber_staying) <= hideable::k_room && alignof(detail::fiber_staying) <= 64);
  ::new (room) detail::fiber_staying;
  return true;
}
void end_stay(void* room) noexcept { std::destroy_at(std::launder(static_cast<detail::fiber_staying*>(room))); }

/// In a child of fork() the workers further out are the parent's.
std::size_t block(std::span<team*> of) noexcept {
  std::size_t n = 0;
  for (fiber_worker* w = &fiber_self(); w && n < of.size(); w = w->outer) {
    fiber_member* const m = member_or_null(w);
    if (!m || !m->team->alive()) continue;
    m->team->offer_all(*m);
    of[n++] = m->team;
  }
  return n;
}

}  // namespace

[[gnu::noinline]] void become(fiber_worker* w) noexcept { filch_fiber_self = w; }

fiber_member* member_or_null(fiber_worker* w) noexcept {
  return is_tag(w->kind) ? static_cast<fiber_member*>(w) : nullptr;
}

unsigned fiber_workers_around() noexcept {
  fiber_member const* const m = member_or_null(&fiber_self());
  return m ? m->team->workers() : 1;
}

void watch_nesting() {
  watch_forks(leave_pools_in_child);
  hide_on_entry({hide, show, serve_own_thieves, block, stay, end_stay, fiber_gives_way});
}

fiber_member* member_of_fiber() noexcept {
  fiber_worker* w = &fiber_self();
  while (w->kind == fiber_kind::forked) w = w->outer;
  return member_or_null(w);
}

fiber_member* fiber_team::place_of_caller() const noexcept {
  for (fiber_worker* w = &fiber_self(); w; w = w->outer) {
    if (auto* const m = member_or_null(w); m && m->team == this) return m;
  }
  return nullptr;
}

bool fiber_team::attach_here(detail::task_source& s, detail::fiber_kind of) noexcept {
  fiber_member* const m = member_around_stays(&fiber_self());
  if (!m) return fiber_self().kind == fiber_kind::staying;  // joins run in order, without a worker
  if (m->kind != of) return false;
  m->team->attach(s, m->stack ? m->stack->root : k_any_root);
  return true;
}

void fiber_team::enter_or_nest(void (*call)(void*), void* argument) {
  if (fiber_member* const here = place_of_caller()) {
    if (here == &fiber_self()) {
      call(argument);
    } else {
      // Inside another pool inside this one: code may not leave that pool's stack.
      detail::serve_all_thieves();
      detail::fiber_staying stays;
      stays.within = here;
      call(argument);
    }
    return;
  }
  enter(call, argument);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

void fiber_failures::keep(std::exception_ptr e, unsigned number) noexcept {
  // e goes after the lock.
  std::lock_guard const lock(failing_);
  first_.keep(e, number);
}

unsigned fiber_worker_index(fiber_kind kind) noexcept {
  fiber_worker* w = &fiber_self();
  while (w->kind == fiber_kind::staying) w = static_cast<fiber_staying*>(w)->within;
  return w->kind == kind ? static_cast<runtime::fiber_member*>(w)->index : k_no_worker;
}

void fiber_poll_slow() noexcept { runtime::serve_own_thieves(); }

bool fiber_works_alone() noexcept { return runtime::this_member().team->workers() == 1; }

bool fiber_somebody_looks(bool is_next_fork_public) noexcept {
  runtime::fiber_member const& w = runtime::this_member();
  if (w.team->is_measured()) return false;
  return is_next_fork_public || w.team->somebody_looks_for(w.stack ? w.stack->root : runtime::k_any_root);
}

bool fiber_pays_to_wake(std::uint64_t ticks) noexcept {
  runtime::fiber_member const& w = runtime::this_member();
  return w.team->is_measured() || w.team->pays_to_wake(w.index, ticks);
}

void fiber_ran_alone(std::uint64_t ticks) noexcept {
  runtime::fiber_member const& w = runtime::this_member();
  w.team->ran_alone(w.index, ticks);
}

fiber_staying::fiber_staying() noexcept : fiber_worker(fiber_kind::staying, 1, fiber_requested()) {
  outer = within = &fiber_self();
  runtime::leave_forks();
  if (runtime::is_measured(outer)) [[unlikely]]
    runtime::profile::of_this_thread().stay_begins();
  runtime::become(this);
}

fiber_staying::~fiber_staying() {
  // A child that was forked meanwhile is outside all pools.
  if (&fiber_self() != this) return;
  if (runtime::is_measured(outer)) [[unlikely]]
    runtime::profile::of_this_thread().stay_ends();
  runtime::become(outer);
  runtime::come_back();
}

}  // namespace filch::inline FILCH_ABI::detail
