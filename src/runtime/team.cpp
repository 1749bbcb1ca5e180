#include "runtime/team.hpp"

#include "os/linux/futex.hpp"
#include "os/linux/overflow.hpp"
#include "os/linux/processors.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pools.hpp"
#include "runtime/stack.hpp"
#include "runtime/statistics.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>

namespace filch::runtime {

namespace {

// An idle worker spins for about as long as waking it would take, then sleeps.
constexpr auto k_spin_time = std::chrono::microseconds(100);
// Where there are more workers than processors, spinning takes time from those that work.
constexpr auto k_spin_time_oversubscribed = std::chrono::microseconds(10);
constexpr unsigned k_looks_between_clock_reads = 8;
constexpr unsigned k_looks_between_yields = 8;
constexpr unsigned k_relaxes_between_looks = 16;
// From so many on, a microsecond or two, owners hear of it.
constexpr unsigned k_looks_until_counted = 4;

constexpr std::size_t k_smallest_fallback_stack = std::size_t{1} << 20;

}  // namespace

namespace {

// Filled once, then only read: the count is released after the entry.
constexpr unsigned k_hideable_most = 8;
std::array<hideable, k_hideable_most> all_hideable;
std::atomic<unsigned> hideables{0};
std::mutex adding_hideable;

/// How many teams the calling thread works for: tasks run on it, if any. It comes back from each on its own stack.
thread_local unsigned teams_entered = 0;

class hidden_workers {
 public:
  hidden_workers() noexcept {
    unsigned const n = hideables.load(std::memory_order_acquire);
    for (unsigned i = 0; i < n; ++i) is_kept_[i] = all_hideable[i].hide(rooms_[i].bytes);
  }
  hidden_workers(hidden_workers const&) = delete;
  hidden_workers& operator=(hidden_workers const&) = delete;
  ~hidden_workers() {
    for (unsigned i = k_hideable_most; i-- > 0;) {
      if (is_kept_[i]) all_hideable[i].show(rooms_[i].bytes);
    }
  }

 private:
  struct room {
    alignas(64) std::byte bytes[hideable::k_room];
  };
  std::array<room, k_hideable_most> rooms_;
  std::array<bool, k_hideable_most> is_kept_{};
};

}  // namespace

void hide_on_entry(hideable h) {
  auto const is_there = [h] {
    auto const* const end = all_hideable.begin() + hideables.load(std::memory_order_acquire);
    return std::any_of(all_hideable.cbegin(), end, [h](hideable const& other) { return other.hide == h.hide; });
  };
  // Before the lock, which in a child of fork() may be held by nobody who is there.
  if (is_there()) return;
  std::lock_guard const lock(adding_hideable);
  if (is_there()) return;
  unsigned const n = hideables.load(std::memory_order_relaxed);
  all_hideable.at(n) = h;
  hideables.store(n + 1, std::memory_order_release);
}

/// A call that waits for a worker, in its caller's frame. Whoever takes it out of the line owns it.
struct team::visitor {
  enum : std::uint32_t { waiting, place_is_yours, done };
  void (*call)(void*);
  void* argument;
  std::atomic<std::uint32_t> state{waiting};

  /// edge entry-1: what was done before is seen by the waiting caller. *this may be gone afterwards.
  void tell(std::uint32_t what) noexcept {
    state.store(what, std::memory_order_release);
    os::futex_wake(state);
  }
};

void spin_wait::once() noexcept {
  if (turns_ < k_spins) {
    ++turns_;
    relax();
  } else {
    std::this_thread::yield();
  }
}

team::team(settings s, bool tolerate_missing_threads, bytes_beside const& beside)
    : settings_(std::move(s)),
      tolerate_missing_threads_(tolerate_missing_threads),
      fork_generation_(runtime::fork_generation()),
      counters_(std::make_unique<counters[]>(settings_.workers)),
      idle_(settings_.workers) {
  oversubscribed_ = settings_.workers > settings_.available;
  page_faults_before_ = os::page_faults();
  os::install_overflow_handler();
  reserve_spaces(beside);
}

team::~team() = default;

void team::reserve_spaces(bytes_beside const& beside) {
  stack_size_ = settings_.stack_size;
  for (;;) {
    spaces_.clear();
    while (spaces_.size() < settings_.workers) {
      // As much for what the scheduler keeps of each nested fork as for the stack.
      spaces_.emplace_back(stack_size_, stack_size_ + k_most_member_bytes);
      if (!spaces_.back().valid()) break;
    }
    int const why = errno;
    bool const is_last = settings_.stack_size_is_asked_for || stack_size_ / 2 < k_smallest_fallback_stack;
    bool const is_valid = spaces_.back().valid();
    if (is_valid && (is_last || !beside || os::can_reserve(settings_.workers * beside(stack_size_)))) return;
    if (is_last) {
      throw setup_error("filch: can't reserve " + std::to_string(settings_.workers) + " stacks of " +
                        std::to_string(stack_size_ / 1024) + " KiB (" + os::describe_errno(why) +
                        "): lower FILCH_STACK_SIZE or FILCH_NUM_THREADS, or raise the limit (ulimit -v)");
    }
    stack_size_ /= 2;
  }
}

void team::start() {
  try {
    threads_.reserve(settings_.workers - 1);
    for (unsigned i = 1; i < settings_.workers && start_thread(i); ++i) {
    }
    register_team(*this, settings_.stats);
  } catch (...) {
    // The scheduler's part goes next: nobody may call its hooks any more.
    end_threads();
    throw;
  }
}

bool team::start_thread(unsigned i) {
  try {
    idle_.looks(i);  // on behalf of the thread, which may take its time
    threads_.emplace_back([this, i] { thread_main(i); });
    return true;
  } catch (std::system_error const& e) {
    idle_.has_work(i);
    std::string const what = "filch: could not start the thread of worker " + std::to_string(i) + " of " +
                             std::to_string(settings_.workers) + " (" + os::describe_errno(e.code().value()) + ")";
    if (!tolerate_missing_threads_) {
      throw setup_error(what + ": lower FILCH_NUM_THREADS or pool_options::workers, or raise ulimit -u");
    }
    std::fprintf(stderr, "%s; going on with %u\n", what.c_str(), i);
    // Workers without a thread never announce themselves and never have work: they are only looked at.
    return false;
  }
}

bool team::wait_for_callers() noexcept {
  // edge entry-4: acquire, all that callers did before they left.
  std::uint32_t inside = callers_.fetch_or(k_is_waited_for, std::memory_order_acquire) | k_is_waited_for;
  for (; inside != k_is_waited_for; inside = callers_.load(std::memory_order_acquire)) {
    if (teams_entered != 0) return false;
    os::futex_wait(callers_, inside);
  }
  return true;
}

void team::stop() noexcept {
  end_threads();
  retire_team(*this);
}

void team::end_threads() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  for (unsigned i = 1; i < settings_.workers; ++i) idle_.wake(i);
  for (auto& t : threads_) t.join();
  threads_.clear();
}

bool team::alive() const noexcept { return fork_generation_ == runtime::fork_generation(); }

pool_stats team::stats_of(unsigned worker) const noexcept {
  pool_stats sum;
  counters_[worker].add_to(sum);
  sum.forks = forks_of(worker);
  sum.stack_bytes = stack_size_;
  return sum;
}

pool_stats team::stats() const noexcept {
  pool_stats sum;
  for (unsigned i = 0; i < settings_.workers; ++i) {
    counters_[i].add_to(sum);
    sum.forks += forks_of(i);
  }
  add_to(sum);
  sum.page_faults = os::page_faults() - page_faults_before_;
  sum.stack_bytes = stack_size_;
  return sum;
}

// ---- a worker's life --------------------------------------------------------------------------

void team::thread_main(unsigned me) {
  os::need_signal_stack();
  ++teams_entered;
  if (settings_.pin) {
    int const processor = settings_.processors[me % settings_.processors.size()];
    if (!os::bind_to_processor(processor)) {
      std::fprintf(stderr, "filch: worker %u can't be bound to processor %d; it runs anywhere\n", me, processor);
    }
  }
  struct self {
    team* t;
    unsigned me;
  } s{this, me};
  be_worker(
      me,
      [](void* p) {
        auto const& who = *static_cast<self*>(p);
        who.t->work_until(who.me, who.t->stopping_);
      },
      &s);
}

void team::run_call(unsigned, void (*call)(void*), void* argument) { call(argument); }

void team::work_until(unsigned me, std::atomic<bool> const& stop) {
  using clock = std::chrono::steady_clock;
  auto const spin_time = oversubscribed_ ? k_spin_time_oversubscribed : k_spin_time;
  unsigned const looks_until_counted = oversubscribed_ ? 0 : k_looks_until_counted;  // it may be long until the next
  unsigned looks = 0;
  bool was_woken = false;
  clock::time_point since{};
  clock::time_point next_to_insist{};
  // edge entry-1: acquire, from who set it. It is looked at again, in order, before every sleep.
  while (!stop.load(std::memory_order_acquire)) {
    if (!alive()) child_can_t_go_on();
    if (run_visitor(me) || steal_and_run(me)) {
      looks = 0;
      was_woken = false;
      continue;
    }
    if (looks == looks_until_counted) idle_.looks(me);
    if (looks % k_looks_between_clock_reads == 0) {
      auto const now = clock::now();
      if (looks == 0) {
        since = now;
        next_to_insist = now + spin_time / 2;
      }
      if (now >= next_to_insist) {
        // A few times: who could not answer the first time, may.
        static_cast<void>(insist(me));
        next_to_insist = now + spin_time / 8;
      }
      if (now - since >= spin_time) {
        was_woken = sleep_until_work(me, stop);
        looks = 0;
        continue;
      }
    }
    pause_between_looks(looks++);
  }
  idle_.has_work(me);
  // Perhaps not for this: who leaves has somebody else look.
  if (was_woken && idle_.anybody()) static_cast<void>(idle_.wake_one());
}

void team::pause_between_looks(unsigned looks) const noexcept {
  // The processor may be wanted by the very worker whose tasks one waits for.
  if (oversubscribed_ || looks % k_looks_between_yields == k_looks_between_yields - 1) {
    std::this_thread::yield();
  } else {
    for (unsigned i = 0; i < k_relaxes_between_looks; ++i) relax();
  }
}

bool team::sleep_until_work(unsigned me, std::atomic<bool> const& stop) {
  idle_.announce(me);
  ask_everybody(me);
  auto const at_most = insist(me);
  // Sooner than it could be woken.
  bool const comes_again = at_most < k_spin_time / 2;
  // edge idle-1: the last look, after the announcement.
  if (comes_again || stop.load(std::memory_order_seq_cst) || visitors_waiting_.load(std::memory_order_seq_cst) != 0 ||
      sees_work(me)) {
    return !idle_.retract(me) || at_most != k_until_woken;
  }
  counted(me).sleeps.bump();
  if (at_most == k_until_woken) {
    idle_.sleep(me);
  } else {
    idle_.sleep_for(me, at_most);
  }
  return true;
}

// ---- the way in -------------------------------------------------------------------------------

bool team::take_place_zero() noexcept {
  bool free = false;
  // edge entry-2: acquire, from the last one who left.
  // edge entry-3: seq_cst, also where the place is taken: a caller has put itself in line before.
  return place_zero_taken_.compare_exchange_strong(free, true, std::memory_order_seq_cst, std::memory_order_seq_cst);
}

void team::leave_place_zero() noexcept {
  if (!alive()) return;  // nobody waits, and the line's lock may be held by nobody
  // edge entry-2 (release), and entry-3: the place is free before the line is looked at.
  place_zero_taken_.store(false, std::memory_order_seq_cst);
  if (visitors_waiting_.load(std::memory_order_seq_cst) == 0) return;
  visitor* next = nullptr;
  {
    std::lock_guard const lock(line_mutex_);
    if (line_.empty() || !take_place_zero()) return;
    next = take_from_line(line_.begin());
  }
  next->tell(visitor::place_is_yours);
}

team::visitor* team::take_from_line(std::deque<visitor*>::iterator at) noexcept {
  visitor* const v = *at;
  line_.erase(at);
  // relaxed: too high for a moment makes somebody look in vain.
  visitors_waiting_.fetch_sub(1, std::memory_order_relaxed);
  return v;
}

/// While this lives, the team does.
class team::caller {
 public:
  explicit caller(team& t) noexcept : callers_(t.callers_) { callers_.fetch_add(1, std::memory_order_relaxed); }
  caller(caller const&) = delete;
  caller& operator=(caller const&) = delete;
  ~caller() {
    // edge entry-4: release. The team may be gone afterwards: only the address is used.
    if (callers_.fetch_sub(1, std::memory_order_release) == (k_is_waited_for | 1)) os::futex_wake(callers_);
  }

 private:
  std::atomic<std::uint32_t>& callers_;
};

void team::enter(void (*call)(void*), void* argument) {
  caller const inside(*this);
  hidden_workers const others;  // before it waits: what was forked further out would wait as well
  if (take_place_zero()) {
    visit_as_worker_zero(call, argument);
    return;
  }
  visitor v{call, argument};
  wait_in_line(v);
  if (v.state.load(std::memory_order_acquire) == visitor::place_is_yours) visit_as_worker_zero(call, argument);
}

void team::wait_in_line(visitor& v) {
  {
    std::lock_guard const lock(line_mutex_);
    line_.push_back(&v);
    // edge entry-3: in line before the place is tried again; and idle-1: offered before anybody is woken.
    visitors_waiting_.fetch_add(1, std::memory_order_seq_cst);
    // Whoever is first in line gets the place if it was just left.
    if (take_place_zero()) take_from_line(line_.begin())->tell(visitor::place_is_yours);
  }
  static_cast<void>(idle_.wake_one());
  for (spin_wait spin(oversubscribed_); spin.turns() < 64; spin.once()) {
    if (v.state.load(std::memory_order_acquire) != visitor::waiting) return;
  }
  // edge entry-1: acquire, from tell().
  while (v.state.load(std::memory_order_acquire) == visitor::waiting) os::futex_wait(v.state, visitor::waiting);
}

void team::visit_as_worker_zero(void (*call)(void*), void* argument) {
  os::need_signal_stack();
  ++teams_entered;
  be_worker(0, call, argument);
  --teams_entered;
  leave_place_zero();
}

bool team::run_visitor(unsigned me) {
  // relaxed: a hint; a worker about to sleep looks again, in order.
  if (visitors_waiting_.load(std::memory_order_relaxed) == 0) return false;
  visitor* v = nullptr;
  {
    std::lock_guard const lock(line_mutex_);
    if (line_.empty()) return false;
    v = take_from_line(line_.begin());
  }
  idle_.has_work(me);
  run_call(
      me,
      [](void* p) {
        auto* const self = static_cast<visitor*>(p);
        self->call(self->argument);
        self->tell(visitor::done);  // *self may be gone
      },
      v);
  return true;
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

void answer_workers() noexcept {
  using namespace runtime;
  unsigned const n = hideables.load(std::memory_order_acquire);
  for (unsigned i = 0; i < n; ++i) all_hideable[i].answer();
}

}  // namespace filch::inline FILCH_ABI::detail
