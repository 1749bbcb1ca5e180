// A reduction for which there is no memory on one rank: all ranks end, with a result, an exception or a line. None
// waits for ever.
#include <gtest/gtest.h>

#include <filch/cluster.hpp>
#include <filch/thread_transport.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// Allocations that hold a value of the reduction.
constexpr std::size_t k_large = 5'000;
// Which of the thread's next large allocations fails: 0: the next one; negative: none.
thread_local int fails_at = -1;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  bool const fails = bytes >= k_large && fails_at >= 0 && fails_at-- == 0;
  if (void* const p = fails ? nullptr : std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace filch_test {
namespace {

constexpr int k_not_reached = 3;
constexpr unsigned k_seconds = 20;

/// Three ranks reduce; one of them has no memory once. Exit code 0: all ranks returned or threw.
[[noreturn]] void reduce_and_exit(int loser, int failure) {
  alarm(k_seconds);
  filch::thread_network network(3);
  std::atomic<bool> is_reached{true};
  std::vector<std::thread> ranks;
  for (int r = 0; r < 3; ++r) {
    ranks.emplace_back([&, r] {
      filch::thread_transport threads(network, r);
      filch::cluster<filch::serial> c(threads, {.workers = 1, .patience = 0});
      std::string const mine(k_large, 'x');
      if (r == loser) fails_at = failure;
      try {
        c.reduce([](std::string const& a, std::string const&) { return a; }, mine);
      } catch (filch::task_error const&) {
      }
      if (r == loser) is_reached = std::exchange(fails_at, -1) < 0;
    });
  }
  for (auto& t : ranks) t.join();
  std::_Exit(is_reached ? 0 : k_not_reached);
}

struct outcome {
  int status;
  std::string text;
};
outcome of_reduction(int loser, int failure) {
  std::string const file = ::testing::TempDir() + "cluster_memory_" + std::to_string(getpid());
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    if (!std::freopen(file.c_str(), "w", stderr)) std::_Exit(1);
    reduce_and_exit(loser, failure);
  }
  outcome found{};
  EXPECT_EQ(waitpid(child, &found.status, 0), child);
  std::ifstream lines(file);
  found.text.assign(std::istreambuf_iterator<char>(lines), {});
  std::remove(file.c_str());
  return found;
}

TEST(cluster_memory, that_a_reduction_lacks_leaves_no_rank_waiting) {
  for (int loser = 0; loser < 2; ++loser) {
    int named = 0;
    for (int failure = 0;; ++failure) {
      SCOPED_TRACE(::testing::Message() << "rank " << loser << ", allocation " << failure);
      ASSERT_LT(failure, 100);
      auto const [status, text] = of_reduction(loser, failure);
      if (WIFEXITED(status) && WEXITSTATUS(status) == k_not_reached) break;
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0) << text;
      } else {
        EXPECT_EQ(WTERMSIG(status), SIGABRT) << "ranks wait";
        EXPECT_NE(text.find(" is lost: std::bad_alloc; ending all ranks"), text.npos) << text;
      }
      named += text.find("a part of a reduction is lost") != text.npos;
    }
    EXPECT_GT(named, 0) << "rank " << loser;
  }
}

}  // namespace
}  // namespace filch_test
