// Calls of a measured pool, and the calibration before the first one: what a scheduler's hooks cost, found with forks
// that do nothing. Included where a scheduler measures its workers.
#pragma once

#include "runtime/account.hpp"
#include "runtime/profile/measured_worker.hpp"
#include "runtime/profile/profile.hpp"
#include "runtime/spin.hpp"
#include "runtime/stop_flag.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace filch::runtime::profile {

template <class Scheduler> [[gnu::noinline]] void fork_for_nothing(int times) {
  for (int i = 0; i < times; ++i) {
    int const captured = i;
    Scheduler::join([captured] { asm volatile("" ::"r"(captured)); },
                    [captured] { asm volatile("" ::"r"(captured)); });
  }
}

template <class Scheduler> [[gnu::noinline]] void spawn_for_nothing(int times) {
  constexpr int k_tasks = 10;
  for (int i = 0; i < times; ++i) {
    typename Scheduler::frame frame;
    for (int k = 0; k < k_tasks; ++k) frame.spawn([k] { asm volatile("" ::"r"(k)); });
    frame.sync();
  }
}

/// The costs of a scheduler's hooks.
template <class Scheduler> own_costs& costs_of() noexcept {
  static constinit own_costs costs{};
  return costs;
}

/// run(call, nullptr) runs call(nullptr) on the worker. So many times; then sets the costs of these kinds, and
/// returns their sum.
template <class Scheduler, class Run>
cycles measure_hooks(measured_worker& w, Run const& run, std::initializer_list<segment> kinds, int runs,
                     void (*call)(void*), own_costs& costs) {
  auto const scratch = std::make_unique<record>();
  record* const outer = w.use(scratch.get());
  scratch->samples_begin();
  for (int i = 0; i < runs; ++i) {
    own_costs const* const before = scratch->run_begins(costs_of<Scheduler>());
    run(call, nullptr);
    scratch->run_ends(before);
  }
  w.use(outer);
  return scratch->samples_end(kinds, costs);
}

inline constexpr auto k_kinds_of_joins = {segment::of_f, segment::of_g, segment::after_join};

/// The costs of a join, in cycles of a segment.
template <class Scheduler, class Run, int k_forks>
double measure_joins(measured_worker& w, Run const& run, own_costs& to) {
  return static_cast<double>(measure_hooks<Scheduler>(
             w, run, k_kinds_of_joins, 1, [](void*) { fork_for_nothing<Scheduler>(k_forks); }, to)) /
         static_cast<double>(k_kinds_of_joins.size());
}

/// On a measured worker, before its first call.
template <class Scheduler, class Run> void calibrate(measured_worker& w, Run const& run) {
  constexpr int k_runs = 500;
  constexpr std::size_t k_rounds = 7;
  own_costs costs{};
  measure_rate();
  measure_hooks<Scheduler>(w, run, {segment::of_run}, k_runs, [](void*) {}, costs);
  measure_hooks<Scheduler>(
      w, run, {segment::of_task, segment::after_sync}, 1, [](void*) { spawn_for_nothing<Scheduler>(500); }, costs);
  // Other programs slow some rounds down. The one in the middle is taken; the others tell how certain it is.
  std::array<std::pair<double, own_costs>, k_rounds> rounds;
  for (auto& [cost, of_round] : rounds) {
    of_round = costs;
    cost = measure_joins<Scheduler, Run, 3'000>(w, run, of_round);
  }
  std::sort(rounds.begin(), rounds.end());
  costs_of<Scheduler>() = rounds[k_rounds / 2].second;
  set_uncertainty(rounds.back().first - rounds.front().first);
}

/// Now and then, at the end of a run: by how much has the cost of a segment changed since the calibration?
template <class Scheduler, class Run> void check_costs(measured_worker& w, Run const& run, record& mine) {
  if (!mine.should_check_costs()) return;
  segment const kind = mine.pauses();
  own_costs now{};
  double const cost = measure_joins<Scheduler, Run, 300>(w, run, now);
  double before = 0;
  for (segment const each : k_kinds_of_joins)
    before += static_cast<double>(costs_of<Scheduler>()[static_cast<unsigned>(each)]);
  mine.costs_are_off_by(std::abs(cost - before / static_cast<double>(k_kinds_of_joins.size())));
  mine.begins(kind);
}

/// The whole time of a join whose empty g is stolen, in cycles; 0 if it could not be measured. run_on_two(settings,
/// call, argument) runs call(argument) in a pool that is not measured, with two workers.
template <class Scheduler, class RunOnTwo> cycles measured_steal(settings s, RunOnTwo const& run_on_two) {
  constexpr int k_tries = 101;
  constexpr std::size_t k_enough = 10;
  constexpr cycles k_longest = 500'000;
  constexpr cycles k_most = 100'000;   // a steal does not take longer
  constexpr cycles k_pause = 150'000;  // a thief pauses after a short task
  if (s.available < 2) return 0;
  s.workers = 2;
  s.profile = s.trace = s.is_the_programs = false;
  std::vector<cycles> took;
  run_on_two(
      std::move(s),
      [](void* p) {
        for (int i = 0; i < k_tries; ++i) {
          cycles begin = time_stamp();
          while (time_stamp() - begin < k_pause) relax();
          stop_flag begun;
          begin = time_stamp();
          auto const f = [&] {
            while (!begun.is_set() && time_stamp() - begin < k_longest) relax();
            return begun.is_set();
          };
          bool const was_stolen = Scheduler::join(f, [&] { begun.set(); }).first;
          if (was_stolen) static_cast<decltype(took)*>(p)->push_back(time_stamp() - begin);
        }
      },
      &took);
  if (took.size() < k_enough) return 0;
  // In most of the others the thief, or the owner, had no processor, if the machine is busy.
  auto const one_of_ten = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 10);
  std::nth_element(took.begin(), one_of_ten, took.end());
  return *one_of_ten <= k_most ? *one_of_ten : 0;
}

/// At the first call at a place: measured from then on, unless there is no memory. `made` becomes its worker's
/// measuring part, which the team keeps; `in_use` is the worker's pointer to it. steal() measures a steal under
/// `rule`.
template <class Scheduler, class Profile, class Worker, class Run, class Steal>
void begin_profile(std::unique_ptr<Profile> made, std::unique_ptr<measured_worker>& kept, Worker& w, Profile*& in_use,
                   steal_rule rule, Run const& run, Steal const& steal) {
  if (!made->is_valid()) {
    std::fprintf(stderr,
                 "filch: FILCH_PROFILE: no address space for a worker's record; its calls are not measured\n");
    return;
  }
  in_use = made.get();
  kept = std::move(made);
  in_use->touch(w);
  static std::once_flag once;
  std::call_once(once, [&] {
    calibrated_by([&] {
      calibrate<Scheduler>(*in_use, run);
      if (!calibrated.steal_is_measured) set_steals(rule, steal());
    });
  });
}

/// A call of a pool. `begin()` makes the profile of its place, or none; run(call, argument) runs it there.
template <class Scheduler, class Profile, class Begin, class Run>
void run_measured(Profile*& in_use, Begin const& begin, Run const& run, void (*call)(void*), void* argument) {
  record& mine = of_this_thread();
  if (!in_use) {
    // Perhaps in a run of another pool.
    bool const pauses = mine.is_running();
    segment const before = pauses ? mine.pauses() : segment::of_run;
    begin();
    if (pauses) mine.begins(before);
  }
  if (!in_use) return run(call, argument);
  in_use->use(&mine);
  own_costs const* const before = mine.run_begins(costs_of<Scheduler>());
  run(call, argument);
  check_costs<Scheduler>(*in_use, run, mine);
  mine.run_ends(before);
}

/// A call without a place: on the calling thread, in order.
template <class Scheduler, class Run> void run_measured_in_order(Run const& run) {
  record& mine = of_this_thread();
  own_costs const* const before = mine.run_begins(costs_of<Scheduler>());
  mine.stay_begins();
  run();
  mine.stay_ends();
  mine.run_ends(before);
}

}  // namespace filch::runtime::profile
