// A team's memory and threads: construction, start, stop, and the sums of its workers' counters. Called by the
// constructors and destructors of the schedulers' pools.
#include "runtime/team.hpp"

#include "os/linux/memory.hpp"
#include "os/linux/overflow.hpp"
#include "os/linux/processors.hpp"
#include "runtime/checks.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pools.hpp"
#include "runtime/profile/measured_worker.hpp"
#include "runtime/profile/profile.hpp"
#include "runtime/statistics.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace filch::runtime {

namespace {

constexpr std::size_t k_smallest_fallback_stack = std::size_t{1} << 20;
// Stacks that are kept for callers past the last place, each with worker_space::k_kept_bytes in memory at most. While
// one is made, other threads that make one or touch a new page wait.
constexpr std::size_t k_spare_stacks_most = 128;

}  // namespace

team::team(settings s, bool tolerate_missing_threads, bytes_beside const& beside)
    : settings_(std::move(s)),
      tolerate_missing_threads_(tolerate_missing_threads),
      fork_generation_((count_forks(), runtime::fork_generation())),
      places_(settings_.workers),
      spaces_(places_.all()),
      idle_(places_.all()),
      stand_ins_(std::make_unique<stand_ins>()) {
  counters_ = std::make_unique<counters[]>(places_.all());
  wake_paces_ = std::make_unique<wake_pace[]>(places_.all());
  stolen_ = std::make_unique<stolen_task[]>(places_.all());
  spare_stacks_.reserve(k_spare_stacks_most);
  if (settings_.profile) profiles_.resize(places_.all());
  page_faults_before_ = os::page_faults();
  static_cast<void>(os::own_page_faults());  // the first call learns once what the system counts, before any fork
  os::install_overflow_handler();
  reserve_spaces(beside);
}

team::~team() {
  if (trace_) trace::pool_ends(*trace_);
}

void team::reserve_spaces(bytes_beside const& beside) {
  stack_size_ = settings_.stack_size;
  for (;;) {
    bool is_valid = true;
    for (unsigned i = 0; i < settings_.workers && is_valid; ++i) {
      spaces_[i] = reserve_space();
      is_valid = spaces_[i].valid();
    }
    int const why = errno;
    bool const is_last = settings_.stack_size_is_asked_for || stack_size_ / 2 < k_smallest_fallback_stack;
    if (is_valid && (is_last || !beside || os::can_reserve(settings_.workers * beside(stack_size_)))) return;
    if (is_last) {
      throw setup_error("filch: can't reserve " + std::to_string(settings_.workers) + " stacks of " +
                        std::to_string(stack_size_ / 1024) + " KiB (" + os::describe_errno(why) +
                        "): lower FILCH_STACK_SIZE or FILCH_NUM_THREADS, or raise the limit (ulimit -v)");
    }
    for (auto& space : spaces_) space = {};
    stack_size_ /= 2;
  }
}

/// The scheduler's part, which grows with nested forks, has as much room as the stack.
worker_space team::reserve_space() const noexcept { return {stack_size_, stack_size_ + k_most_member_bytes}; }

void team::begin_trace() {
  trace_ = &trace::record_pool({.scheduler = scheduler_name(),
                                .workers = workers(),
                                .threads = places_.threads(),
                                .callers = places::k_callers,
                                .places = all_places()});
}

void team::start() {
  paces_.assign(places_.all(), {cost_of_steal(), workers_at_once(workers(), settings_.available)});
  places_.make(0);
  if (settings_.trace) begin_trace();
  if (settings_.profile && !is_measured()) profile::say_not_measured(scheduler_name());
  unsigned const workers_to_start = is_measured() ? 1 : settings_.workers;
  try {
    threads_.reserve(workers_to_start - 1);
    for (unsigned i = 1; i < workers_to_start && start_thread(i); ++i) {
    }
    if (settings_.is_the_programs) register_team(*this, settings_.stats);
  } catch (...) {
    // The scheduler's part goes next: no thread may call its hooks any more.
    end_threads();
    throw;
  }
}

bool team::start_thread(unsigned i) {
  try {
    idle_.looks(i);  // on behalf of the thread, which may take its time
    // It begins with this thread's affinity mask, which is the program's, unless another pool has bound this thread.
    threads_.emplace_back([this, i, begins_bound = os::is_bound()] {
      if (begins_bound) os::run_on_all(settings_.processors);
      thread_main(i);
    });
    return true;
  } catch (std::system_error const& e) {
    idle_.has_work(i);
    std::string const what = "filch: could not start the thread of worker " + std::to_string(i) + " of " +
                             std::to_string(settings_.workers) + " (" + os::describe_errno(e.code().value()) + ")";
    if (!tolerate_missing_threads_) {
      throw setup_error(what + ": lower FILCH_NUM_THREADS or pool_options::workers, or raise ulimit -u");
    }
    std::fprintf(stderr, "%s; continuing with %u workers\n", what.c_str(), i);
    // Workers without a thread never announce themselves and never have tasks.
    return false;
  }
}

void team::stop() noexcept {
  check("pool that ends", [this] { return team_checks::of_end(places_); });
  end_threads();
  retire_team(*this);
}

void team::end_threads() noexcept {
  stopping_.set();
  for (unsigned i = 1; i < settings_.workers; ++i) idle_.wake(i);
  for (auto& t : threads_) t.join();
  threads_.clear();
  stand_ins_->end();
}

bool team::alive() const noexcept { return fork_generation_ == runtime::fork_generation(); }

pool_stats team::stats_of(unsigned place) const noexcept {
  pool_stats sum;
  counters_[place].add_to(sum);
  sum.forks = forks_of(place);
  sum.stack_bytes = stack_size_;
  return sum;
}

pool_stats team::stats() const noexcept {
  pool_stats sum;
  for (unsigned i = 0; i < all_places(); ++i) {
    if (!was_used(i)) continue;
    counters_[i].add_to(sum);
    sum.forks += forks_of(i);
  }
  sum.page_faults = os::page_faults() - page_faults_before_;
  sum.stack_bytes = stack_size_;
  return sum;
}

}  // namespace filch::runtime
