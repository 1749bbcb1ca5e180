// OpenCV's parallel loops through the plug-in. The environment names the plug-in and its folder.
#include <opencv2/core.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cv {
char const* currentParallelFramework();  // declared by no header that is installed
}

namespace {

TEST(opencv, the_plug_in_is_used) { EXPECT_STREQ(cv::currentParallelFramework(), "filch"); }

/// Those of this process.
int threads() { return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {})); }

/// Before the default pool is made.
TEST(opencv, no_thread_starts_for_loops_in_order) {
  for (int const n : {0, 1}) {
    cv::setNumThreads(n);
    EXPECT_EQ(cv::getNumThreads(), 1);
    EXPECT_EQ(threads(), 1);
    std::thread::id const caller = std::this_thread::get_id();
    cv::parallel_for_(cv::Range(0, 64), [&](cv::Range const&) { EXPECT_EQ(std::this_thread::get_id(), caller); });
    EXPECT_EQ(threads(), 1);
  }
}

TEST(opencv, its_loops_call_each_index_once) {
  cv::setNumThreads(4);
  for (int const n : {1, 2, 63, 64, 65, 10000}) {
    for (double const stripes : {-1.0, 3.0, 100.0}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
      cv::parallel_for_(
          cv::Range(0, n),
          [&](cv::Range const& range) {
            for (int i = range.start; i < range.end; ++i) ++seen[static_cast<std::size_t>(i)];
          },
          stripes);
      for (auto const& count : seen) ASSERT_EQ(count, 1);
    }
  }
}

TEST(opencv, two_threads_share_a_loop) {
  cv::setNumThreads(3);
  EXPECT_EQ(cv::getNumThreads(), 3);
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::map<std::thread::id, int> threads;
  while (threads.size() < 2 && std::chrono::steady_clock::now() < until) {
    std::mutex lock;
    threads.clear();
    cv::parallel_for_(cv::Range(0, 64), [&](cv::Range const&) {
      auto const patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < patience) {
      }
      int const number = cv::getThreadNum();
      EXPECT_GE(number, 0);
      EXPECT_LT(number, 3);
      std::lock_guard const guard(lock);
      EXPECT_EQ(threads.emplace(std::this_thread::get_id(), number).first->second, number);
    });
    std::set<int> numbers;
    for (auto const& [thread, number] : threads) numbers.insert(number);
    EXPECT_EQ(numbers.size(), threads.size());
    EXPECT_EQ(cv::getThreadNum(), 0) << "outside of loops";
  }
  EXPECT_GE(threads.size(), 2u);
}

TEST(opencv, any_number_of_threads_may_be_set) {
  cv::setNumThreads(2000);
  EXPECT_EQ(cv::getNumThreads(), 1024);
  cv::setNumThreads(3);
  EXPECT_EQ(cv::getNumThreads(), 3);
}

/// A loop that cost little says nothing of another one: the first stripe waits for the second.
TEST(opencv, two_stripes_are_shared_after_cheap_loops) {
  cv::setNumThreads(3);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i) cv::parallel_for_(cv::Range(0, 64), [](cv::Range const&) {});
    std::atomic<int> begun{0};
    cv::parallel_for_(cv::Range(0, 2), [&](cv::Range const&) {
      ++begun;
      auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
      while (begun < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
      EXPECT_EQ(begun, 2);
    });
  }
}

TEST(opencv, the_same_number_again_keeps_the_threads) {
  cv::setNumThreads(4);
  std::set<int> ids[2];
  for (auto& of_loop : ids) {
    cv::parallel_for_(cv::Range(0, 64), [](cv::Range const&) {});
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task"))
      of_loop.insert(std::stoi(task.path().filename()));
    cv::setNumThreads(4);
  }
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(opencv, exceptions_leave_the_loop) {
  EXPECT_THROW(cv::parallel_for_(cv::Range(0, 1000),
                                 [](cv::Range const& range) {
                                   if (range.start <= 500 && 500 < range.end) throw std::runtime_error("500");
                                 }),
               std::runtime_error);
}

}  // namespace
