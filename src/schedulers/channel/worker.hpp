// A worker of the channel scheduler, and its team. Words and edges: protocol.md beside this file.
#pragma once

#include <filch/channel.hpp>

#include "runtime/account.hpp"
#include "runtime/random.hpp"
#include "runtime/task_places.hpp"
#include "runtime/team.hpp"
#include "schedulers/channel/words.hpp"

#include <chrono>
#include <deque>

namespace filch::inline FILCH_ABI::detail {

class channel_team;

inline constexpr unsigned k_nobody = ~0u;

/// All its own. Equations, between its steps: the tasks in [bottom, top) are private, those below bottom were sent
/// away and are not joined; the doorbell's place is bottom, or it has rung, or is kept; all tasks that it has are of
/// one root.
struct alignas(k_cache_line) channel_member : channel_worker {
  channel_member() noexcept : channel_worker(nullptr) {}

  // fixed after start
  channel_team* team = nullptr;
  unsigned index = 0;
  channel_worker* outer = nullptr;  // what the thread was before it became this worker

  channel_task* bottom = nullptr;
  channel_task* floor = nullptr;   // right above the newest task that it waits for: bottom is not below it
  task_root root{};                // of all tasks that it has; any: it has none
  batch received;                  // tasks of another worker that this one has taken over: older than all of its own
  detached_list detached;          // its own, or received
  unsigned detached_running = 0;   // each on top of the one before
  bool is_counted = false;         // as one that has detached tasks, in the census of their caller's place
  bool sets_aside = false;         // some requests in its channel, of thieves that wait for other tasks than it has
  std::uint64_t calls = 0;         // that began at this place
  runtime::cycles noted_late = 0;  // when it last looked for thieves that are late
  runtime::random_numbers random;
  unsigned last_victim = k_nobody;  // who gave it the last tasks, their owner or not

  // its steal request
  request mine{};
  bool is_asking = false;                          // its task channel is open
  task_root asked_for{};                           // what the tasks that come must be of
  unsigned looks = 0;                              // since it was sent
  std::chrono::steady_clock::time_point asked;     // when the last one was made
  std::chrono::steady_clock::time_point answered;  // and answered
  unsigned tasks_in_answer = 0;                    // how many it got
};

class channel_team final : public runtime::team {
 public:
  channel_team(runtime::settings s, bool tolerate_missing_threads);
  ~channel_team() override;

  // Victim.
  void serve(channel_member& w) noexcept;
  bool is_asked(channel_member& w) noexcept;
  // Owner.
  join_outcome wait_for_outcome(channel_member& w, channel_task& t) noexcept;

  void barrier(channel_member& w) noexcept;
  void detach(channel_member& w, channel_detached& t) noexcept;

  void serve_thieves(channel_member& w) noexcept;
  void give_back_received(channel_member& w) noexcept;
  void offer_all(channel_member& w) noexcept;
  channel_member* place_of_caller() const noexcept;
  void enter_or_nest(void (*call)(void*), void* argument);

  char const* scheduler_name() const noexcept override { return "channel"; }

 private:
  enum class [[nodiscard]] answer { given, nobody_waits, nothing_to_give, of_another_root };

  void make_place(unsigned place) noexcept override;
  void be_worker(unsigned me, void (*call)(void*), void* argument) override;
  void run_in_order(void (*call)(void*), void* argument) override;
  bool steal_and_run(unsigned me) override;
  void ask_everybody(unsigned me) noexcept override;
  bool sees_work(unsigned me) const noexcept override;
  std::uint64_t forks_of(unsigned worker) const noexcept override;
  std::byte* unused_above(unsigned me) noexcept override;

  /// For the hooks above, each called by the thread that is worker `me`. Nobody gets at another worker.
  channel_member& self(unsigned me) noexcept { return *members_[me]; }

  // Victim.
  answer answer_to(channel_member& w, request r) noexcept;
  void own_declined(channel_member& w) noexcept;
  void pass_emptied(channel_member& w) noexcept;
  void share_rest(channel_member& w) noexcept;
  batch give(channel_member& w, request r) noexcept;
  void pass_on(channel_member& w, request r) noexcept;
  void note_late_thieves(channel_member& w) noexcept;
  bool may_have(unsigned place, task_root wanted) const noexcept;
  unsigned choose_victim(channel_member& w, request r) noexcept;
  // Thief.
  void ask(channel_member& w, unsigned first) noexcept;
  bool ask_one(channel_member& w, unsigned first) noexcept;
  void ask_all(channel_member& w) noexcept;
  void ask_for_threads() noexcept;
  void withdraw_for_missing_threads() noexcept;
  void begin_request(channel_member& w) noexcept;
  portion portion_to_ask_for(channel_member& w) const noexcept;
  bool stop_asking(channel_member& w) noexcept;
  void withdraw(channel_member& w) noexcept;
  void take_over(channel_member& w, batch const& message) noexcept;
  bool run_received(channel_member& w) noexcept;
  bool run_detached(channel_member& w) noexcept;
  bool take_left(channel_member& w) noexcept;
  void decline(channel_member& w, batch b) noexcept;
  void finish(channel_member& w, channel_task& t, unsigned owner, future_state s) noexcept;
  // Owner.
  bool take_back(channel_member& w, channel_task& t, unsigned thief) noexcept;
  bool may_run_others(channel_member const& w) const noexcept;
  void sleep_until_message(channel_member& w, channel_task& t) noexcept;
  void has_tasks_of(channel_member& w, task_root root) noexcept;
  bool is_in_census(channel_member const& w) const noexcept;
  void add_to_census(channel_member& w) noexcept;
  void subtract_from_census(channel_member& w) noexcept;
  void leave_census(channel_member& w) noexcept;
  void leave_detached(channel_member& w) noexcept;

  std::vector<channel_member*> members_;   // each at the start of its worker's space, its tasks behind it
  std::deque<request_channel> requests_;   // to each
  std::unique_ptr<census[]> census_;       // to the manager, by its place
  left_tasks left_;                        // to the pool's threads
  std::unique_ptr<task_channel[]> tasks_;  // to each
};

using channel_places = task_places<channel_stack, channel_member>;

}  // namespace filch::inline FILCH_ABI::detail
