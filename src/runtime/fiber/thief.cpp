// The thief of a fiber team: the worker loop of team.hpp calls it. The scheduler's steal_from() takes the task.
// Protocol: ../idle.md.
#include "runtime/fiber/team.hpp"

#include <utility>

namespace filch::runtime {

void fiber_team::has_offered(fiber_member& w, bool was_asked) noexcept {
  if (was_asked) note(w.index, trace::kind::gives);
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
    if (sleepers().anybody()) pass_it_on();  // to another worker, which may have a stack at hand
    return run_handed_over(me);
  }
  std::uint16_t root = k_any_root;
  unsigned from = 0;
  auto const steals = [&](unsigned victim) {
    if (victim == index) return false;
    from = victim;
    me.next_task = steal_from(*members_[victim], me, root);
    return me.next_task != nullptr;
  };
  if (all().any_in_use(me.random.next(), steals)) {
    counted(index).steals.bump();
    has_work(index);
    note(index, trace::kind::takes, from, code_of(*me.next_task));
    if (anybody_sleeps(root)) pass_it_on();
    me.stack = std::exchange(me.spare, nullptr);
    me.stack->root = root;
    run_fiber(me);
    return true;
  }
  if (run_handed_over(me)) return true;
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
  if (handed_over_.any(me.limit)) return true;
  return all().any_in_use(0, [&](unsigned i) { return i != index && offers_task(*members_[i], me.limit); });
}

}  // namespace filch::runtime
