// Sends and receives a rank's messages, counts them, and knows the rank's neighbours: the ring and the binary tree of
// ranks. Called by the endpoint and its parts, under the endpoint's mutex. Protocol: protocol.md, "Transport".
#pragma once

#include "cluster/messages.hpp"
#include "runtime/check.hpp"

#include <filch/cluster_stats.hpp>

#include <optional>
#include <string_view>

namespace filch::inline FILCH_ABI::detail {

struct message_counters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  friend bool operator==(message_counters const&, message_counters const&) = default;
};

class FILCH_API messenger {
 public:
  explicit messenger(any_transport& carrier) noexcept
      : transport_(carrier), rank_(carrier.rank()), ranks_(carrier.ranks()) {}

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }
  /// The ring: the rank that this one watches, and the one that watches this rank.
  int previous() const noexcept { return (rank_ + ranks_ - 1) % ranks_; }
  int next() const noexcept { return (rank_ + 1) % ranks_; }
  /// The tree.
  bool is_root() const noexcept { return rank_ == 0; }
  int parent() const noexcept { return (rank_ - 1) / 2; }
  std::size_t children() const noexcept;
  template <class Fn> void for_each_child(Fn f) const {
    for (int child = 2 * rank_ + 1; child <= 2 * rank_ + 2 && child < ranks_; ++child) f(child);
  }

  // Messages. An exception takes the message along, so they end all ranks before it leaves.

  void send(int to, message m);
  /// Tasks, results and bounds.
  void send_basic(int to, message m);
  /// Heartbeats and farewells: neither counted nor in the statistics.
  void send_uncounted(int to, message m);
  std::optional<message> receive() { return transport_.receive(); }
  void count_received(message_kind kind) noexcept { counted_.received += is_counted(kind); }
  void count_received_basic() noexcept { ++basic_.received; }

  message_counters basic() const noexcept { return basic_; }
  /// Messages sent less those received; the sum over all ranks is the number under way.
  std::int64_t under_way() const noexcept { return static_cast<std::int64_t>(counted_.sent - counted_.received); }

  void end_all(std::string_view text) { transport_.end_all(text); }
  /// In a handler: ends all ranks, once. The exception comes by here again on its way out.
  void lose(std::string_view what);

  runtime::broken_condition broken() const noexcept;

  cluster_stats stats;  // the parts count in it

 private:
  any_transport& transport_;
  int const rank_;
  int const ranks_;
  message_counters basic_;    // tasks, results and bounds since the cluster was made
  message_counters counted_;  // all but those of reductions, heartbeats and farewells
  bool has_lost_ = false;
};

}  // namespace filch::inline FILCH_ABI::detail
