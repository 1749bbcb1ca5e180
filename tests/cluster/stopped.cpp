// All ranks are stopped for a while, and continue: the clock has advanced, but no rank was silent.
#include "eventually.hpp"

#include <gtest/gtest.h>

#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace filch_test {
namespace {

constexpr unsigned k_patience = 2;
constexpr int k_ended_all = 1;
constexpr int k_ended_well = 0;

/// The transport of a rank that an exception ends.
class leaving_transport {
 public:
  explicit leaving_transport(filch::thread_transport& threads) noexcept : threads_(threads) {}
  void begin_cluster() noexcept { threads_.begin_cluster(); }
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void send(int to, filch::message m) { threads_.send(to, std::move(m)); }
  std::optional<filch::message> receive() {
    if (leaves) ++looks;
    return threads_.receive();
  }
  void end_all(std::string_view) { std::_Exit(k_ended_all); }

  std::atomic<bool> leaves{false};
  std::atomic<int> looks{0};

 private:
  filch::thread_transport& threads_;
};

/// An exception ends rank 1 while the process is stopped. Rank 0 ends soon after that.
[[noreturn]] void stop_in_the_middle() {
  filch::thread_network network(2);
  filch::thread_transport threads(network, 1);
  leaving_transport of_one(threads);
  std::thread one([&] {
    try {
      filch::cluster<filch::serial> const c(of_one, {.workers = 1, .patience = k_patience});
      of_one.leaves = true;
      throw std::runtime_error("leaves");
    } catch (std::runtime_error const&) {
    }
  });
  auto const looks_of_one = [&](int more) {
    return eventually([&of_one, least = of_one.looks + more] { return of_one.looks >= least; });
  };
  {
    filch::thread_transport here(network, 0);
    filch::cluster<filch::serial> const c(here, {.workers = 1, .patience = k_patience});
    EXPECT_TRUE(looks_of_one(100));  // more than the watchdog's: the rank is at its end
    std::raise(SIGSTOP);
    EXPECT_TRUE(looks_of_one(10));
  }
  one.join();
  std::_Exit(::testing::Test::HasFailure() ? 2 : k_ended_well);
}

TEST(cluster_stopped, with_all_ranks_is_no_silence) {
  pid_t const child = fork();
  if (child == 0) stop_in_the_middle();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500) * k_patience);  // longer than that
  ASSERT_EQ(kill(child, SIGCONT), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), k_ended_well);
}

}  // namespace
}  // namespace filch_test
