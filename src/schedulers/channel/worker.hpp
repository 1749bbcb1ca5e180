// A worker of filch::channel, and its team: which function belongs to the owner, the victim, the thief. The words
// that workers share are in words.hpp, the invariants in checks.hpp. Protocol: protocol.md.
#pragma once

#include <filch/channel.hpp>

#include "runtime/account.hpp"
#include "runtime/counters.hpp"
#include "runtime/random.hpp"
#include "runtime/task_places.hpp"
#include "runtime/team.hpp"
#include "schedulers/channel/words.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

class channel_team;
class channel_profile;

inline constexpr unsigned k_no_victim = ~0u;

/// The counters that only workers of channel have. The worker writes them, any thread reads them.
struct channel_counters {
  runtime::counter requests;
  runtime::counter forwards;
  runtime::counter returns;
  runtime::counter updates;
  runtime::counter tasks_sent;

  void add_to(channel_stats& all) const noexcept {
    all.requests += requests.read();
    all.forwards += forwards.read();
    all.returns += returns.read();
    all.updates += updates.read();
    all.tasks_sent += tasks_sent.read();
  }
};

/// A worker; every field is its own. Its task array begins right behind it. checks.hpp holds the invariants.
struct alignas(k_cache_line) channel_member : channel_worker {
  channel_member() noexcept : channel_worker(nullptr) {}

  // fixed after start
  channel_team* team = nullptr;
  place_channels* own = nullptr;  // the receiver's end of its channels
  unsigned index = 0;
  channel_worker* outer = nullptr;     // the thread's worker before this one
  channel_profile* profile = nullptr;  // if FILCH_PROFILE measures this worker; set before its first task

  // tasks: those in [bottom, top) are private, those below bottom are sent away and not joined
  channel_task* bottom = nullptr;
  channel_task* floor = nullptr;  // one past the newest task whose join waits; bottom stays at or above it
  task_root root{};               // the root of all tasks that it has; any: it has none
  batch received;                 // tasks of another worker, which it has not begun
  detached_list detached;         // detached tasks that it has not begun
  unsigned detached_running = 0;  // detached tasks that it runs, each on top of the one before
  bool is_counted = false;        // in the call counter of its root
  std::uint64_t calls = 0;        // calls that began at this place

  // as victim
  bool has_deferred = false;       // its channel may hold requests for tasks of another root
  runtime::cycles late_noted = 0;  // time stamp of its last look for late thieves
  runtime::random_numbers random;

  // as thief: its steal request
  request mine{};
  bool is_requesting = false;                          // its task channel is not closed
  task_root wanted_root{};                             // root of the tasks that may come
  unsigned searches = 0;                               // since the request was sent
  unsigned last_victim = k_no_victim;                  // sender of the last tasks
  unsigned ones_after_tiny = 0;                        // requests for one task that are still to come
  unsigned tasks_in_answer = 0;                        // size of the last message, or of the last left tasks
  std::chrono::steady_clock::time_point requested_at;  // time of the last adaptive request
  std::chrono::steady_clock::time_point answered_at;   // time of the last message

  alignas(k_cache_line) channel_counters counts;  // apart: stats() reads them

  channel_task* first_task() noexcept { return reinterpret_cast<channel_task*>(this + 1); }
  channel_task const* tasks_begin() const noexcept { return reinterpret_cast<channel_task const*>(this + 1); }
  bool has_no_task() const noexcept { return received.is_empty() && top <= bottom && detached.is_empty(); }
};

class channel_team final : public runtime::team {
 public:
  channel_team(runtime::settings s, channel_options const& own, bool tolerate_missing_threads);
  channel_options const& own_options() const noexcept { return own_; }
  ~channel_team() override;

  // Owner: join.cpp, frame.cpp.
  join_outcome wait_for_outcome(channel_member& w, channel_task& t) noexcept;
  // Victim: serve.cpp.
  void serve(channel_member& w) noexcept;
  bool is_requested(channel_member& w) noexcept;
  void serve_thieves(channel_member& w) noexcept;
  void offer_all(channel_member& w) noexcept;
  // Thief: steal.cpp.
  void give_back_received(channel_member& w) noexcept;
  // barrier.cpp.
  void barrier(channel_member& w) noexcept;
  void detach(channel_member& w, channel_detached& t) noexcept;
  // pool.cpp.
  channel_member* place_of_caller() const noexcept;
  void enter_or_nest(void (*call)(void*), void* argument);

  char const* scheduler_name() const noexcept override { return "channel"; }
  void add_to(channel_stats& all) const noexcept;
  std::string own_figures() const override;
  bool is_measured() const noexcept override { return asked_for().profile; }

 private:
  enum class [[nodiscard]] answer_result { given, not_wanted, nothing_to_give, other_root };

  // Hooks of the team.
  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void run_in_order(void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  /// A request, a message, and the wait for its end.
  runtime::steal_cost cost_of_steal() const noexcept override {
    return {.least = 3'000, .for_search = 16, .most = 24'000};
  }
  bool is_free_for_call(unsigned me) override;
  void run_call(unsigned me, std::uint16_t root, void (*call)(void*), void* argument) override;
  std::uint64_t forks_of(unsigned worker) const noexcept override;
  std::byte* unused_above(unsigned me) noexcept override;

  /// Runs the call on the place's stack, and then what it has left.
  void run_at(channel_member& w, void (*call)(void*), void* argument);
  /// The same where FILCH_PROFILE measures.
  void run_measured(channel_member& w, void (*call)(void*), void* argument);
  void begin_profile(channel_member& w);

  /// For the hooks above, which the thread of worker `me` calls. No other worker can be reached.
  channel_member& self(unsigned me) noexcept { return *members_[me]; }
  channel_member const& self(unsigned me) const noexcept { return *members_[me]; }

  // Owner.
  bool take_back(channel_member& w, channel_task& t, unsigned thief) noexcept;
  bool may_run_others(channel_member const& w) const noexcept;
  unsigned searches_before_sleep() const noexcept;
  void sleep_until_message(channel_member& w, channel_task& t) noexcept;
  void reclaim_declined(channel_member& w) noexcept;
  void set_root(channel_member& w, task_root root) noexcept;
  // Victim.
  answer_result answer(channel_member& w, request r) noexcept;
  void pass_emptied(channel_member& w) noexcept;
  void share_rest(channel_member& w) noexcept;
  batch take_oldest(channel_member& w, request r) noexcept;
  void pass_on(channel_member& w, request r) noexcept;
  void request_for_late_thieves(channel_member& w) noexcept;
  bool may_have(unsigned place, task_root wanted) const noexcept;
  unsigned choose_victim(channel_member& w, request r) noexcept;
  unsigned nearest_victim(channel_member const& w, request r, task_root wanted) noexcept;
  unsigned random_victim(channel_member& w, request r, task_root wanted) noexcept;
  bool may_be_victim(channel_member const& w, unsigned victim, request r, task_root wanted) noexcept;
  // Thief.
  void request_tasks(channel_member& w, unsigned first) noexcept;
  bool request_from_one(channel_member& w, unsigned first) noexcept;
  void request_from_all(channel_member& w) noexcept;
  void request_for_threads() noexcept;
  void withdraw_for_missing_threads() noexcept;
  void begin_request(channel_member& w) noexcept;
  portion portion_to_request(channel_member& w) noexcept;
  bool try_withdraw(channel_member& w) noexcept;
  void withdraw(channel_member& w) noexcept;
  bool receive(channel_member& w) noexcept;
  void accept(channel_member& w, batch const& message) noexcept;
  bool run_received(channel_member& w) noexcept;
  void decline(channel_member& w, batch b) noexcept;
  void finish(channel_member& w, channel_task& t, unsigned owner, future_state s) noexcept;
  // Detached tasks.
  bool run_detached(channel_member& w) noexcept;
  bool take_left(channel_member& w) noexcept;
  bool call_is_over(channel_member const& w) noexcept;
  void leave_detached(channel_member& w) noexcept;
  void add_to_call(channel_member& w) noexcept;
  void subtract_from_call(channel_member& w) noexcept;
  void subtract_if_last(channel_member& w) noexcept;

  channel_options const own_;
  std::vector<channel_member*> members_;  // by place; each at the start of its worker's space
  team_channels channels_;
};

using channel_places = task_places<channel_stack, channel_member>;

/// The entries that user code calls get the part of a worker that the fast path touches.
inline channel_member& member(channel_worker& w) noexcept { return static_cast<channel_member&>(w); }

/// Is it counted where it has detached tasks? The caller's own tasks are not, nor left ones, which no call waits for.
inline bool counts_detached(channel_member const& w) noexcept {
  return w.root.is_of_call() && w.root.place() != w.index;
}

}  // namespace filch::inline FILCH_ABI::detail
