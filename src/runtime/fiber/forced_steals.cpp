// FILCH_FORCE_STEAL: the offers of a fiber, and its frames, go to other workers. Fork and join call this if steals
// are forced. Protocol: ../fibers.md, "Forced steals".
#include "runtime/fiber/nesting.hpp"
#include "runtime/fiber/team.hpp"

namespace filch::runtime {

bool fiber_gives_way() noexcept {
  if constexpr (!k_steals_are_forced) return false;
  fiber_member* const w = member_or_null(&detail::fiber_self());
  return w && w->stack && w->team->give_way(*w);
}

/// Must the frame of this join counter continue elsewhere?
bool fiber_team::moves_on(fiber_member const& w, detail::join_counter const& m) const noexcept {
  return k_steals_are_forced && m.begun_on == w.index && workers() > 1;
}

void fiber_team::hand_over(handed_over::work what) noexcept {
  unsigned const from = what.from;
  std::uint16_t const root = what.root = what.stack->root;
  handed_over_.give(what);  // the fiber may be gone
  task_is_public(from, root);
}

void fiber_team::hand_over_all(fiber_member& w) noexcept {
  while (offers_task(w)) {
    // A stack goes with each task, so that its taker can run it.
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
  // Offers of the fiber may not stay behind on the worker.
  hand_over_offers(w);
  if (offers_task(w)) return false;
  gives_up(w);
  w.parting = {fiber_parting::returns, nullptr, 0, nullptr};
  w.stack->switch_to(*w.home, w.index);
  return true;
}

bool fiber_team::run_newest_handed_over(fiber_member& me) noexcept {
  handed_over::work const work = handed_over_.take(me.index, me.limit, workers() - 1);
  // Others may sleep, and may be the only ones that may take the rest.
  if (handed_over_.any(k_any_root)) task_is_public(me.index);
  if (!work.stack) return false;
  has_work(me.index);
  if (work.task) counted(me.index).steals.bump();
  me.next_task = work.task;
  me.stack = work.stack;
  run_fiber(me);
  return true;
}

}  // namespace filch::runtime
