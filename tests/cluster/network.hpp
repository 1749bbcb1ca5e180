// Ranks in one process, and a network between them that delivers in any order, drawn from a seed.
#pragma once

#include "seeds.hpp"

#include <filch/cluster.hpp>

#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace filch_test {

class network {
 public:
  network(int ranks, std::uint64_t seed) : boxes_(static_cast<std::size_t>(ranks)), random_(seed) {}

  int ranks() const noexcept { return static_cast<int>(boxes_.size()); }
  void send(int to, filch::message m) {
    std::lock_guard const lock(mutex_);
    boxes_[static_cast<std::size_t>(to)].push_back(std::move(m));
  }
  /// Any of those that wait, or none yet.
  std::optional<filch::message> receive(int rank) {
    std::lock_guard const lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(rank)];
    if (box.empty() || random_() % 4 == 0) return std::nullopt;
    std::swap(box[random_() % box.size()], box.back());
    filch::message m = std::move(box.back());
    box.pop_back();
    return m;
  }
  bool is_empty() {
    std::lock_guard const lock(mutex_);
    return std::all_of(boxes_.begin(), boxes_.end(), [](auto const& box) { return box.empty(); });
  }
  void end_all(std::string_view text) {
    std::lock_guard const lock(mutex_);
    last_words_ = text;
  }
  std::string last_words() {
    std::lock_guard const lock(mutex_);
    return last_words_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<filch::message>> boxes_;
  std::mt19937_64 random_;
  std::string last_words_;
};

/// One rank's place in it.
class port {
 public:
  port(network& net, int rank) noexcept : net_(net), rank_(rank) {}
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return net_.ranks(); }
  void send(int to, filch::message m) { net_.send(to, std::move(m)); }
  std::optional<filch::message> receive() { return net_.receive(rank_); }
  void end_all(std::string_view text) { net_.end_all(text); }

 private:
  network& net_;
  int const rank_;
};
static_assert(filch::transport<port>);

/// Calls f(cluster) on that many ranks, each a thread with a pool of its own.
template <class S, class F> void on_ranks(int ranks, unsigned workers, std::uint64_t seed, F f) {
  network net(ranks, seed);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      port here(net, r);
      filch::cluster<S> cluster(here, {.workers = workers, .patience = 0});
      f(cluster);
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_TRUE(net.is_empty()) << "a message was left behind";
}

/// A tree whose shape follows from its seed: the number of nodes varies from 1 to some thousands.
struct tree_node {
  std::uint64_t seed;
  int depth;
  int children() const { return depth == 0 ? 0 : static_cast<int>(mix(seed) % 5); }
  tree_node child(int i) const { return {mix(seed ^ (0x1000u + static_cast<unsigned>(i))), depth - 1}; }
  long nodes() const {
    long sum = 1;
    for (int i = 0; i < children(); ++i) sum += child(i).nodes();
    return sum;
  }
};

inline long count_nodes(filch::rank& here, tree_node n) {
  for (int i = 0; i < n.children(); ++i) here.spawn<&count_nodes>(n.child(i));
  return 1;
}

}  // namespace filch_test
