// A team: the workers of a pool, their threads, and calls from outside. A scheduler derives from it: its hooks say
// how a worker finds a task; the team decides when a worker searches, spins, sleeps and stops. The parts:
//   team.cpp         memory, threads, start and stop, counts
//   worker_loop.cpp  searching, spinning, sleeping
//   entry.cpp        calls from outside
//   stand_ins.cpp    threads that work for blocked workers
//   task_sources.cpp task groups, whose tasks no frame owns
//   demand.hpp       wake-ups after an offer, offers without a request
//   nesting.cpp      workers of other schedulers
// Protocol: idle.md.
#pragma once

#include "runtime/account.hpp"
#include "runtime/caller_count.hpp"
#include "runtime/counters.hpp"
#include "runtime/group/spares.hpp"
#include "runtime/idle.hpp"
#include "runtime/nesting.hpp"
#include "runtime/places.hpp"
#include "runtime/serve_thieves.hpp"
#include "runtime/settings.hpp"
#include "runtime/spin.hpp"
#include "runtime/steal_pace.hpp"
#include "runtime/stolen_task.hpp"
#include "runtime/stop_flag.hpp"
#include "runtime/task_sources.hpp"
#include "runtime/trace/recorder.hpp"
#include "runtime/wake_pace.hpp"
#include "runtime/worker_space.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace filch::runtime {

namespace profile {
class measured_worker;
}
struct stand_ins;
struct unasked_offers;

/// Each thread that calls enter() works at a caller's place while its call lasts; the team's own threads have the
/// places 1 to workers() - 1.
class team {
 public:
  team(team const&) = delete;
  team& operator=(team const&) = delete;
  virtual ~team();

  /// Runs call(argument) on the calling thread, at a caller's place, and returns when it is done. If all such places
  /// are in use, the call runs in order on a stack of the pool's; without memory for that, on the caller's own.
  void enter(void (*call)(void*), void* argument);

  /// The calling thread, a worker of this team, is about to wait in the system: a stand-in works meanwhile.
  void begin_blocking() noexcept;
  void end_blocking() noexcept;

  /// Its workers take the tasks of s, of that root, while s is open.
  void attach(detail::task_source& s, std::uint16_t root) noexcept;

  /// Does a worker search that may take tasks of this root, awake or asleep? A hint for loops of long iterations: no
  /// request may have come.
  bool somebody_looks_for(std::uint16_t root) const noexcept {
    return idle_.somebody_looks() || idle_.sleeps_for_root(root);
  }
  /// Worker `me`, in a loop that it could split: is one of those that search awake, or does a rest of so many ticks
  /// pay for a wake-up?
  bool pays_to_wake(unsigned me, std::uint64_t ticks) const noexcept {
    return !idle_.all_sleep() || wake_paces_[me].pays(time_stamp(), static_cast<cycles>(ticks));
  }
  /// It did not, and the loop ran for so long.
  void ran_alone(unsigned me, std::uint64_t ticks) noexcept {
    wake_paces_[me].ran_alone(time_stamp(), static_cast<cycles>(ticks));
  }

  settings const& asked_for() const noexcept { return settings_; }
  unsigned workers() const noexcept { return settings_.workers; }
  /// The number of the pool's own threads. After start().
  unsigned threads() const noexcept { return static_cast<unsigned>(threads_.size()); }
  bool has_threads() const noexcept { return !threads_.empty(); }
  /// Indices of workers are below this.
  unsigned all_places() const noexcept { return places_.all(); }
  pool_stats stats() const noexcept;
  /// The counters of the worker at this place, for the table at exit.
  pool_stats stats_of(unsigned place) const noexcept;
  /// Has a worker been at this place?
  bool was_used(unsigned place) const noexcept { return places_.is_made(place); }
  /// False in a child of fork(): the threads stayed with the parent.
  bool alive() const noexcept;
  /// Before the end: waits until no caller is in enter() any more, nor will be. False if that might last for ever: in
  /// a task of another team, for which a call into this one may wait, as exit() in a task of nested pools.
  bool wait_for_callers() noexcept;
  /// The scheduler's name, for the table at exit.
  virtual char const* scheduler_name() const noexcept = 0;
  /// The scheduler's own counters, a line of the table at exit; empty: none. Throws std::bad_alloc.
  virtual std::string own_figures() const { return {}; }
  /// Does FILCH_PROFILE measure it? Then it has no threads, and callers run all of their tasks themselves.
  virtual bool is_measured() const noexcept { return false; }

 protected:
  /// If the user sets no size of stacks, it is halved until this much extra address space fits for each worker.
  using bytes_beside = std::function<std::size_t(std::size_t stack_bytes)>;
  team(settings s, bool tolerate_missing_threads, bytes_beside const& beside = {});
  /// The last step of a scheduler's constructor: from here on its hooks are called.
  void start();
  /// The first step of its destructor: ends the threads. After wait_for_callers().
  void stop() noexcept;

  /// For the scheduler, where FILCH_PROFILE measures: the measuring part of the worker at this place, or none yet.
  std::unique_ptr<profile::measured_worker>& profile_at(unsigned place) noexcept { return profiles_[place]; }

  // Hooks.
  /// The place has its memory: makes the scheduler's part in it.
  virtual void make_place(unsigned place) noexcept = 0;
  /// The calling thread is worker `me` until call(argument) returns.
  virtual void be_worker(unsigned me, void (*call)(void*), void* argument) = 0;
  /// Runs call(argument) here. Joins in it run in order.
  virtual void run_in_order(void (*call)(void*), void* argument) = 0;
  /// One look around; true if a task was found and run.
  virtual bool steal_and_run(unsigned me) = 0;
  /// Requests tasks from every worker: the next fork of each is public.
  virtual void ask_everybody(unsigned me) noexcept = 0;
  /// Is there a task that could be stolen?
  virtual bool sees_work(unsigned me) const noexcept = 0;
  /// Worker `me` was woken, and leaves without a look: another one looks.
  virtual void hand_on_wakeup(unsigned me) noexcept;
  virtual std::uint64_t forks_of(unsigned worker) const noexcept = 0;
  /// Worker `me` is about to take a task of a group, or pauses: has it nothing else to do, and will it get nothing?
  virtual bool is_free_for_call(unsigned) { return true; }
  /// Worker `me` has no task: it runs call(argument) as a task of that root. The call must not throw. It may return
  /// before the call does, which then continues on other workers.
  virtual void run_call(unsigned me, std::uint16_t root, void (*call)(void*), void* argument) = 0;
  /// The worker has searched in vain for half the time after which it sleeps; or it is announced, and has requested
  /// from all workers. Returns how long it may sleep at most: then it has to request again.
  virtual std::chrono::nanoseconds insist(unsigned) noexcept { return k_until_woken; }
  static constexpr auto k_until_woken = std::chrono::nanoseconds::max();
  /// See steal_pace. One to two microseconds, and more where caches are far from each other.
  virtual steal_cost cost_of_steal() const noexcept { return {.least = 4'000, .for_search = 4, .most = 16'000}; }
  /// Does the scheduler itself limit the cost of tiny steals for their victims?
  virtual bool keeps_accounts() const noexcept { return false; }
  /// Worker `me` has no task. May one have run on its own stack since it came to its place?
  virtual bool has_used_own_stack(unsigned) noexcept { return true; }
  /// The address from which on the worker's part above the stack is free; null: nothing of it is given back.
  virtual std::byte* unused_above(unsigned) noexcept { return nullptr; }

  /// Searches, runs tasks, and sleeps if there are none, until `stop`. The thread that sets `stop` then wakes `me`.
  void work_until(unsigned me, stop_flag const& stop);

  /// Wakes one sleeper for the tasks of a worker i for which offers(i) holds; root_of(i) is their root. And one for
  /// tasks of groups.
  template <class Offers, class RootOf>
  void pass_on(unsigned me, Offers const& offers, RootOf const& root_of) noexcept;
  /// The same for the tasks of groups, for which worker `me` may have been woken before it took another task.
  void pass_on_groups(unsigned me) noexcept;
  /// For schedulers whose callers sleep only in their joins.
  static std::uint16_t no_root(unsigned) noexcept { return k_any_root; }

  /// Does a worker sleep that may take tasks of this root? edge idle-1: in order after the offer.
  bool anybody_sleeps(std::uint16_t root) noexcept { return idle_.anybody() || idle_.sleeps_for_root(root); }

  /// Does a worker search, awake or asleep? For a caller that has entered, and for the owner of a scope: no request
  /// may have come.
  bool somebody_looks() noexcept { return idle_.anybody() || idle_.looking() != 0; }

  /// After an offer of a task of this root: wakes a worker that sleeps; false: none does.
  bool task_is_public(unsigned worker, std::uint16_t root = k_any_root) noexcept;
  /// The same, after an offer by its owner, requested or not. True: the next fork is for other searching workers
  /// (offers_unasked).
  template <class Untaken>
  bool offers_next(unsigned worker, bool was_asked, unasked_offers& more, Untaken const& untaken,
                   std::uint16_t root = k_any_root) noexcept;
  /// A worker begins a task, or continues one. It may make one unrequested offer for each other worker, however many
  /// it made before.
  void begins_task(unasked_offers& more) const noexcept;
  /// Do more workers search than the owner has untaken() offers? A woken worker is on its way for some time, so its
  /// request may come too late. If others use its processor, it does not come soon. So `more` limits these offers,
  /// which the owner would take back.
  template <class Untaken> bool offers_unasked(unasked_offers& more, Untaken const& untaken) noexcept;
  /// Owner, after it has taken a request away: is there a sleeping or coming worker for which it has no offer?
  template <class Untaken>
  bool should_ask_itself(unasked_offers& more, Untaken const& untaken, std::uint16_t root = k_any_root) noexcept;
  /// The number of unrequested offers of an owner after a wake-up: about as many forks and joins as fit into the time
  /// of a wake-up. With more workers than processors that time is unknown.
  unsigned most_unasked() const noexcept { return oversubscribed() ? workers() - 1 : 1024; }
  /// The scheduler's thief, after it has taken a task.
  void has_work(unsigned me) noexcept { idle_.has_work(me); }
  /// Its task is done, or waits, and it is about to say so: another worker may go on then. With more workers than
  /// processors that worker may get this one's processor, so this one is counted as searching first.
  void is_about_to_search(unsigned me) noexcept {
    if (oversubscribed()) idle_.looks(me);
  }

  /// Makes the scheduler's part of a worker, at the start of its space. Behind it is room for at least as much as the
  /// stack, zeroed by the kernel.
  template <class Member> Member* make_member(unsigned place) noexcept {
    static_assert(std::is_trivially_destructible_v<Member> && std::is_nothrow_default_constructible_v<Member> &&
                  sizeof(Member) <= k_most_member_bytes);
    return ::new (static_cast<void*>(space(place).middle())) Member;
  }
  places const& all() const noexcept { return places_; }
  bool is_traced() const noexcept { return trace_ != nullptr; }
  /// FILCH_TRACE: an event of worker `me`. In a signal handler, too; then it may be lost.
  void note(unsigned me, trace::kind what, unsigned peer = 0, void const* at = nullptr) noexcept {
    if (trace_) [[unlikely]]
      trace_->note(me, what, peer, at);
  }
  /// For a worker without tasks: gives back the pages below `stack_in_use`, and those above the scheduler's part, if
  /// it was deep. Returns the time to wait if it is too early now, else 0.
  std::chrono::nanoseconds give_back_pages(unsigned me, void* stack_in_use, worker_space::when now) noexcept;
  counters& counted(unsigned worker) noexcept { return counters_[worker]; }
  idle& sleepers() noexcept { return idle_; }
  worker_space const& space(unsigned worker) const noexcept { return spaces_[worker]; }
  void begin_call_on_own_stack(unsigned me) noexcept { spaces_[me].begin_call(); }
  void begin_long_call_on_own_stack(unsigned me) noexcept { spaces_[me].begin_long_call(); }
  std::size_t stack_size() const noexcept { return stack_size_; }
  /// Are there more workers, callers among them, than processors? Each stand-in works for one that waits.
  bool oversubscribed() const noexcept { return places_.awake_most() > settings_.available; }
  stolen_task& stolen(unsigned worker) noexcept { return stolen_[worker]; }
  /// An offer for it was taken back before it came: that cost the owner as much as a tiny steal.
  void stole_nothing(unsigned worker) noexcept { paces_[worker].task_ran(time_stamp(), 0); }
  /// No victim of this worker may be requested before then.
  void rest_until(unsigned worker, cycles then) noexcept { paces_[worker].rest_until(then); }
  /// Between two searches in a spin loop. `looks` counts them.
  void pause_between_looks(unsigned looks) const noexcept;

  /// A worker sleeps in a join, where it takes tasks of its thief alone. While task groups are open a stand-in works
  /// for it.
  class lent_place {
   public:
    explicit lent_place(team& of) noexcept : of_(of) { of_.begin_sleep_in_join(); }
    lent_place(lent_place const&) = delete;
    lent_place& operator=(lent_place const&) = delete;
    ~lent_place() { of_.end_sleep_in_join(); }

   private:
    team& of_;
  };

 private:
  friend class detail::task_source;
  class caller;
  static constexpr std::size_t k_most_member_bytes = std::size_t{128} << 10;

  void thread_main(unsigned me);
  bool help_a_group(unsigned me);
  template <bool IsOfCall> static void help_group(void* source);
  std::uint16_t root_of_group(std::uint16_t root, std::uint32_t call) const noexcept;
  bool anybody_sleeps_for(std::uint16_t root, std::uint32_t call) noexcept;
  void group_has_more(std::uint16_t root, std::uint32_t call) noexcept;
  task_sources::of_root groups_for(unsigned me) const noexcept;
  /// Searches as the calling thread's worker until `stop`.
  void work_as(unsigned me, stop_flag const& stop);
  /// Returns whether the worker has to look again if it goes: it was woken, or has yet to request.
  bool sleep_until_work(unsigned me, stop_flag const& stop);
  bool wake_for(unsigned offerer, std::uint16_t root) noexcept {
    return idle_.wake_for_root(root) || idle_.wake_one_for(offerer);
  }

  bool has_memory(unsigned place) noexcept;
  void leave_place(unsigned place) noexcept;
  worker_space reserve_space() const noexcept;
  void enter_in_order(void (*call)(void*), void* argument);
  void stand_in(unsigned number) noexcept;
  void begin_sleep_in_join() noexcept;
  void end_sleep_in_join() noexcept;
  void groups_open() noexcept;
  void groups_close() noexcept;
  void one_more(unsigned stand_ins::* count) noexcept;
  void one_less(unsigned stand_ins::* count) noexcept;
  void want_stand_in(stand_ins& s) noexcept;
  void open_trace(unsigned place) noexcept {
    if (trace_) [[unlikely]]
      trace_->open(place);
  }
  void begin_trace();

  void reserve_spaces(bytes_beside const& beside);
  bool start_thread(unsigned i);
  void end_threads() noexcept;

  // fixed after start
  settings settings_;
  bool const tolerate_missing_threads_;
  unsigned const fork_generation_;
  std::uint64_t page_faults_before_ = 0;
  std::size_t stack_size_ = 0;
  std::vector<std::thread> threads_;
  std::unique_ptr<counters[]> counters_;
  std::unique_ptr<wake_pace[]> wake_paces_;
  std::unique_ptr<stolen_task[]> stolen_;
  std::vector<steal_pace> paces_;     // of each place
  trace::recorder* trace_ = nullptr;  // null: no trace

  places places_;
  std::vector<std::unique_ptr<profile::measured_worker>> profiles_;  // of each place; empty unless it is measured
  std::vector<worker_space> spaces_;  // the space of each place; written by the thread that has entered the place
  idle idle_;
  task_sources sources_{places_};
  group_spares group_spares_;
  stop_flag stopping_;
  // Written by each call: away from what thieves read all the time.
  alignas(64) caller_count callers_;  // calls in enter()
  std::mutex spare_mutex_;
  std::vector<worker_space> spare_stacks_;  // for calls that run in order; under spare_mutex_
  std::unique_ptr<stand_ins> stand_ins_;
};

}  // namespace filch::runtime

#include "runtime/demand.hpp"  // IWYU pragma: export
