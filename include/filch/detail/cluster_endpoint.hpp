// A rank's end of the transport: steal requests, tasks in answer, termination, bounds, reductions, heartbeats. The
// protocol and its argument: src/cluster/protocol.md.
#pragma once

#include <filch/cluster_stats.hpp>
#include <filch/detail/cluster_task.hpp>
#include <filch/transport.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace filch::inline FILCH_ABI {

struct bound;

namespace detail {

/// Waited for on the rank of the task that made the future.
struct cluster_future {
  explicit cluster_future(void (*take)(cluster_future&, unpacker&)) noexcept : take_result(take) {}
  std::atomic<bool> ready{false};
  std::optional<std::string> failure;
  void (*take_result)(cluster_future&, unpacker&);

  void set_ready() noexcept { ready.store(true, std::memory_order_release); }  // edge cluster-1
};

class partial;

/// Folds two values of a reduction.
using fold_values = std::function<message(message, message)>;

/// What goes up and down the tree in a reduction.
struct reduction_part {
  enum class holds : std::uint8_t {
    nothing,
    value,    // its packing, which may have no bytes
    failure,  // the text of the exception that came in its way
  };
  holds what = holds::nothing;
  message bytes{};
};

/// In a handler: what() and, behind a NUL, the name of the exception's type.
FILCH_API std::string text_of_current_exception();
/// In a handler: that text in place of a value.
FILCH_API reduction_part failed_part();

class FILCH_API endpoint {
 public:
  static constexpr unsigned k_ticks_per_second = 10;
  static constexpr unsigned k_bounds = 64;
  enum class outcome { work, nothing, refused, ended };

  /// Of the watchdog; of some ten years, where they are more.
  static constexpr unsigned ticks_in(unsigned seconds) noexcept {
    return std::min(seconds, std::numeric_limits<unsigned>::max() / k_ticks_per_second) * k_ticks_per_second;
  }

  /// `silence`: how many ticks the rank before may be silent; 0: for ever. `arrival`: how many before its first
  /// heartbeat.
  endpoint(any_transport& carrier, unsigned silence, unsigned arrival = 0);
  endpoint(endpoint const&) = delete;
  endpoint& operator=(endpoint const&) = delete;
  ~endpoint();

  int rank() const noexcept { return me_; }
  int ranks() const noexcept { return ranks_; }

  // Workers with a share

  /// Looks for messages and answers requests with tasks of `mine`, if no other worker does so at the moment. `spare`
  /// is how many of them may go, to other ranks or to shares that wait. An empty deque takes what has arrived, and
  /// asks for more if the rank seems drained. Returns whether a request of another rank has come since the last look.
  bool poll(task_deque& mine, std::size_t spare, bool may_ask = true);
  /// The same for a share that waits and has no tasks. `may_take`: it would take some of the rank's other shares.
  /// Returns whether a request came back in vain since the last look: then it has not asked, and pauses before it
  /// may.
  bool poll_waiting(task_deque& mine, bool may_ask, bool may_take);
  /// A share that said in such a poll that it would take some does not look any more. Where another one waits, that
  /// says so again.
  void waits_no_more() noexcept { share_waits_.store(false, std::memory_order_relaxed); }  // relaxed: policy
  /// Should be polled now, whatever the time?
  bool overdue() const noexcept { return overdue_.load(std::memory_order_relaxed); }  // relaxed: a hint
  /// Did a request go on for want of tasks, and none was answered since?
  bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }  // relaxed: a hint
  /// A share polls from here on, until it ends or waits for its halves.
  void worker_begins() noexcept { shares_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count, a hint
  void worker_ends() noexcept { shares_.fetch_sub(1, std::memory_order_relaxed); }
  /// Tasks that have arrived, if there are any.
  bool take_arrived(task_deque& mine);
  /// Sends the result of a task, or the text of its exception, to the future that waits for it.
  void send_result(int home, cluster_future* future, std::optional<std::string> const& failure,
                   message const& result);
  /// Keeps the text of an exception that no future waits for.
  void fail(std::string_view text);

  // Workers of the pool that have nothing to do, in a run

  enum class [[nodiscard]] help_outcome { work, asks, nothing, leave };
  /// While the main loop has a share at work, and some of the pool's `workers` have none.
  bool wants_help(unsigned workers);
  /// Looks for messages, and asks for tasks if the rank seems drained. `work`: tasks that came are in `mine`, which
  /// holds the run until help_ends(); their results go to `part`. `asks`: a request is under way. `leave`: one came
  /// back in vain, or the main loop looks itself, or another run has begun. `run` is zero at first.
  help_outcome help(task_deque& mine, std::unique_ptr<partial>& part, std::uint64_t& run);
  void help_ends();

  // The main loop, in a run

  /// `of_root`: the main loop's part of what is folded, until leave_run().
  void begin_run(partial const* of_root = nullptr);
  /// Whatever ends it. False while others help: they use what is folded.
  bool leave_run();
  /// Without tasks: looks for messages, takes part in the termination protocol, asks for tasks if it may.
  outcome idle(task_deque& mine, bool may_ask);

  // Bounds

  /// Of a bound of this cluster, its number. Throws std::invalid_argument for one of another cluster.
  unsigned own(struct bound b) const;
  /// Which cluster this is: the same number on all ranks.
  unsigned cluster() const noexcept { return cluster_; }
  void be_of(unsigned cluster) noexcept { cluster_ = cluster; }
  std::int64_t bound(unsigned id) const noexcept {
    return bounds_[id].value.load(std::memory_order_relaxed);  // relaxed: an old value prunes less, no more
  }
  /// Between runs: what all ranks knew when the last one ended. Others may be in the next one, and raise it there.
  std::int64_t settled_bound(unsigned id) const noexcept { return settled_[id]; }
  void raise(unsigned id, std::int64_t value) noexcept;
  void set_bound(unsigned id, std::int64_t value) noexcept;

  // Collective

  void contribute(reduction_part part);
  /// Looks for messages. Returns the result, once all have contributed.
  std::optional<reduction_part> reduction();
  /// What is to be folded here, once: this rank's value and what came up the tree. Empty: not all of it is there.
  std::vector<reduction_part> parts_to_fold();
  /// Sends what became of them up the tree, or from its root down.
  void hand_on(reduction_part sum);
  std::optional<std::string> take_failure();

  // The watchdog

  /// All ranks have a watchdog: from now on the rank before must not be silent.
  void all_are_here();
  /// Ten times a second. Looks for messages if nobody did since the last tick; every fifth time sends a heartbeat.
  /// Waits for nobody: who has the mutex does it in its place.
  void tick();

  // The end, collective: see protocol.md

  /// `is_thrown`: an exception brings this rank here. Else the next one is told that no run or reduction follows.
  void begin_closing(bool is_thrown = false);
  /// Messages sent less those received; the sum over all ranks is what is under way.
  std::int64_t under_way();
  /// Once ticks have stopped.
  void say_farewell();
  /// Has everything from the rank before arrived?
  bool silent();
  /// It did not in time: ends all ranks.
  void miss_farewell();
  void end_all(std::string_view text);
  /// In a handler: what is lost with an exception, so that no run would end, whoever catches it. Ends all ranks.
  void end_over_loss(std::string_view what);

  cluster_stats stats() const;

 private:
  enum class kind : std::uint8_t { request, tasks, result, bound, probe, counts, end, up, down, heartbeat, farewell };
  struct steal_request {
    std::int32_t thief;
    std::int32_t hops;
    std::int32_t stride;
    unsigned looks;  // since it arrived here
  };
  struct counters {
    std::uint64_t sent, received;
    friend bool operator==(counters const&, counters const&) = default;
  };
  struct bound_value {
    std::atomic<std::int64_t> value{0};
    std::atomic<bool> improved{false};
  };

  // All under mutex_.
  void begin_look();
  bool receive();
  void handle(std::span<std::byte const> bytes);
  void handle_tasks(std::span<std::byte const> bytes);
  void handle_result(unpacker& u);
  void give_up(std::int32_t home, cluster_future* future);
  void keep(std::string_view failure);
  bool look(task_deque& mine, std::size_t spare, bool may_ask, unsigned weight);
  bool seems_drained(std::size_t spare, unsigned weight) noexcept;
  std::size_t serve(task_deque& mine, std::size_t spare, unsigned looks);
  std::size_t give(steal_request const& request, task_deque& mine, std::size_t most);
  void forward(steal_request request);
  void forward_all();
  void ask();
  void send_bounds();
  void answer_wave();
  void end_run();
  void take_tick();
  void send_due_heartbeat();
  void watch();
  void end_over_silence();
  void end_over_absence();
  void send(int to, message m);
  void send_basic(int to, message m);
  void hand_over(int to, message m);
  void lose(std::string_view what);
  void send_outcome(int home, cluster_future* future, std::optional<std::string> const& failure,
                    message const& result);
  std::size_t move_arrived(task_deque& mine);
  void leave_in_inbox(task_deque& mine, std::size_t count);
  template <class Fn> void for_each_child(Fn f) const {
    for (int child = 2 * me_ + 1; child <= 2 * me_ + 2 && child < ranks_; ++child) f(child);
  }
  std::size_t children() const noexcept;
  int next() const noexcept { return (me_ + 1) % ranks_; }
  int before() const noexcept { return (me_ + ranks_ - 1) % ranks_; }
  std::uint64_t random() noexcept;

  // fixed after start
  any_transport& transport_;
  int const me_;
  int const ranks_;
  unsigned const silence_;
  unsigned const arrival_;

  // any worker
  std::atomic<bool> overdue_{false};
  std::atomic<bool> wanted_{false};
  std::atomic<unsigned> shares_{0};
  std::atomic<bool> arrived_{false};  // something is in inbox_
  // for tasks of the rank's other shares, which are to leave some in inbox_; but for waits_no_more() under mutex_
  std::atomic<bool> share_waits_{false};
  std::atomic<bool> tick_is_due_{false};
  std::atomic<bool> heartbeat_is_due_{false};
  std::array<bound_value, k_bounds> bounds_;
  unsigned cluster_ = 0;  // fixed after start

  std::mutex mutable mutex_;

  // under mutex_: stealing
  task_deque inbox_;
  partial const* of_root_ = nullptr;
  bool root_works_ = false;  // the main loop has a share
  unsigned helpers_ = 0;     // shares that the main loop does not know
  std::vector<steal_request> requests_;
  unsigned looks_in_vain_ = 0;  // with no task that may go, since the last one with some: their weights
  bool asking_ = false;         // a request of ours is under way
  bool refused_ = false;        // one has come back since the last look
  bool was_asked_ = false;      // by another rank, since the last look that was told
  std::uint64_t random_;
  std::optional<std::string> failure_;

  // under mutex_: termination
  counters basic_{};
  std::uint64_t runs_begun_ = 0;
  std::uint64_t runs_ended_ = 0;
  bool wave_here_ = false;
  std::size_t wave_answers_ = 0;
  counters wave_sum_{};
  std::optional<std::uint64_t> received_before_;  // by the wave before; rank 0
  std::array<std::int64_t, k_bounds> settled_{};  // the calling thread reads it between runs

  // under mutex_: reduction
  std::optional<reduction_part> contribution_;
  std::array<std::vector<reduction_part>, 2> ups_;  // of users, and of ranks that close
  std::optional<reduction_part> result_;

  // under mutex_: heartbeats and the end
  bool polled_ = false;
  bool has_more_ = false;   // there were more messages than the last look took
  bool heard_ = false;      // from the rank before, since the last tick
  bool expecting_ = false;  // it has begun to send
  unsigned silent_ = 0;
  std::uint64_t heartbeats_sent_ = 0;
  std::uint64_t heartbeats_received_ = 0;
  std::optional<std::uint64_t> farewell_;
  bool has_lost_ = false;  // something, and said so
  bool closing_ = false;
  bool has_left_ = false;                         // and no exception brought it there
  std::uint64_t calls_ = 0;                       // runs and reductions that it began, but those that close
  std::optional<std::uint64_t> calls_of_before_;  // of the rank before, in all, once that has left
  counters counted_{};                            // messages but those of reductions, heartbeats, farewells
  cluster_stats stats_;

  unsigned ticks_ = 0;  // the watchdog's own
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
