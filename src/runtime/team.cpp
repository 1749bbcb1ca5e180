#include "runtime/team.hpp"

#include <filch/blocking.hpp>

#include "os/linux/futex.hpp"
#include "os/linux/overflow.hpp"
#include "os/linux/processors.hpp"
#include "runtime/fork_generation.hpp"
#include "runtime/pools.hpp"
#include "runtime/stack.hpp"
#include "runtime/statistics.hpp"
#include "runtime/steal_pace.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <string>
#include <system_error>

namespace filch::runtime {

namespace {

// An idle worker spins for about as long as waking it would take, then sleeps (docs/decisions/0003-spinning.md).
constexpr auto k_spin_time = std::chrono::microseconds(100);
// Where there are more workers than processors, spinning takes time from those that work.
constexpr auto k_spin_time_oversubscribed = std::chrono::microseconds(10);
constexpr unsigned k_looks_between_clock_reads = 8;
constexpr unsigned k_looks_between_yields = 8;
constexpr unsigned k_relaxes_between_looks = 16;
// From so many on, a microsecond or two, owners hear of it.
constexpr unsigned k_looks_until_counted = 4;

// Where each join is a steal, tiny tasks are, too.
#if defined(FILCH_FORCE_STEAL)
constexpr bool k_steals_at_any_pace = true;
#else
constexpr bool k_steals_at_any_pace = false;
#endif

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

/// Threads that work while workers wait in the system. Each begins to work where fewer of them work than workers
/// wait, and ends after the task at hand where more do.
struct team::stand_ins {
  std::mutex mutex;
  std::condition_variable wanted;
  // under mutex
  unsigned blocked = 0;  // workers that wait
  unsigned working = 0;  // stand-ins that work, and were not told to leave
  unsigned busy = 0;     // the same, and those that were
  bool is_over = false;
  std::vector<std::thread> threads;
  struct state {
    bool works = false;  // under mutex
    std::atomic<bool> leaves{false};
  };
  std::array<state, places::k_stand_ins_most> each;

  bool should_work() const noexcept { return working < blocked; }
  void end() noexcept {
    {
      std::lock_guard const lock(mutex);
      is_over = true;
    }
    wanted.notify_all();
    for (auto& t : threads) t.join();
    threads.clear();
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
      places_(settings_.workers),
      spaces_(places_.all()),
      idle_(places_.all()),
      stand_ins_(std::make_unique<stand_ins>()) {
  counters_ = std::make_unique<counters[]>(places_.all());
  spare_stacks_.reserve(places::k_callers);
  page_faults_before_ = os::page_faults();
  os::install_overflow_handler();
  reserve_spaces(beside);
}

team::~team() = default;

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

/// As much for what the scheduler keeps of each nested fork as for the stack.
worker_space team::reserve_space() const noexcept { return {stack_size_, stack_size_ + k_most_member_bytes}; }

void team::start() {
  places_.make(0);
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
  work_as(me, stopping_);
}

void team::work_as(unsigned me, std::atomic<bool> const& stop) {
  struct work {
    team& of;
    unsigned me;
    std::atomic<bool> const& stop;
  } w{*this, me, stop};
  be_worker(
      me,
      [](void* p) {
        auto const& mine = *static_cast<work*>(p);
        mine.of.work_until(mine.me, mine.stop);
      },
      &w);
}

void team::work_until(unsigned me, std::atomic<bool> const& stop) {
  using clock = std::chrono::steady_clock;
  // Callers come and go: asked anew for each stretch of looks.
  auto spin_time = k_spin_time;
  unsigned looks_until_counted = k_looks_until_counted;
  unsigned looks = 0;
  bool was_woken = false;
  steal_pace pace(cost_of_steal());
  clock::time_point since{};
  clock::time_point next_to_insist{};
  // edge entry-1: acquire, what was done before. It is looked at again, in order, before every sleep.
  while (!stop.load(std::memory_order_acquire)) {
    if (!alive()) child_can_t_go_on();
    cycles const begin = k_steals_at_any_pace ? 0 : time_stamp();
    if (pace.waits(begin)) {
      relax();
      continue;
    }
    if (steal_and_run(me)) {
      if (!k_steals_at_any_pace && !keeps_accounts()) {
        cycles const end = time_stamp();
        pace.task_ran(end, end - begin);
      }
      looks = 0;
      was_woken = false;
      continue;
    }
    if (looks == 0) {
      spin_time = oversubscribed() ? k_spin_time_oversubscribed : k_spin_time;
      looks_until_counted = oversubscribed() ? 0 : k_looks_until_counted;  // it may be long until the next look
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
  // The wake-up may have been for an offer: another worker looks for it. A caller's was for its own call, which is
  // done.
  if (was_woken && !places_.is_callers(me) && idle_.anybody()) static_cast<void>(idle_.wake_one());
}

void team::pause_between_looks(unsigned looks) const noexcept {
  // The processor may be wanted by the very worker whose tasks one waits for.
  if (oversubscribed() || looks % k_looks_between_yields == k_looks_between_yields - 1) {
    std::this_thread::yield();
  } else {
    for (unsigned i = 0; i < k_relaxes_between_looks; ++i) relax();
  }
}

bool team::sleep_until_work(unsigned me, std::atomic<bool> const& stop) {
  // Before it is announced: whoever wakes it would wait for this.
  auto const again_in = give_back_pages(me, __builtin_frame_address(0), worker_space::when::sleeps);
  if (places_.is_callers(me)) {
    idle_.announce_for_root(me);
  } else {
    idle_.announce(me);
  }
  ask_everybody(me);
  auto const at_most = insist(me);
  // Sooner than it could be woken.
  bool const comes_again = at_most < k_spin_time / 2;
  // edge idle-1: the last look, after the announcement.
  bool const is_owed = at_most != k_until_woken;
  if (comes_again || stop.load(std::memory_order_seq_cst) || sees_work(me)) return !idle_.retract(me) || is_owed;
  counted(me).sleeps.bump();
  auto const limit = again_in > again_in.zero() ? std::min(again_in, at_most) : at_most;
  if (limit != k_until_woken) return idle_.sleep_for(me, limit) || is_owed;
  idle_.sleep(me);
  return true;
}

std::chrono::nanoseconds team::give_back_pages(unsigned me, void* stack_in_use, worker_space::when now) noexcept {
  auto const [is_done, again_in] =
      spaces_[me].give_back(static_cast<std::byte*>(stack_in_use), unused_above(me), settings_.give_back, now);
  if (is_done) counters_[me].give_backs.bump();
  return again_in;
}

// ---- the way in -------------------------------------------------------------------------------

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
  hidden_workers const others;
  os::need_signal_stack();
  ++teams_entered;
  unsigned const place = places_.enter();
  if (place != places::k_none && has_memory(place)) {
    be_worker(place, call, argument);
  } else {
    enter_in_order(call, argument);
  }
  --teams_entered;
  // In a child of fork() the place is the parent's, and so is whatever waits there.
  if (place == places::k_none || !alive()) return;
  if (places_.is_made(place))
    static_cast<void>(give_back_pages(place, spaces_[place].middle(), worker_space::when::leaves));
  places_.leave(place);
}

/// Makes the place's memory at its first use. By the thread that has entered it.
bool team::has_memory(unsigned place) noexcept {
  if (places_.is_made(place)) return true;
  spaces_[place] = reserve_space();
  if (!spaces_[place].valid()) return false;
  make_place(place);
  places_.make(place);
  return true;
}

/// All callers' places are in use: a recursion that fits a pool's stack must fit here, too.
void team::enter_in_order(void (*call)(void*), void* argument) {
  struct entry {
    team& of;
    void (*call)(void*);
    void* argument;
  } e{*this, call, argument};
  worker_space stack;
  {
    std::lock_guard const lock(spare_mutex_);
    if (!spare_stacks_.empty()) {
      stack = std::move(spare_stacks_.back());
      spare_stacks_.pop_back();
    }
  }
  if (!stack.valid()) stack = worker_space(stack_size_, 0);
  if (!stack.valid()) {
    run_in_order(call, argument);
    return;
  }
  call_on(
      stack, all_places(),
      [](void* p) {
        auto const& mine = *static_cast<entry*>(p);
        mine.of.run_in_order(mine.call, mine.argument);
      },
      &e);
  if (!alive()) return;  // the lock may be held by nobody
  std::lock_guard const lock(spare_mutex_);
  if (spare_stacks_.size() < spare_stacks_.capacity()) spare_stacks_.push_back(std::move(stack));
}

// ---- stand-ins --------------------------------------------------------------------------------

void team::begin_blocking() noexcept {
  if (!alive()) return;
  stand_ins& s = *stand_ins_;
  std::lock_guard const lock(s.mutex);
  ++s.blocked;
  waits_in_system(true);
  if (!s.should_work()) return;
  if (s.busy < s.threads.size()) {
    s.wanted.notify_one();
  } else if (s.threads.size() < places_.stand_ins()) {
    try {
      s.threads.emplace_back([this, number = static_cast<unsigned>(s.threads.size())] { stand_in(number); });
    } catch (std::exception const&) {  // one worker fewer for a while
    }
  }
}

void team::end_blocking() noexcept {
  if (!alive()) return;
  stand_ins& s = *stand_ins_;
  waits_in_system(false);
  std::lock_guard const lock(s.mutex);
  --s.blocked;
  if (s.working <= s.blocked) return;
  for (unsigned i = 0; i < s.each.size(); ++i) {
    if (!s.each[i].works || s.each[i].leaves.load(std::memory_order_relaxed)) continue;  // relaxed: under the mutex
    --s.working;
    // edge entry-1: release. edge idle-1: seq_cst, before the look whether it sleeps.
    s.each[i].leaves.store(true, std::memory_order_seq_cst);
    idle_.wake(places_.stand_in(i));
    return;
  }
}

/// The life of such a thread.
void team::stand_in(unsigned number) noexcept {
  os::need_signal_stack();
  ++teams_entered;
  stand_ins& s = *stand_ins_;
  unsigned const place = places_.stand_in(number);
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.wanted.wait(lock, [&s] { return s.is_over || s.should_work(); });
    if (s.is_over) return;
    stand_ins::state& mine = s.each[number];
    ++s.working;
    ++s.busy;
    mine.works = true;
    mine.leaves.store(false, std::memory_order_relaxed);  // relaxed: under the mutex
    lock.unlock();
    places_.enter_as_stand_in(place);
    bool const has_place = has_memory(place);
    if (has_place) work_as(place, mine.leaves);
    places_.leave(place);
    lock.lock();
    mine.works = false;
    --s.busy;
    if (!mine.leaves.load(std::memory_order_relaxed)) --s.working;
    if (!has_place) return;
  }
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

void serve_all_thieves() noexcept {
  using namespace runtime;
  unsigned const n = hideables.load(std::memory_order_acquire);
  for (unsigned i = 0; i < n; ++i) all_hideable[i].answer();
}

blocked_workers::blocked_workers() noexcept {
  using namespace runtime;
  unsigned const n = hideables.load(std::memory_order_acquire);
  for (unsigned i = 0; i < n; ++i) {
    team* const of = all_hideable[i].block();
    if (!of || number_ == k_most) continue;
    teams_[number_++] = of;
    of->begin_blocking();
  }
}

blocked_workers::~blocked_workers() {
  while (number_ > 0) static_cast<runtime::team*>(teams_[--number_])->end_blocking();
}

}  // namespace filch::inline FILCH_ABI::detail
