// The thief: takes the oldest public task, or requests one, and passes wake-ups on. The fiber team's loop calls the
// hooks. Protocol: protocol.md, "Steps" and cactus-1 to cactus-4.
#include "schedulers/cactus/worker.hpp"

namespace filch::inline FILCH_ABI::detail {

void cactus_team::ask(runtime::fiber_member& victim) noexcept { split_word(victim).request(); }

fiber_task* cactus_team::steal_from(runtime::fiber_member& v, runtime::fiber_member& me,
                                    std::uint16_t& root) noexcept {
  auto& victim = static_cast<cactus_member&>(v);
  // edge cactus-1: the tasks are there.
  runtime::open_places const now = victim.open.look();
  if (me.limit != runtime::k_any_root && me.limit != now.root && &victim != &me) return nullptr;
  if (now.is_empty()) {
    ask(victim);
    return nullptr;
  }
  // edge cactus-3: the task is ours, or another worker's.
  if (!victim.open.steal(now)) {
    counted(me.index).backoffs.bump();
    return nullptr;
  }
  fiber_task* const task = victim.base[now.tail];
  victim.taken.add_one();
  // The trip wire: the last public task was taken, the owner should publish more.
  if (now.size() == 1 && &victim != &me) ask(victim);
  // If it forks, its first fork is public at once: else the next thief would wait for a later one.
  ask(me);
  root = now.root;
  return task;
}

runtime::fiber_offers cactus_team::offers_of(runtime::fiber_member const& victim) const noexcept {
  runtime::open_places const now = static_cast<cactus_member const&>(victim).open.look_before_sleep();
  return {now.size(), now.root};
}

}  // namespace filch::inline FILCH_ABI::detail
