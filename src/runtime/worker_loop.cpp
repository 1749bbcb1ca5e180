// A worker between tasks: it searches by the scheduler's hooks, spins, gives pages back, announces itself and sleeps.
// Run by the team's threads, by stand-ins, and by callers that wait in a join. Protocol: idle.md, "Sleeping".
#include "os/linux/overflow.hpp"
#include "os/linux/processors.hpp"
#include "runtime/checks.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pools.hpp"
#include "runtime/team.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace filch::runtime {

namespace {

// An idle worker spins for about as long as waking it would take, then sleeps (docs/decisions/0003-spinning.md).
constexpr auto k_spin_time = std::chrono::microseconds(100);
// With more workers than processors, spinning takes time from workers with tasks.
constexpr auto k_spin_time_oversubscribed = std::chrono::microseconds(10);
constexpr unsigned k_looks_between_clock_reads = 8;
// After so many looks, a microsecond or two, the worker is counted as searching.
constexpr unsigned k_looks_until_counted = 4;
// A thief that pauses reads so rarely, after some ten microseconds, what callers write at each call.
constexpr unsigned k_pauses_between_counts = 32;

}  // namespace

void team::thread_main(unsigned me) {
  os::need_signal_stack();
  ++teams_entered;
  if (settings_.pin) {
    watch_forks([] { os::unbind(); });  // a child is outside the pool
    int const processor = settings_.processors[me % settings_.processors.size()];
    if (!os::bind_to_processor(processor, settings_.processors)) {
      std::fprintf(stderr, "filch: worker %u can't be bound to processor %d; it runs anywhere\n", me, processor);
    }
  }
  work_as(me, stopping_);
  if (!alive()) child_can_t_go_on();  // a task that the pool's end began may have forked
}

void team::work_as(unsigned me, stop_flag const& stop) {
  check("worker's place", [&] { return team_checks::of_worker(places_, me); });
  open_trace(me);
  note(me, trace::kind::searches);
  struct work {
    team& of;
    unsigned me;
    stop_flag const& stop;
  } w{*this, me, stop};
  be_worker(
      me,
      [](void* p) {
        auto const& mine = *static_cast<work*>(p);
        mine.of.work_until(mine.me, mine.stop);
      },
      &w);
  note(me, trace::kind::leaves);
}

void team::work_until(unsigned me, stop_flag const& stop) {
  using clock = std::chrono::steady_clock;
  // Callers come and go: the number is read anew for each stretch of looks.
  auto spin_time = k_spin_time;
  unsigned looks_until_counted = k_looks_until_counted;
  unsigned looks = 0;
  unsigned pauses_of_pace = 0;
  bool yields = false;
  bool has_paused = false;
  bool was_woken = false;
  steal_pace& pace = paces_[me];
  clock::time_point since{};
  clock::time_point next_to_insist{};
  while (!stop.is_set()) {
    if (!alive()) child_can_t_go_on();
    cycles const begin = time_stamp();
    if (pace.waits(begin) && is_free_for_call(me)) {
      if (pauses_of_pace++ % k_pauses_between_counts == 0) yields = oversubscribed();
      pause_for_look(0, yields);
      has_paused = true;
      continue;
    }
    bool const has_stolen = steal_and_run(me);
    if (has_stolen || help_a_group(me)) {
      if (!keeps_accounts()) {
        cycles const end = time_stamp();
        if (has_stolen) {
          stolen_task const& task = stolen_[me];
          pace.task_ran(end, task.lasted(), task.began() - begin, task.is_divided());
        } else {
          pace.task_ran(end, end - begin);
        }
      }
      looks = 0;
      was_woken = false;
      continue;
    }
    yields = oversubscribed();
    if (looks == 0) {
      spin_time = yields ? k_spin_time_oversubscribed : k_spin_time;
      looks_until_counted = yields ? 0 : k_looks_until_counted;  // it may be long until the next look
    }
    if (looks == looks_until_counted) idle_.looks(me);
    // A pause lasts as long as many looks.
    if (std::exchange(has_paused, false) || looks % k_looks_between_clock_reads == 0) {
      auto const now = clock::now();
      if (looks == 0) {
        since = now;
        next_to_insist = now + spin_time / 2;
      }
      if (now >= next_to_insist) {
        // A few times: a victim that could not answer the first time may answer later.
        static_cast<void>(insist(me));
        next_to_insist = now + spin_time / 8;
      }
      if (now - since >= spin_time) {
        was_woken = sleep_until_work(me, stop);
        looks = 0;
        continue;
      }
    }
    for (unsigned pauses = pauses_between_looks(workers(), yields); pauses != 0; --pauses) {
      pause_for_look(looks, yields);
    }
    ++looks;
  }
  idle_.has_work(me);
  // The wake-up may have been for an offer: another worker looks for it. A caller's was for its own call, which is
  // done.
  if (was_woken && !places_.is_callers(me) && idle_.anybody()) hand_on_wakeup(me);
}

void team::hand_on_wakeup(unsigned) noexcept { static_cast<void>(idle_.wake_one()); }

void team::pause_between_looks(unsigned looks) const noexcept {
  // The victim itself may need this processor.
  pause_for_look(looks, oversubscribed());
}

bool team::sleep_until_work(unsigned me, stop_flag const& stop) {
  // Before it is announced: the worker that wakes it would wait for this.
  auto const again_in = give_back_pages(me, __builtin_frame_address(0), worker_space::when::sleeps);
  if (places_.is_callers(me)) {
    idle_.announce_for_root(me);
  } else {
    idle_.announce(me);
  }
  ask_everybody(me);
  auto const at_most = insist(me);
  // It goes before it could be woken.
  bool const comes_again = at_most < k_spin_time / 2;
  // edge idle-1: the last look, after the announcement.
  bool const is_owed = at_most != k_until_woken;
  if (comes_again || stop.is_set_before_sleep() || sees_work(me) || sources_.any_with_tasks(groups_for(me)))
    return !idle_.retract(me) || is_owed;
  counted(me).sleeps.bump();
  note(me, trace::kind::sleeps);
  auto const limit = again_in > again_in.zero() ? std::min(again_in, at_most) : at_most;
  bool const was_woken = limit == k_until_woken || idle_.sleep_for(me, limit);
  if (limit == k_until_woken) idle_.sleep(me);
  note(me, trace::kind::wakes_up);
  return was_woken || is_owed;
}

std::chrono::nanoseconds team::give_back_pages(unsigned me, void* stack_in_use, worker_space::when now) noexcept {
  auto const [is_done, again_in] =
      spaces_[me].give_back(static_cast<std::byte*>(stack_in_use), unused_above(me), settings_.give_back, now);
  if (is_done) counters_[me].give_backs.bump();
  return again_in;
}

}  // namespace filch::runtime
