// Ranks as threads, and a network between them that delivers in any order, drawn from a seed.
#pragma once

#include "seeds.hpp"

#include "cluster/endpoint.hpp"

#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace filch_test {

/// A network between threads, with a seed for its ports. Keeps the text of end_all().
class network {
 public:
  network(int ranks, std::uint64_t seed) : threads_(ranks), seed_(seed) {}

  filch::thread_network& threads() noexcept { return threads_; }
  std::uint64_t seed() const noexcept { return seed_; }
  void end_all(std::string_view text) {
    std::lock_guard const lock(mutex_);
    last_words_ = text;
  }
  std::string last_words() {
    std::lock_guard const lock(mutex_);
    return last_words_;
  }

 private:
  filch::thread_network threads_;
  std::uint64_t const seed_;
  std::mutex mutex_;
  std::string last_words_;
};

/// One rank's port: messages arrive in any order, drawn from the seed.
class port {
 public:
  port(network& net, int rank)
      : net_(net), threads_(net.threads(), rank), random_(combine(net.seed(), static_cast<std::uint64_t>(rank))) {}
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void begin_cluster() {
    EXPECT_TRUE(is_empty()) << "a message of the cluster before was left behind";
    threads_.begin_cluster();
  }
  void send(int to, filch::message m) { threads_.send(to, std::move(m)); }
  /// Any of the waiting messages, or none yet.
  std::optional<filch::message> receive() {
    if (is_empty() || random_() % 4 == 0) return std::nullopt;
    std::swap(waiting_[random_() % waiting_.size()], waiting_.back());
    filch::message m = std::move(waiting_.back());
    waiting_.pop_back();
    return m;
  }
  void end_all(std::string_view text) { net_.end_all(text); }

  bool is_empty() {
    while (auto m = threads_.receive()) waiting_.push_back(std::move(*m));
    return waiting_.empty();
  }

 private:
  network& net_;
  filch::thread_transport threads_;
  std::mt19937_64 random_;
  std::vector<filch::message> waiting_;
};
static_assert(filch::transport<port>);

/// Calls f(cluster) on that many ranks, each a thread with a pool of its own; on `clusters` of them, one after the
/// other.
template <class S, class F>
void on_ranks(int ranks, unsigned workers, std::uint64_t seed, F f, unsigned clusters = 1) {
  network net(ranks, seed);
  std::deque<port> ports;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, &here = ports.emplace_back(net, r)] {
      for (unsigned i = 0; i < clusters; ++i) {
        filch::cluster<S> cluster(here, {.workers = workers, .patience = 0});
        f(cluster);
      }
    });
  }
  for (auto& t : threads) t.join();
  for (port& here : ports) EXPECT_TRUE(here.is_empty()) << "a message was left behind";
  EXPECT_EQ(net.threads().under_way(), 0u) << "a message of an earlier cluster was left behind";
}

/// A tree of 1 to some thousands of nodes. Its shape follows from its seed.
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

/// Throws when it is packed or unpacked, or in the copy with its number, if the test asks for that.
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
