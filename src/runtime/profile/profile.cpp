// FILCH_PROFILE: its value, and what is said before the report. Pools
// ask it when they are made. record.cpp measures.
#include "runtime/profile/profile.hpp"

#include "runtime/profile/measured_worker.hpp"

#include "runtime/fork_generation.hpp"
#include "runtime/profile/report.hpp"
#include "runtime/profile/summary.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

namespace filch::runtime::profile {

measured_worker::~measured_worker() = default;

namespace {

unsigned seconds_of_patience = 5;
steal_rule rule_of_steals = steal_rule::leapfrog;

}  // namespace

bool is_asked_for() {
  char const* const value = secure_getenv("FILCH_PROFILE");  // it names a file to write, and runs a program
  if (!value || std::string_view(value) == "0") return false;
  if (*value == '\0') refuse("FILCH_PROFILE", value, "1, or the name of a file");
  static std::once_flag once;
  std::call_once(once, [value] {
    if (char const* const seconds = std::getenv("FILCH_PROFILE_TIMEOUT"))
      seconds_of_patience = static_cast<unsigned>(parse_number("FILCH_PROFILE_TIMEOUT", seconds, 0, 1'000'000));
    report_goes_to(value);
    std::atexit(report);
  });
  return true;
}

void say_not_measured(char const* scheduler) {
  static std::mutex mutex;
  static auto* const said = new std::vector<std::string>;
  std::lock_guard const lock(mutex);
  if (std::find(said->begin(), said->end(), scheduler) != said->end()) return;
  said->emplace_back(scheduler);
  std::fprintf(stderr,
               "filch: FILCH_PROFILE does not measure pools of %s; run the program with a scheduler that "
               "docs/profiling.md names\n",
               scheduler);
}

settings for_measuring(settings s) {
  constexpr std::size_t k_times = 8;
  constexpr std::size_t k_most = std::size_t{1} << 32;
  if (fork_generation() != 0) s.profile = false;
  if (s.profile && s.stack_size < k_most) s.stack_size *= k_times;
  return s;
}

void calibrated_by(std::function<void()> const& calibrate) {
  double const before = process_time();
  calibrate();
  not_of_the_program(process_time() - before);
  static std::once_flag once;
  std::call_once(once, [] { watch_progress(seconds_of_patience); });
}

void set_steals(steal_rule rule, cycles cost) noexcept {
  rule_of_steals = rule;
  if (cost == 0) return;
  calibrated.burdens[0] = cost;
  calibrated.steal_is_measured = true;
}

speedup predicted_speedup(fork_tree const& tree, unsigned workers, double most_effort) {
  double const steal = calibrated.ns(calibrated.burdens[0]);
  // The measured cost is that of a whole join: the steal, the task's way back to its owner, and the owner's notice.
  steal_costs const costs{.fork = 2,
                          .probe = 50,
                          .steal = 0.6 * steal,
                          .victim = 0.1 * steal,
                          .joined = 0.4 * steal,
                          .wakeup = 10'000,
                          .searches = 20'000,
                          .growth = 0.2};
  double work = 0;
  for (auto const& r : tree.runs) work += static_cast<double>(r.times) * tree.work_ns(r.task);
  prediction const p = predict(tree, costs, rule_of_steals, workers, 1, most_effort);
  return {p.ns > 0 ? work / p.ns : 1, p.simulated, p.effort};
}

void set_uncertainty(double cycles_of_segment) noexcept {
  constexpr double k_least_ns = 2;  // calls and returns of a program's own code cost more or less than empty ones
  calibrated.uncertain = std::max(cycles_of_segment, k_least_ns * calibrated.cycles_per_ns);
}

}  // namespace filch::runtime::profile
