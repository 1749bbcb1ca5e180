// The part of a rank's endpoint that code in programs calls: filch/cluster.hpp, filch/rank.hpp and the rank worker.
// The endpoint is src/cluster/endpoint.hpp, its protocol src/cluster/protocol.md.
#pragma once

#include <filch/detail/cluster_bounds.hpp>
#include <filch/detail/cluster_task.hpp>
#include <filch/transport.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace filch::inline FILCH_ABI {

struct bound;

namespace detail {

/// A future's state. Only the task that made the future waits for it, on its own rank.
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

/// A rank's part of a reduction, or its result.
struct reduction_part {
  enum class holds : std::uint8_t {
    nothing,
    value,    // its packed bytes, perhaps none
    failure,  // the text of the exception that op or the packing threw
  };
  holds what = holds::nothing;
  message bytes{};
};

/// In a handler: what(), a NUL, and the name of the exception's type.
FILCH_API std::string text_of_current_exception();
/// In a handler: that text in place of a value.
FILCH_API reduction_part failed_part();

/// A word that workers read and write without the endpoint's mutex, to decide what is worth doing.
template <class Type> class hint {
 public:
  // relaxed, all: an old value costs time and is never wrong. The mutex orders what the word announces.
  Type read() const noexcept { return word_.load(std::memory_order_relaxed); }
  void write(Type value) noexcept { word_.store(value, std::memory_order_relaxed); }
  void add(Type n) noexcept { word_.fetch_add(n, std::memory_order_relaxed); }
  void subtract(Type n) noexcept { word_.fetch_sub(n, std::memory_order_relaxed); }

 private:
  std::atomic<Type> word_{};
};

struct endpoint_hints {
  hint<bool> overdue;       // the watchdog found that no worker had polled
  hint<bool> wanted;        // a request was forwarded for want of tasks, and none was answered since
  hint<bool> has_arrived;   // the inbox has tasks
  hint<bool> worker_waits;  // a rank worker without tasks would take some of the rank's others
  hint<unsigned> workers;   // rank workers that poll
};

class FILCH_API endpoint_interface {
 public:
  enum class idle_outcome {
    work,     // tasks are in the deque
    nothing,  // no tasks, perhaps a request under way
    refused,  // no tasks; a request of this rank came back
    ended,    // the run has ended
  };
  enum class [[nodiscard]] leave_outcome { left, helpers_work };

  endpoint_interface(endpoint_interface const&) = delete;
  endpoint_interface& operator=(endpoint_interface const&) = delete;

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }

  // Rank workers

  /// Should a worker poll now, whatever the time?
  bool overdue() const noexcept { return hints_.overdue.read(); }
  /// Does another rank want tasks that this one could not give?
  bool wanted() const noexcept { return hints_.wanted.read(); }
  /// The worker polls from now until worker_ends().
  void worker_begins() noexcept { hints_.workers.add(1); }
  void worker_ends() noexcept { hints_.workers.subtract(1); }
  /// Moves tasks that arrived to the deque. Returns whether there were any.
  bool take_arrived(task_deque& mine) { return hints_.has_arrived.read() && take_inbox(mine); }
  /// Keeps the text of an exception that no future waits for.
  virtual void fail(std::string_view text) = 0;
  /// In a handler: ends all ranks, since the exception takes tasks along and the run would not end.
  virtual void end_over_loss(std::string_view what) = 0;
  /// A helper with tasks has none any more, and has merged its part of the fold.
  virtual void help_ends() = 0;

  // The main loop, in a run

  /// `root_part`: what helpers' parts of the fold are made from, until leave_run(); null: nothing is folded.
  virtual void begin_run(partial const* root_part) = 0;
  /// At the end of a run, or where an exception leaves it. `helpers_work`: they use the part, call again.
  virtual leave_outcome leave_run() = 0;
  /// Without tasks: receives messages, takes part in the termination protocol, requests tasks if it may.
  virtual idle_outcome idle(task_deque& mine, bool may_request) = 0;

  // Bounds

  /// The number of a bound of this cluster. Throws std::invalid_argument for a bound of another cluster.
  unsigned own(struct bound b) const;
  std::int64_t bound(unsigned id) const noexcept { return bound_values_.value(id); }
  void raise(unsigned id, std::int64_t value) noexcept { bound_values_.raise(id, value); }

 protected:
  endpoint_interface(int rank, int ranks) noexcept : rank_(rank), ranks_(ranks) {}
  virtual ~endpoint_interface();

  virtual bool take_inbox(task_deque& mine) = 0;

  // fixed after start
  int const rank_;
  int const ranks_;
  unsigned cluster_ = 0;  // the cluster's number, the same on all ranks

  // any worker
  endpoint_hints hints_;
  bound_values bound_values_;
};

}  // namespace detail
}  // namespace filch::inline FILCH_ABI
