// Ranks in one thread: the test makes their steps.
#pragma once

#include "network.hpp"

#include <functional>

namespace filch_test {

using filch::detail::endpoint;
using filch::detail::look_result;
using filch::detail::rank_worker;
using filch::detail::task_deque;

/// A part of a fold that adds to a sum.
class counting final : public filch::detail::partial_of<long> {
 public:
  explicit counting(long& sum) noexcept : sum_(sum) {}
  std::unique_ptr<partial> another() const override { return std::make_unique<counting>(sum_); }
  void merge() override {}
  void add(long&& value) override { sum_ += value; }

 private:
  long& sum_;
};

struct stepped_rank {
  stepped_rank(network& net, int rank, long& sum)
      : here(net, rank), carrier(here), endpoint_(carrier, 0), mine(endpoint_, std::make_unique<counting>(sum)) {}
  port here;
  filch::detail::transport_of<port> carrier;
  endpoint endpoint_;
  rank_worker mine;
  bool works = false;
  bool has_begun = false;
  bool has_ended = false;

  void step(std::mt19937_64& random) {
    if (random() % 64 == 0) endpoint_.tick();
    if (!has_begun) {
      if (random() % 16 == 0) endpoint_.begin_run(), has_begun = true;
    } else if (!mine.tasks.empty()) {
      if (!std::exchange(works, true)) endpoint_.worker_begins();
      if (random() % 2 == 0) mine.poll(mine.tasks.size() - 1);
      mine.run_newest();
    } else if (!endpoint_.take_arrived(mine.tasks)) {
      if (std::exchange(works, false)) endpoint_.worker_ends();
      has_ended = endpoint_.idle(mine.tasks, random() % 2 == 0) == endpoint::idle_outcome::ended;
    }
  }
};

/// A rank with tasks, and one that requests them until some arrive.
struct victim_and_thief {
  long found = 0;
  network net{2, 1};
  stepped_rank victim{net, 0, found};
  stepped_rank thief{net, 1, found};

  victim_and_thief() {
    victim.endpoint_.begin_run();
    thief.endpoint_.begin_run();
  }
  void steal(std::size_t spare) {
    while (thief.mine.tasks.empty()) {
      thief.endpoint_.idle(thief.mine.tasks, true);
      victim.endpoint_.poll(victim.mine.tasks, spare);
    }
  }
};

/// A rank's port that keeps the order of messages, or reverses it. Counts its heartbeats.
class ordered_port {
 public:
  ordered_port(network& net, int rank) : net_(net), threads_(net.threads(), rank) {}
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void send(int to, filch::message m) {
    constexpr auto k_heartbeat = static_cast<std::byte>(filch::detail::message_kind::heartbeat);
    heartbeats += m.at(0) == k_heartbeat;
    if (while_sending) while_sending();
    threads_.send(to, std::move(m));
  }
  std::optional<filch::message> receive() {
    if (received_++ % (most + 1) == most) return std::nullopt;
    if (!newest_first) return threads_.receive();
    while (auto m = threads_.receive()) waiting_.push_back(std::move(*m));
    if (waiting_.empty()) return std::nullopt;
    filch::message m = std::move(waiting_.back());
    waiting_.pop_back();
    return m;
  }
  void end_all(std::string_view text) { net_.end_all(text); }

  std::function<void()> while_sending;
  int heartbeats = 0;  // heartbeats that it sent
  bool newest_first = false;
  unsigned most = ~0u - 1;  // messages at a look

 private:
  unsigned received_ = 0;
  network& net_;
  filch::thread_transport threads_;
  std::vector<filch::message> waiting_;
};

struct ordered_rank {
  ordered_rank(network& net, int rank, unsigned silence = 0)
      : here(net, rank), carrier(here), endpoint_(carrier, silence), mine(endpoint_, nullptr) {}
  ordered_port here;
  filch::detail::transport_of<ordered_port> carrier;
  endpoint endpoint_;
  rank_worker mine;
};

struct two_ordered_ranks {
  network net{2, 1};
  ordered_rank zero{net, 0};
  ordered_rank one{net, 1};
  task_deque none;
};

}  // namespace filch_test
