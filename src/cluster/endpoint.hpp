// A rank's endpoint: one mutex, and behind it the parts of the protocol. It hands each message to its part, and
// decides the order of their steps in a look. It has no clock and no thread: tests and the simulator (bench/scale)
// drive it too. Called by rank workers, main loops, helpers and the watchdog. Protocol: protocol.md.
#pragma once

#include "cluster/bounds.hpp"
#include "cluster/heartbeats.hpp"
#include "cluster/messenger.hpp"
#include "cluster/reduction.hpp"
#include "cluster/requests.hpp"
#include "cluster/results.hpp"
#include "cluster/termination.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

namespace filch::inline FILCH_ABI::detail {

class FILCH_API endpoint final : public endpoint_interface {
 public:
  static constexpr unsigned k_ticks_per_second = heartbeats::k_ticks_per_second;
  static constexpr unsigned ticks_in(unsigned seconds) noexcept {  // about ten years at most
    return std::min(seconds, std::numeric_limits<unsigned>::max() / k_ticks_per_second) * k_ticks_per_second;
  }

  /// `silence`: ticks that the previous rank may be silent, 0: for ever. `arrival`: ticks before its first heartbeat.
  endpoint(any_transport& carrier, unsigned silence, unsigned arrival = 0);
  endpoint(endpoint const&) = delete;
  endpoint& operator=(endpoint const&) = delete;
  ~endpoint() override;

  // Rank workers

  /// A working rank worker looks, unless another one does. `spare`: how many of its tasks may go. Returns idle or
  /// requested.
  look_result poll(task_deque& mine, std::size_t spare, bool may_request = true);
  /// The same in the middle of a task: nothing comes into the deque.
  look_result poll_in_task(task_deque& mine, std::size_t spare);
  /// A rank worker without tasks looks, while it waits. `may_take`: it would take tasks of the rank's other workers.
  /// Returns idle or refused.
  look_result poll_waiting(task_deque& mine, bool may_request, bool may_take);
  /// Its tasks are for any rank worker, as if they had just arrived.
  void put_back(task_deque& mine);
  /// Withdraws the `may_take` of the last poll_waiting(). A worker that still waits says so again.
  void waits_no_more() noexcept { hints_.worker_waits.write(false); }
  void send_result(int home, cluster_future* future, std::optional<std::string> const& failure,
                   message const& result);
  void fail(std::string_view text) override;
  void end_over_loss(std::string_view what) override;

  // Helpers: workers of the pool without tasks

  enum class [[nodiscard]] help_outcome {
    work,       // tasks are in the deque, and hold the run until help_ends()
    requested,  // a request of this rank is under way
    nothing,    // none is
    leave,      // one came back, or the main loop searches itself, or another run began
  };
  /// Does the main loop have tasks, while some of the pool's `workers` have none?
  bool wants_help(unsigned workers);
  /// Looks, and requests tasks if the rank seems drained. `part`: the helper's part of the fold. `run`: 0 at first.
  help_outcome help(task_deque& mine, std::unique_ptr<partial>& part, std::uint64_t& run);
  void help_ends() override;

  // The main loop

  void begin_run() { begin_run(nullptr); }
  void begin_run(partial const* root_part) override;
  leave_outcome leave_run() override;
  idle_outcome idle(task_deque& mine, bool may_request) override;

  // Between runs

  /// The cluster's number, the same on all ranks.
  unsigned cluster() const noexcept { return cluster_; }
  void be_of(unsigned cluster) noexcept { cluster_ = cluster; }
  /// The value that all ranks knew when the last run ended. Ranks in the next run may raise the bound there.
  std::int64_t settled_bound(unsigned id) const noexcept { return bounds_.settled(id); }
  void reset_bound(unsigned id, std::int64_t value) noexcept { bounds_.reset(id, value); }
  std::optional<std::string> take_failure();
  cluster_stats stats() const;

  // Reductions

  void contribute(reduction_part part);
  /// Receives messages. Returns the result, once all ranks have contributed.
  std::optional<reduction_part> reduce();
  /// The parts that this rank has to fold, once. Empty: some parts have not come.
  std::vector<reduction_part> parts_to_fold();
  void hand_on(reduction_part sum);

  // The watchdog, and the end

  void all_are_here();
  /// Called ten times a second. Does not wait for the mutex: the worker that has it does the due steps.
  void tick();
  void begin_closing(bool is_thrown = false);
  std::int64_t under_way();
  /// Once ticks have stopped.
  void say_farewell();
  /// Receives messages. Has everything from the previous rank arrived?
  bool has_farewell();
  /// The farewell did not arrive in time: ends all ranks.
  void miss_farewell();
  void end_all(std::string_view text);

 private:
  enum class [[nodiscard]] received { all, some };

  bool take_inbox(task_deque& mine) override;

  // under mutex_
  void begin_look();
  look_result look(task_deque& mine, std::size_t spare, bool may_request, look_weight weight, arrivals where);
  received receive();
  void dispatch(std::span<std::byte const> bytes);
  void take_tick();
  void check() const noexcept;

  std::mutex mutable mutex_;
  messenger messenger_;
  bounds bounds_;
  termination termination_;
  heartbeats heartbeats_;
  results results_;
  requests requests_;
  reduction reduction_;
  partial const* root_part_ = nullptr;  // the model for helpers' parts of the fold
};

/// All endpoints are of this type.
inline endpoint& complete(endpoint_interface& e) noexcept { return static_cast<endpoint&>(e); }

}  // namespace filch::inline FILCH_ABI::detail
