// The pool: its members, the way in, and the default pool.
#include "runtime/fork_generation.hpp"
#include "runtime/stack.hpp"
#include "schedulers/cactus/worker.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

namespace filch::inline FILCH_ABI {
namespace detail {
namespace {

// Its head, null, is below its split, so that a fork's compare sends its callers to the slow path; never written.
constinit cactus_task* no_place = nullptr;
constinit cactus_worker outside(cactus_kind::outside, &no_place);

}  // namespace
}  // namespace detail
}  // namespace filch::inline FILCH_ABI

// Named for the assembly that reads it; see cactus_self().
extern "C" {
FILCH_API constinit thread_local filch::detail::cactus_worker* filch_cactus_self
    __attribute__((tls_model("initial-exec"))) = &filch::detail::outside;
}

namespace filch::inline FILCH_ABI {
namespace detail {
namespace {

// Never inlined: the caller's thread may not be the one before a join of its own.
[[gnu::noinline]] void become(cactus_worker* w) noexcept { filch_cactus_self = w; }

cactus_member* member_or_null(cactus_worker* w) noexcept {
  return w->kind == cactus_kind::member ? static_cast<cactus_member*>(w) : nullptr;
}

std::atomic<cactus::pool*> the_default{nullptr};
std::mutex making;  // of what several threads need first; new in a child of fork(): another thread may have held it

// While a strand is in another pool's run its thread is no worker here, but its place can still be found.
void* hide() {
  cactus_worker* const w = &cactus_self();
  if (w == &outside) return nullptr;
  if (cactus_member* const m = member_or_null(w)) m->team->leave_for_other_pool(*m);
  auto screen = std::make_unique<cactus_worker>(cactus_kind::outside, cactus_raised());
  screen->outer = w;
  become(screen.get());
  return screen.release();
}
void show(void* p) {
  std::unique_ptr<cactus_worker> const screen(static_cast<cactus_worker*>(p));
  become(screen->outer);
}

// A child of fork() is outside all pools, also where it was forked by a task, and gets new ones.
void leave_pools_in_child() {
  the_default.store(nullptr, std::memory_order_relaxed);
  ::new (static_cast<void*>(&making)) std::mutex;
  become(&outside);
}

}  // namespace

void cactus_stay(void (*call)(void*), void* argument) {
  cactus_worker staying(cactus_kind::staying, cactus_raised());
  staying.outer = &cactus_self();
  become(&staying);
  call(argument);
  become(staying.outer);
}

unsigned cactus_worker_index() noexcept {
  for (cactus_worker* w = &cactus_self(); w; w = w->outer) {
    if (auto const* m = member_or_null(w)) return m->index;
  }
  return 0;
}

cactus_team::cactus_team(runtime::settings s, bool tolerate_missing_threads)
    : team(std::move(s), tolerate_missing_threads), stacks_(stack_size(), strand_main, this) {
  for (unsigned i = 0; i < workers(); ++i) {
    runtime::worker_space const& memory = space(i);
    auto* const m = ::new (static_cast<void*>(memory.middle())) cactus_member;
    static_assert(std::is_trivially_destructible_v<cactus_member>);
    m->base = reinterpret_cast<cactus_task**>(m + 1);
    auto const room = static_cast<std::size_t>(memory.high() - reinterpret_cast<std::byte*>(m->base));
    places_ = static_cast<std::uint32_t>(std::min<std::size_t>(room / sizeof(cactus_task*), 1u << 31));
    m->head = m->base;
    m->split.store(m->base, std::memory_order_relaxed);
    m->team = this;
    m->index = i;
    m->random = 2463534242u + i * 2654435761u;
    if (m->random == 0) m->random = 1;
    members_.push_back(m);
  }
  runtime::watch_forks(leave_pools_in_child);
  runtime::hide_on_entry({hide, show});
  start();
}

cactus_team::~cactus_team() { stop(); }

void cactus_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  cactus_worker* const before = &cactus_self();
  struct life {
    cactus_team& team;
    cactus_member& self;
    void (*call)(void*);
    void* argument;
    std::atomic<bool> done{false};
  } it{*this, *members_[me], call, argument};
  it.self.outer = before;
  become(&it.self);
  runtime::call_on(
      space(me), me,
      [](void* p) {
        life& l = *static_cast<life*>(p);
        runtime::strand_stack home;
        l.self.home = &home;
        if (l.self.index != 0) {
          l.call(l.argument);
        } else {
          // The root is a strand like others: it may come to its end on another worker.
          l.team.run_call(
              0,
              [](void* q) {
                life& root = *static_cast<life*>(q);
                root.call(root.argument);
                cactus_team& of = root.team;
                root.done.store(true, std::memory_order_seq_cst);  // root may be gone
                if (cactus_worker_index() != 0) of.sleepers().wake(0);
              },
              p);
          l.team.work_until(0, l.done);
        }
        l.self.home = nullptr;
      },
      &it);
  become(before);
}

/// A task of this team enters another pool: what it forked here would wait for its return, so thieves that
/// ask get some of it now.
void cactus_team::leave_for_other_pool(cactus_member& w) noexcept {
  bool const asked = w.split.load(std::memory_order_relaxed) == cactus_raised();
  auto const head = static_cast<std::uint32_t>(w.head - w.base);
  if (asked && head > cactus_public::of(w.open.load(std::memory_order_relaxed)).split) publish(w, head);
}

/// The calling thread's place in this team, where it is further out on its stack; else null.
cactus_member* cactus_team::place_of_caller() const noexcept {
  for (cactus_worker* w = &cactus_self(); w; w = w->outer) {
    if (auto* const m = member_or_null(w); m && m->team == this) return m;
  }
  return nullptr;
}

void cactus_enter_default(void (*call)(void*), void* argument) { cactus::default_pool().enter(call, argument); }

}  // namespace detail

cactus::pool::pool(pool_options options) : team_(new detail::cactus_team(runtime::resolve(options), false)) {}

cactus::pool::pool(default_tag) : team_(new detail::cactus_team(runtime::resolve({}), true)) {}

cactus::pool::~pool() {
  // As direct's: destroyed by its own task, or in a child of fork(), there is nothing to wait for.
  detail::cactus_team* const team = team_.load(std::memory_order_acquire);
  if (!team->alive() || team->place_of_caller()) return;
  delete team;
}

/// A child of fork() has none of the threads: it starts its own. The old team is its parent's.
detail::cactus_team& cactus::pool::team_of_this_process() {
  detail::cactus_team* team = team_.load(std::memory_order_acquire);
  if (team->alive()) [[likely]]
    return *team;
  std::lock_guard const lock(detail::making);
  team = team_.load(std::memory_order_relaxed);  // relaxed: under the lock
  if (!team->alive()) {
    team = team->again().release();
    team_.store(team, std::memory_order_release);
  }
  return *team;
}

void cactus::pool::enter(void (*call)(void*), void* argument) {
  detail::cactus_team& team = team_of_this_process();
  if (detail::cactus_member* const here = team.place_of_caller()) {
    if (here == &detail::cactus_self()) {
      call(argument);
    } else {
      // Inside another pool inside this one: nothing of it may leave that pool's stack.
      detail::cactus_stay(call, argument);
    }
    return;
  }
  team.enter(call, argument);
}

unsigned cactus::pool::workers() const noexcept { return team_.load(std::memory_order_acquire)->workers(); }

pool_stats cactus::pool::stats() const noexcept { return team_.load(std::memory_order_acquire)->stats(); }

cactus::pool& cactus::default_pool() {
  if (pool* const made = detail::the_default.load(std::memory_order_acquire)) return *made;
  std::lock_guard const lock(detail::making);
  if (pool* const made = detail::the_default.load(std::memory_order_acquire)) return *made;
  try {
    // Never destroyed: tasks and static destructors may use it until the process ends.
    pool* const made = new pool(pool::default_tag{});
    detail::the_default.store(made, std::memory_order_release);
    return *made;
  } catch (setup_error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::fflush(nullptr);
    std::_Exit(2);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "filch: the default pool can't be made: %s\n", e.what());
    std::fflush(nullptr);
    std::_Exit(2);
  }
}

}  // namespace filch::inline FILCH_ABI
