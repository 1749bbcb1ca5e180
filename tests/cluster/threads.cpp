// The transport between threads, without a port that changes the order of messages.
#include "cluster/endpoint.hpp"
#include "schedulers.hpp"

#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <thread>

namespace filch_test {
namespace {

using filch::thread_network;
using filch::thread_transport;

/// Calls f(transport) for each rank, on a thread of its own.
template <class F> void on_threads(thread_network& network, F f) {
  std::deque<thread_transport> transports;
  std::vector<std::thread> threads;
  for (int r = 0; r < network.ranks(); ++r) {
    threads.emplace_back([&f, &here = transports.emplace_back(network, r)] { f(here); });
  }
  for (auto& t : threads) t.join();
}

struct numbered {
  int from;
  std::size_t number;
};

TEST(cluster_threads, receive_each_message_once_and_those_of_one_rank_in_order) {
  constexpr int k_ranks = 4;
  std::size_t const each = scaled(20'000);
  thread_network network(k_ranks);
  on_threads(network, [each](thread_transport& here) {
    std::vector<std::size_t> next(k_ranks);
    auto const receive = [&] {
      while (auto const m = here.receive()) {
        auto const n = filch::detail::unpacked<numbered>(*m);
        ASSERT_EQ(n.number, next[static_cast<std::size_t>(n.from)]++);
      }
    };
    for (std::size_t i = 0; i < each; ++i) {
      for (int to = 0; to < k_ranks; ++to) here.send(to, filch::detail::packed(numbered{here.rank(), i}));
      receive();
    }
    auto const all = std::vector<std::size_t>(k_ranks, each);
    while (next != all && !::testing::Test::HasFailure()) receive();
  });
  EXPECT_EQ(network.under_way(), 0u);
}

TEST(cluster_threads, keep_messages_of_the_next_cluster_until_it_has_begun) {
  thread_network network(2);
  thread_transport zero(network, 0);
  thread_transport one(network, 1);
  zero.begin_cluster();
  one.begin_cluster();
  zero.send(1, filch::message(1));
  zero.begin_cluster();
  zero.send(1, filch::message(2));
  EXPECT_EQ(network.under_way(), 2u);
  EXPECT_EQ(one.receive(), filch::message(1));
  EXPECT_EQ(one.receive(), std::nullopt);
  one.begin_cluster();
  EXPECT_EQ(one.receive(), filch::message(2));
  EXPECT_EQ(network.under_way(), 0u);
}

TEST(cluster_threads, stay_in_their_ranks_cluster_when_a_second_one_begins) {
  thread_network network(2);
  thread_transport zero(network, 0);
  zero.begin_cluster();
  {
    thread_transport one(network, 1);
    one.begin_cluster();
  }
  thread_transport again(network, 1);
  zero.send(1, filch::message(1));
  EXPECT_EQ(again.receive(), filch::message(1));
  again.begin_cluster();
  again.send(0, filch::message(2));
  EXPECT_EQ(zero.receive(), std::nullopt);
  zero.begin_cluster();
  EXPECT_EQ(zero.receive(), filch::message(2));
  EXPECT_EQ(network.under_way(), 0u);
}

long sum_below(filch::rank& here, int n) {
  for (int i = 0; i < n; ++i) here.spawn<&sum_below>(i);
  return n;
}
/// S(n) = n + S(0) + ... + S(n - 1) = 2^n - 1
long expected_sum(int n) { return (1L << n) - 1; }

template <class S> class clusters_of_threads : public ::testing::Test {};
TYPED_TEST_SUITE(clusters_of_threads, all_schedulers, scheduler_names);

TYPED_TEST(clusters_of_threads, follow_each_other_on_one_network) {
  constexpr int k_clusters = 10;
  thread_network network(3);
  on_threads(network, [](thread_transport& here) {
    for (int i = 0; i < k_clusters; ++i) {
      filch::cluster<TypeParam> ranks(here, {.workers = 1, .patience = 0});
      EXPECT_EQ((ranks.template fold<&sum_below>(std::plus<>(), i)), expected_sum(i));
    }
  });
  EXPECT_EQ(network.under_way(), 0u);
}

TEST(cluster_threads, have_one_cluster_at_a_time) {
  thread_network network(2);
  on_threads(network, [](thread_transport& here) {
    for (int i = 0; i < 2; ++i) {
      filch::cluster<> ranks(here, {.workers = 1, .patience = 0});
      EXPECT_THROW(filch::cluster<>(here, {.workers = 1, .patience = 0}), filch::setup_error);
      EXPECT_EQ((ranks.fold<&sum_below>(std::plus<>(), 5)), expected_sum(5)) << "the first one goes on";
    }
  });
  EXPECT_EQ(network.under_way(), 0u);
}

/// Counts heartbeats.
class listener {
 public:
  explicit listener(thread_transport& threads) noexcept : threads_(threads) {}
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void begin_cluster() noexcept { threads_.begin_cluster(); }
  void send(int to, filch::message m) { threads_.send(to, std::move(m)); }
  std::optional<filch::message> receive() {
    auto m = threads_.receive();
    if (m && m->at(0) == k_heartbeat) heartbeats_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    return m;
  }
  void end_all(std::string_view text) { threads_.end_all(text); }
  int heartbeats() const noexcept { return heartbeats_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::byte k_heartbeat{9};
  thread_transport& threads_;
  std::atomic<int> heartbeats_{0};
};

/// Ends when each rank has sent two heartbeats.
void work_while_watched(filch::cluster_options const& options) {
  thread_network network(3);
  on_threads(network, [&options](thread_transport& threads) {
    listener here(threads);
    filch::cluster<> ranks(here, options);
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bool goes_on = true;
    while (goes_on) {
      EXPECT_EQ((ranks.fold<&sum_below>(std::plus<>(), 10)), expected_sum(10));
      bool const waits = here.heartbeats() < 2 && std::chrono::steady_clock::now() < until;
      goes_on = ranks.reduce(std::logical_or<>(), waits);
    }
    EXPECT_GE(here.heartbeats(), 2);
  });
}

// Watchdogs and workers use the endpoint at once. Sanitizers see their races.
TEST(cluster_threads, are_watched_while_they_work) { work_while_watched({.workers = 2}); }

TEST(cluster_threads, may_have_more_patience_than_there_are_ticks) {
  constexpr unsigned k_two_ticks_modulo_all = 1'288'490'189;
  static_assert(k_two_ticks_modulo_all * filch::detail::endpoint::k_ticks_per_second == 2);
  work_while_watched({.workers = 1, .patience = k_two_ticks_modulo_all});
}

TEST(cluster_threads, share_the_processors_of_their_process) {
  auto const all = static_cast<int>(filch::direct::pool(filch::pool_options()).workers());
  for (int ranks : {2, all, 2 * all}) {
    if (ranks == 1) continue;
    thread_network network(ranks);
    thread_transport const here(network, 0);
    EXPECT_EQ(here.workers(), static_cast<unsigned>(std::max(1, all / ranks))) << ranks;
  }
}

TEST(cluster_threads, have_a_rank_of_the_network) {
  EXPECT_THROW(thread_network(0), filch::setup_error);
  EXPECT_THROW(thread_network(-1), filch::setup_error);
  thread_network network(2);
  EXPECT_THROW(thread_transport(network, -1), filch::setup_error);
  EXPECT_THROW(thread_transport(network, 2), filch::setup_error);
  EXPECT_EQ(thread_transport(network, 1).rank(), 1);
}

TEST(cluster_threads, end_with_a_line_that_names_the_rank) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  thread_network network(2);
  thread_transport one(network, 1);
  EXPECT_EXIT(one.end_all("what is wrong"), ::testing::KilledBySignal(SIGABRT),
              "filch: rank 1: what is wrong; ending all ranks");
}

}  // namespace
}  // namespace filch_test
