#include "runtime/strand_team.hpp"

#include <filch/detail/strand_frame.hpp>

#include "runtime/fork_generation.hpp"
#include "runtime/stack.hpp"

#include <utility>

namespace filch::runtime {
namespace {

// Its head, null, is below its split, so that a fork's compare sends its callers to the slow path; never written.
constinit detail::strand_task* no_place = nullptr;
constinit detail::strand_worker outside(detail::strand_kind::outside, 1, &no_place);

}  // namespace
}  // namespace filch::runtime

// Named for the assembly that reads it; see strand_self(). Optimisers of whole programs do not see that, hence
// `used`.
extern "C" {
FILCH_API constinit thread_local filch::detail::strand_worker* filch_strand_self
    __attribute__((tls_model("initial-exec"), used)) = &filch::runtime::outside;
}

namespace filch::runtime {
namespace {

using detail::strand_kind;
using detail::strand_raised;
using detail::strand_self;
using detail::strand_worker;

// Never inlined: the caller's thread may not be the one before a join of its own.
[[gnu::noinline]] void become(strand_worker* w) noexcept { filch_strand_self = w; }

strand_member* member_or_null(strand_worker* w) noexcept {
  return w->kind == strand_kind::cactus || w->kind == strand_kind::implicit ? static_cast<strand_member*>(w)
                                                                            : nullptr;
}

strand_member* member_around_stays(strand_worker* w) noexcept {
  while (w->kind == strand_kind::staying) w = static_cast<detail::strand_staying*>(w)->within;
  return member_or_null(w);
}

/// Before a stay or another pool's run, and after it: who asked meanwhile got no answer, and may sleep. In a poll.
void answer_who_asks() noexcept {
  if (strand_member* const m = member_or_null(&strand_self())) m->team->give_to_who_asks(*m);
}

// A child of fork() is outside all pools, also where it was forked by a task. The worker that the task is on is found
// again when the task comes to its end. The screen is never freed: nobody knows how long that is.
void leave_pools_in_child() {
  strand_worker* w = &strand_self();
  while (w->kind == strand_kind::staying) w = w->outer;
  if (member_or_null(w)) {
    auto* const screen = new strand_worker(strand_kind::forked, 1, strand_raised());
    screen->outer = w;
    w = screen;
  }
  become(w);
}

// While a strand is in another pool's run its thread is no worker here, but its place can still be found.
struct hiding_worker : strand_worker {
  unsigned const generation = fork_generation();
  hiding_worker() noexcept : strand_worker(strand_kind::outside, 1, strand_raised()) {}
};

bool hide(void* room) noexcept {
  strand_worker* const w = &strand_self();
  if (w == &outside) return false;
  answer_who_asks();
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
  answer_who_asks();
}

/// In a stay it is the worker around it that waits.
team* block() noexcept {
  strand_worker* w = &strand_self();
  if (strand_member* const m = member_or_null(w)) m->team->offer_all(*m);
  strand_member* const m = member_around_stays(w);
  return m && m->team->alive() ? m->team : nullptr;
}

}  // namespace

strand_member* member_of_strand() noexcept {
  strand_worker* w = &strand_self();
  while (w->kind == strand_kind::forked) w = w->outer;
  return member_or_null(w);
}

bool strand_gives_way() noexcept {
  if constexpr (!k_steals_are_forced) return false;
  strand_member* const w = member_or_null(&strand_self());
  return w && w->stack && w->team->give_way(*w);
}

strand_team::strand_team(settings s, bool tolerate_missing_threads, std::size_t (*lower_bytes)(std::size_t))
    : team(std::move(s), tolerate_missing_threads,
           [lower_bytes](std::size_t stack) {
             // For the strand that it runs, one at hand, and some that wait. There may be more, or fewer.
             constexpr std::size_t k_stacks = 4;
             std::size_t const lower = lower_bytes ? lower_bytes(stack) : 0;
             return k_stacks * os::reservation::whole_bytes_for(stack, lower);
           }),
      stacks_(stack_size(), lower_bytes ? lower_bytes(stack_size()) : 0, workers(), asked_for().give_back,
              strand_main, this),
      members_(all_places()) {
  watch_forks(leave_pools_in_child);
  static_cast<void>(os::own_page_faults());  // what its first call finds out is found out before anybody forks
  hide_on_entry({hide, show, answer_who_asks, block});
}

// In a child of fork() the lock of the stacks may be held by nobody: of its parent's it says nothing.
void strand_team::add_to(pool_stats& sum) const noexcept {
  if (!alive()) return;
  auto const stacks = stacks_.count();
  sum.stacks_in_use = stacks.in_use;
  sum.stacks_peak = stacks.made;
  sum.kept_stack_pages = strand_stack_pool::k_kept_pages;
}

std::size_t strand_team::written_stack_bytes() const noexcept { return alive() ? stacks_.written_bytes() : 0; }

void strand_team::add(strand_member& m, unsigned place) noexcept {
  m.team = this;
  m.index = place;
  m.limit = all().root_limit(place);
  m.random = random_numbers(place);
  members_[place] = &m;
}

// ---- strands ----------------------------------------------------------------------------------

bool strand_team::have_met(detail::strand_meeting& m, unsigned stolen) noexcept {
  // edge strand-1: acquire, the results of those who have arrived.
  if (std::atomic_ref(m.balance).load(std::memory_order_acquire) != -static_cast<std::int32_t>(stolen)) return false;
  std::atomic_ref(m.balance).store(0, std::memory_order_relaxed);
  return true;
}

void strand_team::wait_at(detail::strand_meeting& m, unsigned stolen) noexcept {
  strand_member& w = this_member();
  strand_stack& mine = *w.stack;
  if (have_met(m, stolen)) {
    if (!moves_on(w, m)) return;
    w.parting = {strand_parting::moves, nullptr, 0, nullptr};
  } else {
    m.suspended = &mine;
    w.parting = {strand_parting::suspends, &m, static_cast<std::int32_t>(stolen), nullptr};
  }
  mine.wait_on(*w.home, w.index);
  // Whoever resumed this saw the balance come to zero. The worker may be another one.
}

/// On its home stack, the worker runs the strand on w.stack, and those that follow it, until there is none.
void strand_team::run_strand(strand_member& w) noexcept {
  while (w.stack) {
    takes_up(w);
    // Its caller may have begun to sleep when this worker was at another root's strand, and did not ask here.
    // edge idle-4: after the root is to be seen.
    if (sleepers().sleeps_for_root(w.stack->root)) ask(w);
    strand_stack_pool::enter(*w.stack, w.faults);
    w.home->switch_to(*w.stack, w.index);
    strand_parting const p = w.parting;
    if (p.what == strand_parting::moves || p.what == strand_parting::gives_way) {
      hand_over({std::exchange(w.stack, nullptr), nullptr, w.index, p.what == strand_parting::gives_way});
    } else if (p.what == strand_parting::suspends) {
      strand_stack* const suspended = std::exchange(w.stack, nullptr);
      counted(w.index).suspensions.bump();
      // relaxed: a hint; all parts may have arrived meanwhile.
      if (std::atomic_ref(p.meeting->balance).load(std::memory_order_relaxed) != -p.stolen)
        trim_waiting(w, *suspended);
      // edge strand-1: release, the stack is left; acquire, the results of all if this is the last.
      bool const is_last =
          std::atomic_ref(p.meeting->balance).fetch_add(p.stolen, std::memory_order_acq_rel) == -p.stolen;
      if (is_last) go_on(w, *suspended, *p.meeting);
    } else {
      strand_stack* const left = std::exchange(w.stack, nullptr);
      if (p.next) go_on(w, *p.next, *p.meeting);
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
void strand_team::trim(strand_member& w, strand_stack& left) noexcept {
  if (stacks_.trim(left, w.faults)) counted(w.index).give_backs.bump();
}

void strand_team::trim_waiting(strand_member& w, strand_stack& left) noexcept {
  if (stacks_.trim_waiting(left, w.faults, *w.home, w.index)) counted(w.index).give_backs.bump();
}

/// Who came last to the meeting goes on with its frame.
void strand_team::go_on(strand_member& w, strand_stack& frame, detail::strand_meeting const& m) noexcept {
  if (moves_on(w, m)) {
    hand_over({&frame, nullptr, w.index, false});
  } else {
    w.stack = &frame;
  }
}

/// What runs on every stack of the pool: one strand after the other.
void strand_team::strand_main(void*) noexcept {
  this_member().stack->arrived();
  for (;;) {
    strand_member* w = &this_member();
    strand_parting parting;
    if (detail::strand_task* const task = std::exchange(w->next_task, nullptr)) {
      detail::strand_meeting& m = task->run(*task);
      // edge strand-1: release, the result; acquire, the suspended stack and the results of the others. Who is
      // not the last may not touch it any more.
      if (std::atomic_ref(m.balance).fetch_sub(1, std::memory_order_acq_rel) == 1) {
        parting = {strand_parting::resumes, &m, 0, m.suspended};
      }
    } else {
      w->next_call(w->next_argument);
    }
    // A join in it may have moved the strand to another worker.
    w = &this_member();
    w->parting = parting;
    w->stack->switch_to(*w->home, w->index);
  }
}

bool strand_team::need_spare(strand_member& w) noexcept {
  if (!w.spare) w.spare = stacks_.take();
  return w.spare != nullptr;
}

/// The caller's own call, on a stack of the pool's.
void strand_team::run_root(strand_member& me, void (*call)(void*), void* argument) noexcept {
  if (!need_spare(me)) {
    // No stack to be had: on this one, and nothing of it is forked.
    run_in_order(call, argument);
    return;
  }
  me.next_call = call;
  me.next_argument = argument;
  me.stack = std::exchange(me.spare, nullptr);
  me.stack->root = me.limit;
  run_strand(me);
}

void strand_team::run_in_order(void (*call)(void*), void* argument) {
  detail::strand_staying const here;
  call(argument);
}

// ---- thieves ----------------------------------------------------------------------------------

void strand_team::has_offered(strand_member& w, bool was_asked) noexcept {
  if (offers_next(w.index, was_asked, w.unasked, [&] { return offers_of(w).untaken; }, w.stack->root)) ask(w);
}

bool strand_team::steal_and_run(unsigned index) {
  strand_member& me = *members_[index];
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
    run_strand(me);
    return true;
  }
  if (k_steals_are_forced && run_handed_over(me)) return true;
  counted(index).failed_steals.bump();
  return false;
}

void strand_team::ask_everybody(unsigned index) noexcept {
  strand_member& me = *members_[index];
  me.unasked.left = most_unasked();
  all().each_in_use([&](unsigned i) {
    // edge idle-4: after the announcement.
    if (i != index && may_take_from(me, *members_[i])) ask(*members_[i]);
  });
}

bool strand_team::sees_work(unsigned index) const noexcept {
  strand_member const& me = *members_[index];
  if (k_steals_are_forced && handed_over_.any(me.limit)) return true;
  return all().any_in_use(0, [&](unsigned i) { return i != index && offers_task(*members_[i], me.limit); });
}

// ---- forced steals ----------------------------------------------------------------------------

/// May the frame of this meeting not go on here?
bool strand_team::moves_on(strand_member const& w, detail::strand_meeting const& m) const noexcept {
  return k_steals_are_forced && m.begun_on == w.index && workers() > 1;
}

void strand_team::hand_over(handed_over::work what) noexcept {
  unsigned const from = what.from;
  std::uint16_t const root = what.root = what.stack->root;
  handed_over_.give(what);  // the strand may be gone
  task_is_public(from, root);
}

void strand_team::hand_over_offers(strand_member& w) noexcept {
  while (offers_task(w)) {
    // With each task a stack, so that whoever takes it can run it.
    strand_stack* const stack = stacks_.take(k_most_stacks_to_force);
    if (!stack) return;
    if (detail::strand_task* const task = steal_from(w, w, stack->root)) {
      hand_over({stack, task, w.index, false});
    } else {
      stacks_.give_back(stack);
    }
  }
}

bool strand_team::give_way(strand_member& w) noexcept {
  // What was offered of the strand may not stay behind on the worker.
  hand_over_offers(w);
  if (offers_task(w)) return false;
  gives_up(w);
  w.parting = {strand_parting::gives_way, nullptr, 0, nullptr};
  w.stack->switch_to(*w.home, w.index);
  return true;
}

bool strand_team::run_handed_over(strand_member& me) noexcept {
  handed_over::work const work = handed_over_.take(me.index, me.limit, workers() == 1);
  // Others may sleep, and what is left be for them alone.
  if (handed_over_.any(k_any_root)) task_is_public(me.index);
  if (!work.stack) return false;
  has_work(me.index);
  if (work.task) counted(me.index).steals.bump();
  me.next_task = work.task;
  me.stack = work.stack;
  run_strand(me);
  return true;
}

// ---- the way in and out -----------------------------------------------------------------------

void strand_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  strand_worker* const before = &strand_self();
  struct life {
    strand_team& team;
    strand_member& self;
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
        strand_stack home;
        l.self.home = &home;
        if (l.self.limit == k_any_root) {
          l.call(l.argument);
        } else {
          // The root is a strand like others: it may come to its end on another worker.
          l.team.run_root(
              l.self,
              [](void* q) {
                life& root = *static_cast<life*>(q);
                root.call(root.argument);
                strand_team& of = root.team;
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

strand_member* strand_team::place_of_caller() const noexcept {
  for (strand_worker* w = &strand_self(); w; w = w->outer) {
    if (auto* const m = member_or_null(w); m && m->team == this) return m;
  }
  return nullptr;
}

void strand_team::enter_or_nest(void (*call)(void*), void* argument) {
  if (strand_member* const here = place_of_caller()) {
    if (here == &strand_self()) {
      call(argument);
    } else {
      // Inside another pool inside this one: nothing of it may leave that pool's stack.
      detail::answer_workers();
      detail::strand_staying stays;
      stays.within = here;
      call(argument);
    }
    return;
  }
  enter(call, argument);
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

void strand_failures::keep(std::exception_ptr e, unsigned number) noexcept {
  // e goes after the lock.
  std::lock_guard const lock(failing_);
  first_.keep(e, number);
}

unsigned strand_worker_index(strand_kind kind) noexcept {
  strand_worker* w = &strand_self();
  while (w->kind == strand_kind::staying) w = static_cast<strand_staying*>(w)->within;
  return w->kind == kind ? static_cast<runtime::strand_member*>(w)->index : k_no_worker;
}

void strand_poll_slow() noexcept { runtime::answer_who_asks(); }

strand_staying::strand_staying() noexcept : strand_worker(strand_kind::staying, 1, strand_raised()) {
  outer = within = &strand_self();
  runtime::answer_who_asks();
  runtime::become(this);
}

strand_staying::~strand_staying() {
  // A child that was forked meanwhile is outside all pools.
  if (&strand_self() != this) return;
  runtime::become(outer);
  runtime::answer_who_asks();
}

}  // namespace filch::inline FILCH_ABI::detail
