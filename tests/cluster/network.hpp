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
  void send(int to, filch::message m, unsigned cluster) {
    std::lock_guard const lock(mutex_);
    box_of(to, cluster).push_back(std::move(m));
  }
  /// Any of those that wait, or none yet.
  std::optional<filch::message> receive(int rank, unsigned cluster) {
    std::lock_guard const lock(mutex_);
    auto& box = box_of(rank, cluster);
    if (box.empty() || random_() % 4 == 0) return std::nullopt;
    std::swap(box[random_() % box.size()], box.back());
    filch::message m = std::move(box.back());
    box.pop_back();
    return m;
  }
  bool is_empty(int rank, unsigned cluster) {
    std::lock_guard const lock(mutex_);
    return box_of(rank, cluster).empty();
  }
  bool is_empty() {
    std::lock_guard const lock(mutex_);
    for (auto const& clusters : boxes_) {
      if (!std::all_of(clusters.begin(), clusters.end(), [](auto const& box) { return box.empty(); })) return false;
    }
    return true;
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
  using messages = std::vector<filch::message>;

  messages& box_of(int rank, unsigned cluster) {
    auto& clusters = boxes_[static_cast<std::size_t>(rank)];
    if (clusters.size() <= cluster) clusters.resize(cluster + 1);
    return clusters[cluster];
  }

  std::mutex mutex_;
  std::vector<std::vector<messages>> boxes_;  // of each rank, for each cluster
  std::mt19937_64 random_;
  std::string last_words_;
};

/// One rank's place in it.
class port {
 public:
  port(network& net, int rank) noexcept : net_(net), rank_(rank) {}
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return net_.ranks(); }
  void begin_cluster() {
    EXPECT_TRUE(net_.is_empty(rank_, cluster_)) << "a message of the cluster before was left behind";
    ++cluster_;
  }
  void send(int to, filch::message m) { net_.send(to, std::move(m), cluster_); }
  std::optional<filch::message> receive() { return net_.receive(rank_, cluster_); }
  void end_all(std::string_view text) { net_.end_all(text); }

 private:
  network& net_;
  int const rank_;
  unsigned cluster_ = 0;
};
static_assert(filch::transport<port>);

/// Calls f(cluster) on that many ranks, each a thread with a pool of its own; on `clusters` of them, one after the
/// other.
template <class S, class F>
void on_ranks(int ranks, unsigned workers, std::uint64_t seed, F f, unsigned clusters = 1) {
  network net(ranks, seed);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      port here(net, r);
      for (unsigned i = 0; i < clusters; ++i) {
        filch::cluster<S> cluster(here, {.workers = workers, .patience = 0});
        f(cluster);
      }
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

/// Throws as it is packed or unpacked, or in the copy that its number says, where that is asked for.
struct brittle {
  enum class when { never, packed, unpacked, copied };
  brittle(long n, when w) : number(n), breaks(w) {}
  brittle(brittle const& other) : number(other.number - (other.breaks == when::copied)), breaks(other.breaks) {
    if (breaks == when::copied && number == 0) throw std::overflow_error("broken");
  }
  brittle& operator=(brittle const&) = default;
  ~brittle() = default;
  long number;
  when breaks;
};

}  // namespace filch_test

template <> struct filch::packing<filch_test::brittle> {
  using when = filch_test::brittle::when;
  static void pack(packer& p, filch_test::brittle const& b) {
    packing<long>::pack(p, b.number);
    if (b.breaks == when::packed) throw std::overflow_error("broken");
    packing<when>::pack(p, b.breaks);
  }
  static filch_test::brittle unpack(unpacker& u) {
    long const number = packing<long>::unpack(u);
    auto const breaks = packing<when>::unpack(u);
    if (breaks == when::unpacked) throw std::overflow_error("broken");
    return {number, breaks};
  }
};
