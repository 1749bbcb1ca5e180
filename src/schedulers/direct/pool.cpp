// The pool: its members, the way in, and the default pool.
#include "runtime/fork_generation.hpp"
#include "runtime/pools.hpp"
#include "runtime/stack.hpp"
#include "schedulers/direct/worker.hpp"

#if FILCH_HAS_CACTUS
#include <filch/detail/strand.hpp>
#endif

#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI {
namespace detail {
namespace {

// No room, so that a fork's compare sends its callers to the slow path; never written.
constinit direct_worker outside(nullptr);

// Where the task arrays of those who stay begin and end.
constinit direct_task no_room{};

bool is_staying(direct_worker const* w) noexcept { return w->end == &no_room; }

/// What a thread is to direct while it is in another pool's run: outside. What runs there may change threads, and
/// must not fork on a worker of this one. Without room, as `outside`.
struct screen : direct_worker {
  direct_worker* outer;
  explicit screen(direct_worker* o) noexcept : direct_worker(nullptr), outer(o) {}
};

bool is_screen(direct_worker const* w) noexcept { return w != &outside && w->end == nullptr; }

direct_worker* around_stays(direct_worker* w) noexcept {
  while (is_staying(w)) w = static_cast<direct_staying*>(w)->outer;
  return w;
}

direct_member* member_or_null(direct_worker* w) noexcept {
  w = around_stays(w);
  return w == &outside || is_screen(w) ? nullptr : static_cast<direct_member*>(w);
}

}  // namespace

constinit thread_local direct_worker* direct_self = &outside;

namespace {

// A child of fork() is outside all pools, also where it was forked by a task.
void leave_pools_in_child() { direct_self = &outside; }

void* hide() {
  direct_worker* const w = direct_self;
  if (w == &outside) return nullptr;
  if (direct_member* const m = member_or_null(w)) m->team->leave_for_other_pool(*m);
  auto hiding = std::make_unique<screen>(w);
  direct_self = hiding.get();
  return hiding.release();
}
void show(void* p) {
  std::unique_ptr<screen> const hiding(static_cast<screen*>(p));
  direct_self = hiding->outer;
}

}  // namespace

direct_staying::direct_staying() noexcept : direct_worker(nullptr), outer(direct_self) {
  [[maybe_unused]] static bool const once = (runtime::hide_on_entry({hide, show}), true);
  if (direct_member* const m = member_or_null(outer)) m->team->leave_for_other_pool(*m);
  top = end = &no_room;
  direct_self = this;
}

direct_staying::~direct_staying() {
  // A child that was forked meanwhile is outside all pools.
  if (direct_self == this) direct_self = outer;
}

unsigned direct_worker_index() noexcept {
  direct_member const* const w = member_or_null(direct_self);
  return w ? w->index : k_no_worker;
}

direct_team::direct_team(runtime::settings s, bool tolerate_missing_threads)
    : team(std::move(s), tolerate_missing_threads) {
  for (unsigned i = 0; i < workers(); ++i) {
    runtime::worker_space const& memory = space(i);
    auto* const m = ::new (static_cast<void*>(memory.middle())) direct_member;
    static_assert(std::is_trivially_destructible_v<direct_member>);
    // Zeroed by the kernel, which is what an empty descriptor is.
    auto* const base = reinterpret_cast<direct_task*>(m + 1);
    auto const room = static_cast<std::size_t>(memory.high() - reinterpret_cast<std::byte*>(base));
    m->top = base;
    m->end = base + room / sizeof(direct_task);
    m->bot.store(base, std::memory_order_relaxed);
    m->public_end.store(base, std::memory_order_relaxed);
    m->split.store(base, std::memory_order_relaxed);
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

direct_team::~direct_team() { stop(); }

std::uint64_t direct_team::forks_of(unsigned worker) const noexcept {
#if FILCH_COUNT_FORKS
  return members_[worker]->forks;
#else
  static_cast<void>(worker);
  return 0;
#endif
}

void direct_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  direct_worker* const outer = direct_self;
  members_[me]->outer = outer;
  direct_self = members_[me];
  runtime::call_on(space(me), me, call, argument);
  direct_self = outer;
}

/// A task of this team enters another pool, or stays: what it forked here would wait for its return, so thieves that
/// ask get some of it now.
void direct_team::leave_for_other_pool(direct_member& w) noexcept {
  bool const asked = w.split.load(std::memory_order_relaxed) == direct_raised();
  if (asked && w.top > w.public_end.load(std::memory_order_relaxed)) publish(w, w.top);
}

/// The calling thread's place in this team, where it is further out on its stack; else null.
direct_member* direct_team::place_of_caller() const noexcept {
  for (direct_worker* w = around_stays(direct_self); w != &outside;) {
    if (is_screen(w)) {
      w = around_stays(static_cast<screen*>(w)->outer);
    } else {
      auto* const m = static_cast<direct_member*>(w);
      if (m->team == this) return m;
      w = around_stays(m->outer);
    }
  }
  return nullptr;
}

void direct_enter_default(void (*call)(void*), void* argument) { direct::default_pool().enter(call, argument); }

}  // namespace detail

direct::pool::pool(pool_options options) : team_(new detail::direct_team(runtime::resolve(options), false)) {}

direct::pool::pool(default_tag) : team_(new detail::direct_team(runtime::resolve({}), true)) {}

direct::pool::~pool() {
  // Destroyed by its own task, as by exit(): the task never returns, so there is nothing to wait for, and
  // no way to end the thread one stands on. The same in a child of fork(), which may stand on a stack of the
  // team and has none of its threads. What the system takes back at the end is left to it.
  detail::direct_team* const team = team_.load(std::memory_order_acquire);
  if (!team->alive() || team->place_of_caller()) return;
  delete team;
}

void direct::pool::enter(void (*call)(void*), void* argument) {
  detail::direct_team& team = runtime::team_of_this_process(team_);
  if (detail::direct_member* const here = team.place_of_caller()) {
    detail::direct_worker* const inner = detail::direct_self;
#if FILCH_HAS_CACTUS
    // From a strand of another pool inside this one: it stays on its thread, whose worker this is.
    std::optional<detail::strand_staying> stays;
    if (auto const kind = detail::strand_self().kind;
        kind == detail::strand_kind::cactus || kind == detail::strand_kind::implicit) {
      stays.emplace();
    }
#endif
    if (!detail::is_staying(inner)) detail::direct_self = here;
    call(argument);
    detail::direct_self = inner;
    return;
  }
  team.enter(call, argument);
}

unsigned direct::pool::workers() const noexcept { return team_.load(std::memory_order_acquire)->workers(); }

pool_stats direct::pool::stats() const noexcept { return team_.load(std::memory_order_acquire)->stats(); }

direct::pool& direct::default_pool() {
  static constinit std::atomic<void*> the_default{nullptr};
  return runtime::pool_made_once<pool>(the_default, [] { return new pool(pool::default_tag{}); });
}

}  // namespace filch::inline FILCH_ABI
