// The endpoint's steal requests: this rank's own, those of others that wait here, and the tasks that travel in
// answers. Called by the endpoint, under its mutex. Protocol: protocol.md, "Steal requests".
#pragma once

#include "cluster/heartbeats.hpp"
#include "cluster/messenger.hpp"
#include "cluster/results.hpp"

#include <span>
#include <vector>

namespace filch::inline FILCH_ABI::detail {

/// The outcome of a poll for its worker. Not [[nodiscard]]: it is a hint.
enum class look_result {
  idle,       // nothing, or another worker has the mutex
  requested,  // another rank's request has come since the last such look
  refused,    // this rank's request came back: the look sent no other, and the worker pauses before it may
};

/// The part of a worker's looks in the decision that the rank has no tasks to spare. The looks of a waiting worker
/// follow each other at once.
enum class look_weight : unsigned { waiting = 1, working = 16 };

/// Where a look leaves tasks that arrived.
enum class arrivals {
  come,  // in its deque, if that has fewer than two
  stay,  // in the inbox, also for other ranks if the deque has none to spare
};

class FILCH_API requests {
 public:
  /// Less than MPI's limit by far, so that tasks which fit one by one go one by one.
  static constexpr std::size_t k_longest_answer = std::size_t{1} << 30;

  /// `longest`: bytes of an answer with several tasks, about.
  requests(messenger& m, results& r, heartbeats& h, endpoint_hints& hints,
           std::size_t longest = k_longest_answer) noexcept;

  /// One look of a rank worker, once messages have been received. Serves requests with at most `spare` of its tasks,
  /// and sends a request if the rank seems drained. Returns idle or refused.
  look_result look(task_deque& mine, std::size_t spare, bool may_request, look_weight weight, arrivals where);
  /// Sends a request, if none is under way.
  void send_request();
  /// Answers requests with at most `spare` tasks, and forwards those that have waited for `looks` looks. Returns how
  /// many may still go.
  std::size_t serve(task_deque& mine, std::size_t spare, unsigned looks);
  void forward_all();
  /// Returns how many tasks there were.
  std::size_t move_inbox(task_deque& mine);
  /// Moves the oldest `count` to the inbox.
  void leave_in_inbox(task_deque& mine, std::size_t count);

  /// Has another rank's request come since the last call?
  bool take_was_requested() noexcept { return std::exchange(was_requested_, false); }
  /// Has this rank's request come back since the last call?
  bool take_was_refused() noexcept { return std::exchange(was_refused_, false); }
  bool is_under_way() const noexcept { return under_way_; }
  bool has_inbox() const noexcept { return !inbox_.empty(); }

  void begin_run() noexcept;
  /// From now on the rank sends and forwards no requests.
  void close() noexcept;

  /// Message `request`.
  void take_request(unpacker& u);
  /// Message `tasks`.
  void take_tasks(std::span<std::byte const> bytes);

  runtime::broken_condition broken() const noexcept;

 private:
  struct steal_request {
    std::int32_t thief;
    std::int32_t hops;
    std::int32_t stride;
    unsigned looks;  // number since it arrived here
  };

  bool seems_drained(std::size_t spare, look_weight weight) noexcept;
  std::size_t answer(steal_request const& request, task_deque& mine, std::size_t most);
  void send_tasks(int thief, packer p, std::vector<task_header> const& headers, bool ends_request);
  std::size_t pack_tasks(packer& p, std::vector<task_header>& headers, task_deque& mine, std::size_t most);
  task_kind const* known_kind(std::uint64_t id);
  void forward(steal_request request);
  void unpack_task(unpacker& arguments, task_header const& header, task_kind const& kind);
  std::int32_t random_stride() noexcept;
  runtime::broken_condition broken(steal_request const& request) const noexcept;

  messenger& messenger_;
  results& results_;
  heartbeats& heartbeats_;
  endpoint_hints& hints_;
  std::size_t const longest_;
  task_deque inbox_;                 // tasks that arrived, or that a worker left for one that waits
  std::vector<steal_request> list_;  // requests of other ranks
  unsigned looks_in_vain_ = 0;       // sum of weights since a look had tasks to spare
  bool under_way_ = false;           // this rank's request
  bool was_refused_ = false;         // it came back, and no look has taken note
  bool was_requested_ = false;       // another rank requested, and no look of a working rank worker has taken note
  bool closing_ = false;
  std::uint64_t random_;
};

}  // namespace filch::inline FILCH_ABI::detail
