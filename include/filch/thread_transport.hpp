// The transport between ranks that are threads of one process. See src/cluster/threads.cpp.
#pragma once

#include <filch/pool_options.hpp>
#include <filch/transport.hpp>

#include <deque>
#include <mutex>
#include <vector>

namespace filch::inline FILCH_ABI {

/// The mailboxes of ranks that are threads of this process. Needs no MPI.
///
///     filch::thread_network network(2);
///     auto const program = [&](int rank) {
///       filch::thread_transport threads(network, rank);
///       filch::cluster<> ranks(threads);
///       ...
///     };
///     std::thread other(program, 1);
///     program(0);
///     other.join();
class FILCH_API thread_network {
 public:
  /// Throws setup_error for fewer than one rank.
  explicit thread_network(int ranks);
  thread_network(thread_network const&) = delete;
  thread_network& operator=(thread_network const&) = delete;
  ~thread_network() = default;

  /// The number of ranks.
  int ranks() const noexcept { return static_cast<int>(boxes_.size()); }
  /// The number of messages sent and not received: 0 once all clusters have ended. From any thread.
  std::size_t under_way() const;

 private:
  friend class thread_transport;
  struct letter {
    unsigned cluster;
    message bytes;
  };
  /// The mailbox of one rank. Senders put messages into it.
  struct alignas(64) mailbox {
    std::mutex mutable mutex;
    std::deque<letter> letters;  // under mutex
    // Number of the cluster whose messages the rank sends and receives. The rank's own: its calls do not overlap.
    unsigned cluster = 0;
  };
  std::vector<mailbox> boxes_;
};

/// A rank's place in a thread_network. Serves any number of clusters, one after the other. Several places of one rank
/// may follow each other.
///
/// A message costs a lock of the receiver's mailbox at each end, and no copy. Messages from one rank to another keep
/// their order.
class FILCH_API thread_transport {
 public:
  /// The network must outlive it, and each rank has one place at a time. Throws setup_error if there is no such rank.
  thread_transport(thread_network& network, int rank);
  thread_transport(thread_transport const&) = delete;
  thread_transport& operator=(thread_transport const&) = delete;
  ~thread_transport() = default;

  /// See filch::transport.
  void begin_cluster() noexcept { ++mine().cluster; }
  /// See filch::transport.
  int rank() const noexcept { return rank_; }
  /// See filch::transport.
  int ranks() const noexcept { return network_.ranks(); }
  /// Throws std::bad_alloc. The message is lost then.
  void send(int to, message m);
  /// See filch::transport.
  std::optional<message> receive();
  /// Prints a line on stderr and calls std::abort, so that a debugger shows where each rank is.
  [[noreturn]] void end_all(std::string_view text);

  /// The process's number of processors, divided by the number of ranks; at least 1. For a lone rank 0: as in
  /// pool_options. Throws std::bad_alloc.
  unsigned workers() const;

 private:
  thread_network::mailbox& mine() noexcept { return network_.boxes_[static_cast<std::size_t>(rank_)]; }

  thread_network& network_;
  int const rank_;
};

static_assert(transport<thread_transport>);

}  // namespace filch::inline FILCH_ABI
