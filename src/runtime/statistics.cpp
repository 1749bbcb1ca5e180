// The table of FILCH_STATS=1: the list of live teams, the figures of ended ones, and the print at exit.
// Teams register at their start and retire at their end.
#include "runtime/statistics.hpp"

#include "runtime/fork_generation.hpp"
#include "runtime/team.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace filch::runtime {
namespace {

struct section {
  std::string title;
  std::vector<std::pair<unsigned, pool_stats>> workers;  // by place
  pool_stats whole;
  std::string own;  // the scheduler's counters
};

struct list_of_pools {
  std::vector<team*> live;
  std::vector<section> finished;
  list_of_pools* of_parent = nullptr;
};
struct registry {
  std::mutex mutex;
  // under mutex
  list_of_pools* pools = new list_of_pools;
  bool print = false;
};

// Never destroyed: teams may outlive static destruction.
registry& the_registry() {
  static registry* const r = new registry;
  return *r;
}
// Made when the library is loaded: a child that was forked during another thread's first call would wait for that
// thread for ever.
[[maybe_unused]] registry const& made_early = the_registry();

section figures_of(team const& t, unsigned number) {
  section s;
  s.title = std::string("pool ") + std::to_string(number) + " (" + t.scheduler_name() + ", " +
            std::to_string(t.workers()) + " workers)";
  for (unsigned i = 0; i < t.all_places(); ++i) {
    if (t.was_used(i)) s.workers.emplace_back(i, t.stats_of(i));
  }
  s.whole = t.stats();
  s.own = t.own_figures();
  return s;
}

void print_row(char const* who, pool_stats const& w) {
  std::fprintf(stderr,
               "%8s %12" PRIu64 " %12" PRIu64 " %14" PRIu64 " %9" PRIu64 " %9" PRIu64 " %13" PRIu64 " %8" PRIu64
               " %8" PRIu64 " %11" PRIu64 " %10" PRIu64 "\n",
               who, w.forks, w.steals, w.failed_steals, w.backoffs, w.leapfrogs, w.publications, w.sleeps, w.wakeups,
               w.suspensions, w.give_backs);
}

void print_section(section const& s) {
  std::fprintf(stderr, "filch: %s\n%8s %12s %12s %14s %9s %9s %13s %8s %8s %11s %10s\n", s.title.c_str(), "worker",
               FILCH_COUNT_FORKS ? "forks" : "forks (off)", "steals", "failed steals", "back-offs", "leapfrogs",
               "publications", "sleeps", "wake-ups", "suspensions", "give-backs");
  for (auto const& [place, counted] : s.workers) print_row(std::to_string(place).c_str(), counted);
  print_row("all", s.whole);
  if (!s.own.empty()) std::fprintf(stderr, "%8s %s\n", "", s.own.c_str());
  std::fprintf(stderr, "%8s %" PRIu64 " page faults of the process\n", "", s.whole.page_faults);
}

void print_at_exit() {
  registry& r = the_registry();
  std::lock_guard const lock(r.mutex);
  for (auto const& s : r.pools->finished) print_section(s);
  unsigned number = static_cast<unsigned>(r.pools->finished.size());
  for (team const* t : r.pools->live) print_section(figures_of(*t, ++number));
}

void forget_in_child() {
  registry& r = the_registry();
  // Another thread of the parent may have held the lock, and may have been changing the lists, which are not read
  // again.
  ::new (static_cast<void*>(&r.mutex)) std::mutex;
  r.pools = new list_of_pools{.live = {}, .finished = {}, .of_parent = r.pools};
}

}  // namespace

void register_team(team& t, bool print) {
  registry& r = the_registry();
  watch_forks(forget_in_child);
  std::lock_guard const lock(r.mutex);
  r.pools->live.push_back(&t);
  if (print && !r.print) {
    r.print = true;
    std::atexit(print_at_exit);
  }
}

void retire_team(team& t) noexcept {
  registry& r = the_registry();
  std::lock_guard const lock(r.mutex);
  auto const found = std::find(r.pools->live.begin(), r.pools->live.end(), &t);
  if (found == r.pools->live.end()) return;
  r.pools->live.erase(found);
  if (!r.print) return;
  try {
    r.pools->finished.push_back(figures_of(t, static_cast<unsigned>(r.pools->finished.size()) + 1));
  } catch (std::bad_alloc const&) {  // a table without this pool
  }
}

}  // namespace filch::runtime
