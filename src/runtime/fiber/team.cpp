// Runs fibers: a worker runs them on their stacks, and does the last step for each that has left its stack.
// thief.cpp finds the tasks. Protocol: ../fibers.md.
#include "runtime/fiber/team.hpp"

#include "runtime/exceptions_in_flight.hpp"
#include "runtime/fiber/checks.hpp"
#include "runtime/fiber/nesting.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/stack.hpp"

#include <utility>

namespace filch::runtime {

fiber_team::fiber_team(settings s, bool tolerate_missing_threads, std::size_t (*lower_bytes)(std::size_t))
    : team(std::move(s), tolerate_missing_threads,
           [lower_bytes](std::size_t stack) {
             // Stacks for the fiber that it runs, one at hand, and some that wait. There may be more, or fewer.
             constexpr std::size_t k_stacks = 4;
             std::size_t const lower = lower_bytes ? lower_bytes(stack) : 0;
             return k_stacks * os::reservation::whole_bytes_for(stack, lower);
           }),
      stacks_(stack_size(), lower_bytes ? lower_bytes(stack_size()) : 0, workers(), asked_for().give_back, fiber_main,
              this),
      members_(all_places()),
      homes_(std::make_unique<fiber_stack[]>(all_places())) {
  watch_nesting();
}

// In a child of fork() the holder of the stacks' lock may not exist: the child says nothing of its parent's stacks.
void fiber_team::add_to(fiber_stats& all) const noexcept {
  if (!alive()) return;
  auto const stacks = stacks_.count();
  all.stacks_in_use = stacks.in_use;
  all.stacks_peak = stacks.made;
  all.kept_stack_pages = fiber_stack_pool::k_kept_pages;
}

std::string fiber_team::own_figures() const {
  fiber_stats all;
  add_to(all);
  return std::to_string(all.stacks_peak) + " stacks at the peak, " + std::to_string(all.stacks_in_use) + " in use";
}

std::size_t fiber_team::written_stack_bytes() const noexcept { return alive() ? stacks_.written_bytes() : 0; }

void fiber_team::add(fiber_member& m, unsigned place) noexcept {
  m.team = this;
  m.index = place;
  m.limit = all().root_limit(place);
  m.random = random_numbers(place);
  members_[place] = &m;
  if (place >= workers()) stacks_.has_one_more_worker();
}

bool fiber_team::have_arrived(detail::join_counter& m, unsigned stolen) noexcept {
  return m.close_if_arrived(static_cast<std::int32_t>(stolen));
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
  // The worker that resumed this saw the balance come to zero. It may be another worker than before.
}

/// On its home stack, the worker runs the fiber on w.stack, and those that follow it, until there is none.
void fiber_team::run_fiber(fiber_member& w) noexcept {
  while (w.stack) {
    check("fiber", [&w] { return fiber_checks::of_fiber(w); });
    note(w.index, trace::kind::runs, 0, w.stack);
    begins_task(w.unasked);
    takes_up(w);
    // Its caller may have begun to sleep when this worker was at another root's fiber, and did not ask here.
    // edge idle-4: after the root is visible.
    if (sleepers().sleeps_for_root(w.stack->root)) request_for_sleepers(w);
    fiber_stack_pool::enter(*w.stack, w.faults);
    if (has_hooks_) [[unlikely]]
      fiber_is_entered(hooks_, w);
    w.home->switch_to(*w.stack, w.index);
    if (has_hooks_) [[unlikely]]
      fiber_is_left(hooks_, w);
    check("fiber that leaves", [&w] { return fiber_checks::of_parting(w, *w.stack); });
    stolen(w.index).ends();
    fiber_parting const p = w.parting;
    if (p.what == fiber_parting::moves || p.what == fiber_parting::returns) {
      hand_over({std::exchange(w.stack, nullptr), nullptr, w.index, p.what == fiber_parting::returns});
    } else if (p.what == fiber_parting::suspends) {
      fiber_stack* const suspended = std::exchange(w.stack, nullptr);
      counted(w.index).suspensions.bump();
      if (is_traced()) [[unlikely]]
        note(w.index, trace::kind::suspends, trace::packed::most_of(suspended->pages_in_use()), suspended);
      if (!p.counter->may_be_last(p.stolen)) trim_waiting(w, *suspended);
      is_about_to_search(w.index);
      if (p.counter->add_stolen(p.stolen)) go_on(w, *suspended, *p.counter);
    } else {
      fiber_stack* const left = std::exchange(w.stack, nullptr);
      if (p.next) go_on(w, *p.next, *p.counter);
      trim(w, *left);
      if (w.spare) {
        if (alive()) stacks_.give_back(left);  // in a child of fork() the lock's holder may not exist
      } else {
        w.spare = left;
      }
    }
  }
  is_free(w);
  note(w.index, trace::kind::searches);
}

/// After the switch away from the stack, and before another worker can come to it.
void fiber_team::trim(fiber_member& w, fiber_stack& left) noexcept {
  if (stacks_.trim(left, w.faults)) counted(w.index).give_backs.bump();
}

void fiber_team::trim_waiting(fiber_member& w, fiber_stack& left) noexcept {
  if (stacks_.trim_waiting(left, w.faults, *w.home, w.index)) counted(w.index).give_backs.bump();
}

/// The last to arrive at the join counter continues its frame.
void fiber_team::go_on(fiber_member& w, fiber_stack& frame, detail::join_counter const& m) noexcept {
  if (moves_on(w, m)) {
    hand_over({&frame, nullptr, w.index, false});
  } else {
    has_work(w.index);
    w.stack = &frame;
  }
}

/// The loop on every stack of the pool: it runs one fiber after the other.
void fiber_team::fiber_main(void*) noexcept {
  this_member().stack->arrived();
  for (;;) {
    fiber_member* w = &this_member();
    fiber_parting parting;
    if (detail::fiber_task* const task = std::exchange(w->next_task, nullptr)) {
      w->team->stolen(w->index).begins();
      detail::join_counter& m = task->run(*task);
      fiber_member const& here = this_member();
      here.team->stolen(here.index).ends();
      here.team->is_about_to_search(here.index);
      if (m.arrive()) parting = {fiber_parting::resumes, &m, 0, m.suspended};
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
  if (!need_spare(me)) return run_at_home(me, call, argument);
  begin_call(me, me.limit, call, argument);
}

/// On a new stack, for which the member has a spare one.
void fiber_team::begin_call(fiber_member& me, std::uint16_t root, void (*call)(void*), void* argument) noexcept {
  me.next_call = call;
  me.next_argument = argument;
  me.stack = std::exchange(me.spare, nullptr);
  me.stack->root = root;
  run_fiber(me);
}

void fiber_team::run_call(unsigned index, std::uint16_t root, void (*call)(void*), void* argument) {
  fiber_member& me = *members_[index];
  if (need_spare(me)) {
    begin_call(me, root, call, argument);
  } else {
    run_at_home(me, call, argument);
  }
}

/// Without another stack the call runs on this one, in order.
void fiber_team::run_at_home(fiber_member& me, void (*call)(void*), void* argument) noexcept {
  me.has_used_home = true;
  keep_interrupts_away(me);
  run_in_order(call, argument);
}

/// Hooks are the program's code, and run there. Now and then it counts as used: a program that locks its memory fills
/// it.
bool fiber_team::has_used_own_stack(unsigned me) noexcept {
  constexpr unsigned k_between_looks = 256;
  if (has_hooks_) return true;
  fiber_member& m = *members_[me];
  bool const has_used = std::exchange(m.has_used_home, false) || ++m.leaves % k_between_looks == 0;
  if (has_used) begin_long_call_on_own_stack(me);
  return has_used;
}

void fiber_team::run_in_order(void (*call)(void*), void* argument) {
  detail::fiber_staying const here;
  exceptions_set_aside const callers;  // as on a fiber
  call(argument);
}

void fiber_team::be_worker(unsigned me, void (*call)(void*), void* argument) {
  detail::fiber_worker* const before = &detail::fiber_self();
  struct life {
    fiber_team& team;
    fiber_member& self;
    void (*call)(void*);
    void* argument;
    stop_flag done{};
  } it{*this, *members_[me], call, argument};
  it.self.outer = before;
  // Workers that slept while this place was unused have not requested here. After the place was entered: edge idle-1.
  if (somebody_looks()) request_for_sleepers(it.self);
  if (has_hooks_) [[unlikely]]
    begin_call_on_own_stack(me);
  it.self.faults = fiber_stack_pool::faults_before_entry(it.self.spare);
  become(&it.self);
  call_on(
      space(me), me,
      [](void* p) {
        life& l = *static_cast<life*>(p);
        l.self.home = &l.team.homes_[l.self.index];
        l.self.home->begin_on_thread();
        if (l.self.limit == k_any_root) {
          l.call(l.argument);
        } else {
          // The root is a fiber like others: it may end on another worker.
          l.team.run_root(
              l.self,
              [](void* q) {
                life& root = *static_cast<life*>(q);
                root.call(root.argument);
                fiber_team& of = root.team;
                unsigned const callers = root.self.index;
                unsigned const here = of.place_of_caller()->index;
                bool const is_elsewhere = here != callers;
                if (is_elsewhere) of.is_about_to_search(here);
                root.done.set();  // root may be gone
                if (is_elsewhere) of.sleepers().wake(callers);
              },
              p);
          l.team.work_until(l.self.index, l.done);
        }
        l.self.home = nullptr;
      },
      &it);
  // The program's code may follow on any thread: destructors of its thread-locals.
  if (it.self.limit == k_any_root) keep_interrupts_away(it.self);
  become(before);
}

}  // namespace filch::runtime
