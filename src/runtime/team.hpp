// A team: the workers of a pool, their threads, and the way in. What a worker does to find work is the
// scheduler's; when to look, spin, sleep and stop is decided here.
#pragma once

#include "runtime/counters.hpp"
#include "runtime/idle.hpp"
#include "runtime/settings.hpp"
#include "runtime/worker_space.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace filch::runtime {

/// What a worker may still offer to those who have yet to ask.
struct unasked_offers {
  unsigned left = 0;
  bool asked_itself = false;  // the request that stands is the worker's own
};

/// Worker 0 is the thread that calls enter(); workers 1 and up are threads of the team.
class team {
 public:
  team(team const&) = delete;
  team& operator=(team const&) = delete;
  virtual ~team();

  /// Runs call(argument) as a worker, and returns when it is done. By the caller as worker 0 if that place
  /// is free; else whichever comes first: the place becomes free, or an idle worker runs it for the caller.
  void enter(void (*call)(void*), void* argument);

  settings const& asked_for() const noexcept { return settings_; }
  unsigned workers() const noexcept { return settings_.workers; }
  pool_stats stats() const noexcept;
  /// What this worker counted, for the table at exit.
  pool_stats stats_of(unsigned worker) const noexcept;
  /// False in a child of fork(): the threads stayed with the parent.
  bool alive() const noexcept;
  /// Before the end: waits until nobody is in enter() any more, nor will be. False where that might be for ever: in a
  /// task of another team, for which a call into this one may wait, as exit() in a task of nested pools.
  bool wait_for_callers() noexcept;
  /// The scheduler's name, for the table at exit.
  virtual char const* scheduler_name() const noexcept = 0;

 protected:
  /// Where no size of stacks is asked for, they get smaller until each worker can have so much address space beside
  /// its own, too.
  using bytes_beside = std::function<std::size_t(std::size_t stack_bytes)>;
  team(settings s, bool tolerate_missing_threads, bytes_beside const& beside = {});
  /// The last step of a scheduler's constructor: from here on its hooks are called.
  void start();
  /// The first step of its destructor: ends the threads. After wait_for_callers().
  void stop() noexcept;

  // Hooks.
  /// The calling thread is worker `me` until call(argument) returns.
  virtual void be_worker(unsigned me, void (*call)(void*), void* argument) = 0;
  /// Runs call(argument) for a caller who waits in line. May return before it is done, if it is sure to be.
  virtual void run_call(unsigned me, void (*call)(void*), void* argument);
  /// One look around; true if a task was found and run.
  virtual bool steal_and_run(unsigned me) = 0;
  /// Asks every worker for work: none will keep a new fork to itself.
  virtual void ask_everybody(unsigned me) noexcept = 0;
  /// Is there a task that could be stolen?
  virtual bool sees_work(unsigned me) const noexcept = 0;
  /// What the pool counts that no worker does.
  virtual void add_to(pool_stats&) const noexcept {}
  virtual std::uint64_t forks_of(unsigned worker) const noexcept = 0;
  /// The worker has looked in vain for half the time after which it sleeps; or it is announced, and has asked
  /// everybody. False: it should come again, and not sleep.
  virtual bool insist(unsigned) noexcept { return true; }

  /// Looks for work, runs it, and sleeps where there is none, until `stop`; whoever sets it wakes `me` then.
  void work_until(unsigned me, std::atomic<bool> const& stop);

  /// Wakes one sleeper for a worker of which offers(i) holds.
  template <class Offers> void pass_on(unsigned me, Offers const& offers) noexcept {
    for (unsigned i = 0; i < workers(); ++i) {
      // Who sleeps in a join may be there for the tasks of one worker.
      if (!offers(i) || !idle_.wake_one_for(i)) continue;
      counters_[me].wakeups.bump();
      return;
    }
  }

  /// After an offer: wakes one who sleeps; false: nobody does.
  bool task_is_public(unsigned worker) noexcept {
    if (!idle_.anybody() || !idle_.wake_one_for(worker)) return false;
    counters_[worker].wakeups.bump();
    return true;
  }
  /// After an offer by its owner, asked for or not: the same. True: the next fork is for others who look for tasks
  /// (offers_unasked).
  template <class Untaken>
  bool offers_next(unsigned worker, bool was_asked, unasked_offers& more, Untaken const& untaken) noexcept {
    bool const by_others = was_asked && !std::exchange(more.asked_itself, false);
    if (task_is_public(worker) || by_others) more.left = most_unasked();
    return offers_unasked(more, untaken);
  }
  /// Do more workers look for tasks than the owner offers, untaken()? They would ask too late, perhaps: who was woken
  /// is on the way for some time. Where others use its processor it does not come at once, so an owner does not offer
  /// without end what it then takes back.
  template <class Untaken> bool offers_unasked(unasked_offers& more, Untaken const& untaken) noexcept {
    if (more.left == 0) return false;
    // edge idle-3: first who looks, then what is left. Who takes the one leaves the others after that.
    std::uint32_t const looking = idle_.looking();
    if (untaken() >= looking) return false;
    --more.left;
    more.asked_itself = true;
    return true;
  }
  /// Of an owner, after it has taken a request away: does somebody sleep, or come, for whom it has nothing?
  template <class Untaken> bool should_ask_itself(unasked_offers& more, Untaken const& untaken) noexcept {
    return idle_.anybody() || offers_unasked(more, untaken);
  }
  /// From when it wakes somebody, or may be woken itself with others: in the time that they need an owner can hardly
  /// fork and join more often. With more workers than processors they come when they come.
  unsigned most_unasked() const noexcept { return oversubscribed_ ? workers() - 1 : 1024; }
  /// Of the scheduler's thief, after it has taken a task.
  void has_work(unsigned me) noexcept { idle_.has_work(me); }

  /// What the scheduler knows of a worker, at the start of its space. Behind it is room for at least as much as the
  /// stack, zeroed by the kernel.
  template <class Member> Member* make_member(unsigned worker) {
    static_assert(std::is_trivially_destructible_v<Member> && sizeof(Member) <= k_most_member_bytes);
    return ::new (static_cast<void*>(space(worker).middle())) Member;
  }
  counters& counted(unsigned worker) noexcept { return counters_[worker]; }
  idle& sleepers() noexcept { return idle_; }
  worker_space const& space(unsigned worker) const noexcept { return spaces_[worker]; }
  std::size_t stack_size() const noexcept { return stack_size_; }
  bool oversubscribed() const noexcept { return oversubscribed_; }
  /// Between two looks for work in a spin loop, of which this is number `looks`.
  void pause_between_looks(unsigned looks) const noexcept;

 private:
  struct visitor;
  class caller;
  static constexpr std::uint32_t k_is_waited_for = std::uint32_t{1} << 31;
  static constexpr std::size_t k_most_member_bytes = std::size_t{128} << 10;

  void thread_main(unsigned me);
  bool run_visitor(unsigned me);
  /// Returns whether somebody has woken it.
  bool sleep_until_work(unsigned me, std::atomic<bool> const& stop);

  bool take_place_zero() noexcept;
  void leave_place_zero() noexcept;
  void wait_in_line(visitor& v);
  visitor* take_from_line(std::deque<visitor*>::iterator at) noexcept;
  void visit_as_worker_zero(void (*call)(void*), void* argument);

  void reserve_spaces(bytes_beside const& beside);
  bool start_thread(unsigned i);
  void end_threads() noexcept;

  // fixed after start
  settings settings_;
  bool const tolerate_missing_threads_;
  unsigned const fork_generation_;
  bool oversubscribed_ = false;
  std::uint64_t page_faults_before_ = 0;
  std::size_t stack_size_ = 0;
  std::vector<worker_space> spaces_;
  std::vector<std::thread> threads_;
  std::unique_ptr<counters[]> counters_;

  idle idle_;
  alignas(64) std::atomic<bool> place_zero_taken_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> visitors_waiting_{0};
  std::atomic<std::uint32_t> callers_{0};  // in enter(); and k_is_waited_for
  std::mutex line_mutex_;
  std::deque<visitor*> line_;  // under line_mutex_
};

/// A pool's run stays on its thread. A scheduler whose strands move from thread to thread hides its worker while
/// one of them is in such a run: hide() leaves in the room what show() needs; false if there was nothing to hide.
struct hideable {
  static constexpr std::size_t k_room = 256;  // aligned to 64
  bool (*hide)(void* room) noexcept;
  void (*show)(void* room) noexcept;
  void (*answer)() noexcept;  // see detail::answer_workers(); hide() does it, too
};
/// Once for each scheduler, however often it is asked for.
void hide_on_entry(hideable);

/// Called by every loop that waits for another thread: spins a little, then lets others run.
class spin_wait {
 public:
  explicit spin_wait(bool yield_at_once) noexcept : turns_(yield_at_once ? k_spins : 0) {}
  void once() noexcept;
  unsigned turns() const noexcept { return turns_; }

 private:
  static constexpr unsigned k_spins = 64;
  unsigned turns_;
};

/// Processor's hint that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace filch::runtime

namespace filch::inline FILCH_ABI::detail {

/// The calling thread waits where no scheduler sees it, perhaps for code that waits for tasks which its worker has
/// and has not begun: gives those back that it took over, and some of those that it forked to who asks for them.
FILCH_API void answer_workers() noexcept;

}  // namespace filch::inline FILCH_ABI::detail
