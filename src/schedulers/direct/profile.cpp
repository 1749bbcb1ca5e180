// A measured worker's calls, and the calibration of the hooks with forks that do nothing. See profile.hpp.
#include "schedulers/direct/profile.hpp"

#include "runtime/spin.hpp"
#include "runtime/stack.hpp"
#include "runtime/stop_flag.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

namespace filch::inline FILCH_ABI::detail {
namespace {

namespace profile = runtime::profile;

[[gnu::noinline]] void fork_for_nothing(int times) {
  for (int i = 0; i < times; ++i) {
    int const captured = i;
    task_stack_join<direct_stack>([captured] { asm volatile("" ::"r"(captured)); },
                                  [captured] { asm volatile("" ::"r"(captured)); });
  }
}

[[gnu::noinline]] void spawn_for_nothing(int times) {
  constexpr int k_tasks = 10;
  for (int i = 0; i < times; ++i) {
    task_frame<direct_stack> frame;
    for (int k = 0; k < k_tasks; ++k) frame.spawn([k] { asm volatile("" ::"r"(k)); });
    frame.sync();
  }
}

/// Runs body() that often, and sets the own costs of these kinds. Returns their sum.
runtime::cycles measure_hooks(direct_member& m, runtime::worker_space const& space,
                              std::initializer_list<profile::segment> kinds, int runs, void (*body)(void*)) {
  auto const scratch = std::make_unique<profile::record>();
  profile::record* const outer = m.profile->use(scratch.get());
  scratch->samples_begin();
  for (int i = 0; i < runs; ++i) {
    scratch->run_begins();
    runtime::call_on(space, m.index, body, nullptr);
    scratch->run_ends();
  }
  m.profile->use(outer);
  return scratch->samples_end(kinds);
}

/// On a measured worker, before its first call.
void calibrate(direct_member& m, runtime::worker_space const& space) {
  using profile::segment;
  constexpr int k_runs = 500;
  constexpr std::size_t k_rounds = 7;
  constexpr double k_kinds = 3;  // of a round
  profile::measure_rate();
  measure_hooks(m, space, {segment::of_run}, k_runs, [](void*) {});
  measure_hooks(m, space, {segment::of_task, segment::after_sync}, 1, [](void*) { spawn_for_nothing(500); });
  // Other programs slow some rounds down. The one in the middle is taken; the others tell how certain it is.
  std::array<std::pair<runtime::cycles, decltype(profile::calibrated.own_cost)>, k_rounds> rounds;
  for (auto& [sum, costs] : rounds) {
    sum = measure_hooks(m, space, {segment::of_f, segment::of_g, segment::after_join}, 1,
                        [](void*) { fork_for_nothing(3'000); });
    costs = profile::calibrated.own_cost;
  }
  std::sort(rounds.begin(), rounds.end());
  profile::calibrated.own_cost = rounds[k_rounds / 2].second;
  profile::set_uncertainty(static_cast<double>(rounds.back().first - rounds.front().first) / 2 / k_kinds);
}

/// The whole time of a join whose empty g is stolen. A second thread lives meanwhile. 0 if there were too few steals.
runtime::cycles measured_steal(runtime::settings s) {
  constexpr int k_tries = 101;
  constexpr std::size_t k_enough = 10;
  constexpr runtime::cycles k_longest = 500'000;
  constexpr runtime::cycles k_pause = 150'000;  // a thief pauses after a short task
  if (s.available < 2) return 0;
  s.workers = 2;
  s.profile = false;
  std::vector<runtime::cycles> took;
  direct_team two(std::move(s), true);
  two.enter_or_nest(
      [](void* p) {
        for (int i = 0; i < k_tries; ++i) {
          runtime::cycles begin = runtime::time_stamp();
          while (runtime::time_stamp() - begin < k_pause) runtime::relax();
          runtime::stop_flag begun;
          begin = runtime::time_stamp();
          auto const f = [&] {
            while (!begun.is_set() && runtime::time_stamp() - begin < k_longest) runtime::relax();
            return begun.is_set();
          };
          bool const was_stolen = task_stack_join<direct_stack>(f, [&] { begun.set(); }).first;
          if (was_stolen) static_cast<decltype(took)*>(p)->push_back(runtime::time_stamp() - begin);
        }
      },
      &took);
  if (took.size() < k_enough) return 0;
  auto const middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return *middle;
}

}  // namespace

/// At the first call at this place: measured from then on, unless there is no memory.
void direct_team::begin_profile(direct_member& m) {
  auto made = std::make_unique<direct_profile>(m.first_task(), m.end);
  if (!made->is_valid()) {
    std::fprintf(stderr,
                 "filch: FILCH_PROFILE: no address space for a worker's record; its calls are not measured\n");
    return;
  }
  m.profile = (profiles_[m.index] = std::move(made)).get();
  m.profile->touch();
  direct_let_loops_split(m, true);
  static std::once_flag once;
  std::call_once(once, [&] {
    profile::calibrated_by([&] {
      calibrate(m, space(m.index));
      profile::set_cost_of_steal(measured_steal(asked_for()));
    });
  });
}

void direct_team::run_measured(direct_member& m, void (*call)(void*), void* argument) {
  profile::record& mine = profile::of_this_thread();
  if (!m.profile) {
    // Perhaps in a run of another pool.
    bool const pauses = mine.is_running();
    profile::segment const before = pauses ? mine.pauses() : profile::segment::of_run;
    begin_profile(m);
    if (pauses) mine.begins(before);
  }
  if (!m.profile) return runtime::call_on(space(m.index), m.index, call, argument);
  m.profile->use(&mine);
  mine.run_begins();
  runtime::call_on(space(m.index), m.index, call, argument);
  mine.run_ends();
}

void direct_team::run_measured_in_order(void (*call)(void*), void* argument) {
  profile::record& mine = profile::of_this_thread();
  mine.run_begins();
  mine.stay_begins();
  call(argument);
  mine.stay_ends();
  mine.run_ends();
}

}  // namespace filch::inline FILCH_ABI::detail
