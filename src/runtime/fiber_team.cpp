#include "runtime/fiber_team.hpp"

#include <filch/detail/fiber_frame.hpp>

#include "runtime/fork_generation.hpp"
#include "runtime/stack.hpp"

#include <utility>

namespace filch::runtime {
namespace {

// Its head, null, is below its split, so that a fork's compare sends its callers to the slow path; never written.
constinit detail::fiber_task* no_place = nullptr;
constinit detail::fiber_worker outside(detail::fiber_kind::outside, 1, &no_place);

}  // namespace
}  // namespace filch::runtime

// Named for the assembly that reads it; see fiber_self(). Optimisers of whole programs do not see that, hence
// `used`.
extern "C" {
FILCH_API constinit thread_local filch::detail::fiber_worker* filch_fiber_self
    __attribute__((tls_model("initial-exec"), used)) = &filch::runtime::outside;
}

namespace filch::runtime {
namespace {

using detail::fiber_kind;
using detail::fiber_requested;
using detail::fiber_self;
using detail::fiber_worker;

// Never inlined: the caller's thread may not be the one before a join of its own.
[[gnu::noinline]] void become(fiber_worker* w) noexcept { filch_fiber_self = w; }

fiber_member* member_or_null(fiber_worker* w) noexcept {
  return w->kind == fiber_kind::cactus || w->kind == fiber_kind::implicit ? static_cast<fiber_member*>(w) : nullptr;
}

fiber_member* member_around_stays(fiber_worker* w) noexcept {
  while (w->kind == fiber_kind::staying) w = static_cast<detail::fiber_staying*>(w)->within;
  return member_or_null(w);
}

/// Before a stay or another pool's run, and after it: who asked meanwhile got no answer, and may sleep. In a poll.
void serve_own_thieves() noexcept {
  if (fiber_member* const m = member_or_null(&fiber_self())) m->team->serve_thieves(*m);
}

// A child of fork() is outside all pools, also where it was forked by a task. The worker that the task is on is found
// again when the task comes to its end. The screen is never freed: nobody knows how long that is.
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
  serve_own_thieves();
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
  serve_own_thieves();
}

/// In a stay it is the worker around it that waits.
team* block() noexcept {
  fiber_worker* w = &fiber_self();
  if (fiber_member* const m = member_or_null(w)) m->team->offer_all(*m);
  fiber_member* const m = member_around_stays(w);
  return m && m->team->alive() ? m->team : nullptr;
}

}  // namespace

fiber_member* member_of_fiber() noexcept {
  fiber_worker* w = &fiber_self();
  while (w->kind == fiber_kind::forked) w = w->outer;
  return member_or_null(w);
}

bool fiber_gives_way() noexcept {
  if constexpr (!k_steals_are_forced) return false;
  fiber_member* const w = member_or_null(&fiber_self());
  return w && w->stack && w->team->give_way(*w);
}

fiber_team::fiber_team(settings s, bool tolerate_missing_threads, std::size_t (*lower_bytes)(std::size_t))
    : team(std::move(s), tolerate_missing_threads,
           [lower_bytes](std::size_t stack) {
             // For the fiber that it runs, one at hand, and some that wait. There may be more, or fewer.
             constexpr std::size_t k_stacks = 4;
             std::size_t const lower = lower_bytes ? lower_bytes(stack) : 0;
             return k_stacks * os::reservation::whole_bytes_for(stack, lower);
           }),
      stacks_(stack_size(), lower_bytes ? lower_bytes(stack_size()) : 0, workers(), asked_for().give_back, fiber_main,
              this),
      members_(all_places()) {
  watch_forks(leave_pools_in_child);
  static_cast<void>(os::own_page_faults());  // what its first call finds out is found out before anybody forks
  hide_on_entry({hide, show, serve_own_thieves, block});
}

// In a child of fork() the lock of the stacks may be held by nobody: of its parent's it says nothing.
void fiber_team::add_to(pool_stats& sum) const noexcept {
  if (!alive()) return;
  auto const stacks = stacks_.count();
  sum.stacks_in_use = stacks.in_use;
  sum.stacks_peak = stacks.made;
  sum.kept_stack_pages = fiber_stack_pool::k_kept_pages;
}

std::size_t fiber_team::written_stack_bytes() const noexcept { return alive() ? stacks_.written_bytes() : 0; }

void fiber_team::add(fiber_member& m, unsigned place) noexcept {
  m.team = this;
  m.index = place;
  m.limit = all().root_limit(place);
  m.random = random_numbers(place);
  members_[place] = &m;
}

// ---- fibers ----------------------------------------------------------------------------------

bool fiber_team::have_arrived(detail::join_counter& m, unsigned stolen) noexcept {
  // edge fiber-1: acquire, the results of those who have arrived.
  if (std::atomic_ref(m.balance).load(std::memory_order_acquire) != -static_cast<std::int32_t>(stolen)) return false;
  std::atomic_ref(m.balance).store(0, std::memory_order_relaxed);
  return true;
}

void fiber_team::wait_for_parts(detail::join_counter& m, unsigned stolen) noexcept {
  fiber_member& w = this_member();
  fiber_stack& mine = *w.stack;
  if (have_arrived(m, stolen)) {
    if (!moves_on(w, m)) return;
    w.parting = {fiber_parting::moves, nullptr, 0, nullptr};
  } else {
    m.suspended = &mine;
    w.parting = {fiber_parting::suspends, &m, static_cast<std::int32_t>(stolen), nullptr};
  }
  mine.wait_on(*w.home, w.index);
  // Whoever resumed this saw the balance come to zero. The worker may be another one.
}

/// On its home stack, the worker runs the fiber on w.stack, and those that follow it, until there is none.
void fiber_team::run_fiber(fiber_member& w) noexcept {
  while (w.stack) {
    takes_up(w);
    // Its caller may have begun to sleep when this worker was at another root's fiber, and did not ask here.
    // edge idle-4: after the root is to be seen.
    if (sleepers().sleeps_for_root(w.stack->root)) ask(w);
    fiber_stack_pool::enter(*w.stack, w.faults);
    w.home->switch_to(*w.stack, w.index);
    fiber_parting const p = w.parting;
    if (p.what == fiber_parting::moves || p.what == fiber_parting::gives_way) {
      hand_over({std::exchange(w.stack, nullptr), nullptr, w.index, p.what == fiber_parting::gives_way});
    } else if (p.what == fiber_parting::suspends) {
      fiber_stack* const suspended = std::exchange(w.stack, nullptr);
      counted(w.index).suspensions.bump();
      // relaxed: a hint; all parts may have arrived meanwhile.
      if (std::atomic_ref(p.counter->balance).load(std::memory_order_relaxed) != -p.stolen)
        trim_waiting(w, *suspended);
      // edge fiber-1: release, the stack is left; acquire, the results of all if this is the last.
      bool const is_last =
          std::atomic_ref(p.counter->balance).fetch_add(p.stolen, std::memory_order_acq_rel) == -p.stolen;
      if (is_last) go_on(w, *suspended, *p.counter);
    } else {
      fiber_stack* const left = std::exchange(w.stack, nullptr);
      if (p.next) go_on(w, *p.next, *p.counter);
      trim(w, *left);
      if (w.spare) {
        if (alive()) stacks_.give_back(left);  // in a child of fork() its lock may be held by nobody
      } else {
        w.spare = left;
      }
    }
  }
  is_free(w);
}

/// After the switch away from the stack, and before anybody else can come to it.
void fiber_team::trim(fiber_member& w, fiber_stack& left) noexcept {
  if (stacks_.trim(left, w.faults)) counted(w.index).give_backs.bump();
}

void fiber_team::trim_waiting(fiber_member& w, fiber_stack& left) noexcept {
  if (stacks_.trim_waiting(left, w.faults, *w.home, w.index)) counted(w.index).give_backs.bump();
}

/// Who came last to the join counter goes on with its frame.
void fiber_team::go_on(fiber_member& w, fiber_stack& frame, detail::join_counter const& m) noexcept {
  if (moves_on(w, m)) {
    hand_over({&frame, nullptr, w.index, false});
  } else {
    w.stack = &frame;
  }
}

/// What runs on every stack of the pool: one fiber after the other.
void fiber_team::fiber_main(void*) noexcept {
  this_member().stack->arrived();
  for (;;) {
    fiber_member* w = &this_member();
    fiber_parting parting;
    if (detail::fiber_task* const task = std::exchange(w->next_task, nullptr)) {
      detail::join_counter& m = task->run(*task);
      // edge fiber-1: release, the result; acquire, the suspended stack and the results of the others. Who is
      // not the last may not touch it any more.
      if (std::atomic_ref(m.balance).fetch_sub(1, std::memory_order_acq_rel) == 1) {
        parting = {fiber_parting::resumes, &m, 0, m.suspended};
      }
    } else {
      w->next_call(w->next_argument);
    }
    // A join in it may have moved the fiber to another worker.
    w = &this_member();
    w->parting = parting;
    w->stack->switch_to(*w->home, w->index);
  }
}

bool fiber_team::need_spare(fiber_member& w) noexcept {
  if (!w.spare) w.spare = stacks_.take();
  return w.spare != nullptr;
}

/// The caller's own call, on a stack of the pool's.
void fiber_team::run_root(fiber_member& me, void (*call)(void*), void* argument) noexcept {
  if (!need_spare(me)) {
    // No stack to be had: on this one, and nothing of it is forked.
    run_in_order(call, argument);
    return;
  }
  me.next_call = call;
  me.next_argument = argument;
  me.stack = std::exchange(me.spare, nullptr);
  me.stack->root = me.limit;
  run_fiber(me);
}

void fiber_team::run_in_order(void (*call)(void*), void* argument) {
  detail::fiber_staying const here;
  call(argument);
}

// ---- thieves ----------------------------------------------------------------------------------

void fiber_team::has_offered(fiber_member& w, bool was_asked) noexcept {
  if (offers_next(w.index, was_asked, w.unasked, [&] { return offers_of(w).untaken; }, w.stack->root)) ask(w);
}

bool fiber_team::steal_and_run(unsigned index) {
  fiber_member& me = *members_[index];
  auto const pass_it_on = [&] {
    pass_on(
        index, [this](unsigned of) { return offers_task(*members_[of]) || is_owed(of); },
        [this](unsigned of) { return offers_of(*members_[of]).root; });
  };
  if (!need_spare(me)) {
    if (sleepers().anybody()) pass_it_on();  // to one who may have a stack at hand
    return k_steals_are_forced && run_handed_over(me);
  }
  std::uint16_t root = k_any_root;
  auto const steals = [&](unsigned victim) {
    if (victim == index) return false;
    me.next_task = steal_from(*members_[victim], me, root);
    return me.next_task != nullptr;
  };
  if (all().any_in_use(me.random.next(), steals)) {
    counted(index).steals.bump();
    has_work(index);
    if (anybody_sleeps(root)) pass_it_on();
    me.stack = std::exchange(me.spare, nullptr);
    me.stack->root = root;
    run_fiber(me);
    return true;
  }
  if (k_steals_are_forced && run_handed_over(me)) return true;
  counted(index).failed_steals.bump();
  return false;
}

void fiber_team::ask_everybody(unsigned index) noexcept {
  fiber_member& me = *members_[index];
  me.unasked.left = most_unasked();
  all().each_in_use([&](unsigned i) {
    // edge idle-4: after the announcement.
    if (i != index && may_take_from(me, *members_[i])) ask(*members_[i]);
  });
}

bool fiber_team::sees_work(unsigned index) const noexcept {
  fiber_member const& me = *members_[index];
  if (k_steals_are_forced && handed_over_.any(me.limit)) return true;
  return all().any_in_use(0, [&](unsigned i) { return i != index && offers_task(*members_[i], me.limit); });
}

// ---- forced steals ----------------------------------------------------------------------------

/// May the frame of this join counter not go on here?
bool fiber_team::moves_on(fiber_member const& w, detail::join_counter const& m) const noexcept {
  return k_steals_are_forced && m.begun_on == w.index && workers() > 1;
}

void fiber_team::hand_over(handed_over::work what) noexcept {
  unsigned const from = what.from;
  std::uint16_t const root = what.root = what.stack->root;
  handed_over_.give(what);  // the fiber may be gone
  task_is_public(from, root);
}

void fiber_team::hand_over_offers(fiber_member& w) noexcept {
  while (offers_task(w)) {
    // With each task a stack, so that whoever takes it can run it.
    fiber_stack* const stack = stacks_.take(k_most_stacks_to_force);
    if (!stack) return;
    if (detail::fiber_task* const task = steal_from(w, w, stack->root)) {
      hand_over({stack, task, w.index, false});
    } else {
      stacks_.give_back(stack);
    }
  }
}

bool fiber_team::give_way(fiber_member& w) noexcept {
  // What was offered of the fiber may not stay behind on the worker.
  hand_over_offers(w);
  if (offers_task(w)) return false;
  gives_up(w);
  w.parting = {fiber_parting::gives_way, nullptr, 0, nullptr};
  w.stack->switch_to(*w.home, w.index);
  return true;
}

bool fiber_team::run_handed_over(fiber_member& me) noexcept {
  handed_over::work const work = handed_over_.take(me.index, me.limit, workers() == 1);
  // Others may sleep, and what is left be for them alone.
  if (handed_over_.any(k_any_root)) task_is_public(me.index);
  if (!work.stack) return false;
  has_work(me.index);
  if (work.task) counted(me.index).steals.bump();
  me.next_task = work.task;
  me.stack = work.stack;
  run_fiber(me);
  return true;
}

// ---- the way in and out -----------------------------------------------------------------------

void fiber_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  fiber_worker* const before = &fiber_self();
  struct life {
    fiber_team& team;
    fiber_member& self;
    void (*call)(void*);
    void* argument;
    std::atomic<bool> done{false};
  } it{*this, *members_[me], call, argument};
  it.self.outer = before;
  // Workers that slept while nobody was at this place have not asked here. After the place was entered: edge idle-1.
  if (somebody_looks()) ask(it.self);
  it.self.faults = 0;  // a caller's place has another thread each time
  become(&it.self);
  call_on(
      space(me), me,
      [](void* p) {
        life& l = *static_cast<life*>(p);
        fiber_stack home;
        l.self.home = &home;
        if (l.self.limit == k_any_root) {
          l.call(l.argument);
        } else {
          // The root is a fiber like others: it may come to its end on another worker.
          l.team.run_root(
              l.self,
              [](void* q) {
                life& root = *static_cast<life*>(q);
                root.call(root.argument);
                fiber_team& of = root.team;
                unsigned const callers = root.self.index;
                bool const is_elsewhere = of.place_of_caller()->index != callers;
                // edge entry-1: release. root may be gone afterwards.
                root.done.store(true, std::memory_order_seq_cst);
                if (is_elsewhere) of.sleepers().wake(callers);
              },
              p);
          l.team.work_until(l.self.index, l.done);
        }
        l.self.home = nullptr;
      },
      &it);
  become(before);
}

fiber_member* fiber_team::place_of_caller() const noexcept {
  for (fiber_worker* w = &fiber_self(); w; w = w->outer) {
    if (auto* const m = member_or_null(w); m && m->team == this) return m;
  }
  return nullptr;
}

void fiber_team::enter_or_nest(void (*call)(void*), void* argument) {
  if (fiber_member* const here = place_of_caller()) {
    if (here == &fiber_self()) {
      call(argument);
    } else {
      // Inside another pool inside this one: nothing of it may leave that pool's stack.
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

fiber_staying::fiber_staying() noexcept : fiber_worker(fiber_kind::staying, 1, fiber_requested()) {
  outer = within = &fiber_self();
  runtime::serve_own_thieves();
  runtime::become(this);
}

fiber_staying::~fiber_staying() {
  // A child that was forked meanwhile is outside all pools.
  if (&fiber_self() != this) return;
  runtime::become(outer);
  runtime::serve_own_thieves();
}

}  // namespace filch::inline FILCH_ABI::detail
