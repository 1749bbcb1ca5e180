// filch::task_group and threads of the program: a task that lets the group end before its run() returns, a task that
// such a thread runs at once, waits in several threads.
#include <filch/task_group.hpp>

#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class task_group_threads : public ::testing::Test {};
TYPED_TEST_SUITE(task_group_threads, all_schedulers, scheduler_names);

TYPED_TEST(task_group_threads, add_a_task_that_ends_group_and_pool) {
  if (!steals<TypeParam> || has_no_thieves<TypeParam>()) GTEST_SKIP() << "it has no threads";
  using group_type = filch::task_group<TypeParam>;
  std::atomic<group_type*> shared{nullptr};
  std::atomic<bool> stops{false};
  std::atomic<int> ran{0};
  std::thread adder([&] {
    while (!stops) {
      if (group_type* const group = shared.exchange(nullptr)) {
        group->run([&] { ++ran; });  // *group may be gone
      } else {
        std::this_thread::yield();
      }
    }
  });
  constexpr int k_rounds = 200;
  for (int round = 0; round < k_rounds; ++round) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([&] {
      auto const group = std::make_unique<group_type>();
      shared = group.get();
      EXPECT_TRUE(eventually([&] { return ran == round + 1; }));
      EXPECT_TRUE(group->wait());
    });
  }
  stops = true;
  adder.join();
  EXPECT_EQ(ran, k_rounds);
}

/// Runs at once on the adder's thread when as many wait as may. Its end takes time in which wait() could return.
struct task_of_adder {
  struct state {
    std::thread::id adder{};
    gate begun{};
    std::atomic<bool> ended{false};
  };
  state& of;
  bool is_at_once = false;

  explicit task_of_adder(state& s) noexcept : of(s) {}
  task_of_adder(task_of_adder&& other) noexcept : of(other.of) {}
  task_of_adder& operator=(task_of_adder&&) = delete;
  void operator()() {
    is_at_once = std::this_thread::get_id() == of.adder;
    if (is_at_once) {
      of.begun.open();
    } else {
      work_for(std::chrono::microseconds(2));
    }
  }
  ~task_of_adder() {
    if (!is_at_once) return;
    work_for(std::chrono::milliseconds(20));
    of.ended = true;
  }
};

TYPED_TEST(task_group_threads, are_awaited_while_they_run_a_task_at_once) {
  outside_and_in_pools<TypeParam>([] {
    task_of_adder::state state;
    auto group = std::make_unique<filch::task_group<TypeParam>>();
    std::thread adder([&] {
      state.adder = std::this_thread::get_id();
      auto& its = *group;
      while (!state.begun.is_open()) its.run(task_of_adder(state));
    });
    EXPECT_TRUE(state.begun.pass());
    EXPECT_TRUE(group->wait());
    EXPECT_TRUE(state.ended);
    group.reset();
    adder.join();
  });
}

TYPED_TEST(task_group_threads, wait_at_the_same_time_and_one_gets_the_exceptions) {
  outside_and_in_pools<TypeParam>([] {
    for (int round = 0; round < 300; ++round) {
      filch::task_group<TypeParam> group;
      for (int i = 0; i < 8; ++i) group.run([] { throw 1; });
      constexpr int k_waiters = 4;
      std::atomic<int> arrived{0};
      std::atomic<int> threw{0};
      auto const wait = [&] {
        ++arrived;
        while (arrived < k_waiters) std::this_thread::yield();
        try {
          group.wait();
        } catch (...) {  // not by its type: ThreadSanitizer does not see the count of an exception's owners
          ++threw;
        }
      };
      std::vector<std::thread> others;
      for (int i = 1; i < k_waiters; ++i) others.emplace_back(wait);
      wait();
      for (auto& t : others) t.join();
      ASSERT_EQ(threw, 1);
      ASSERT_FALSE(group.is_cancelled());
      group.run([] {});
      ASSERT_TRUE(group.wait());
      ASSERT_TRUE(group.exceptions().empty());
    }
  });
}

TYPED_TEST(task_group_threads, that_wait_at_the_same_time_have_all_exceptions_together) {
  if (has_no_thieves<TypeParam>()) GTEST_SKIP() << "a measured pool has one caller at a time";
  constexpr int k_waiters = 3;
  typename TypeParam::pool pool({.workers = 1});
  auto group = pool.run([] { return std::make_unique<filch::task_group<TypeParam>>(); });
  std::atomic<int> begun{0};
  std::atomic<int> threw{0};
  std::atomic<int> whole{0};
  // The pool has no thread of its own: each waiter runs one.
  for (int i = 0; i < k_waiters; ++i) {
    group->run([&] {
      ++begun;
      EXPECT_TRUE(eventually([&] { return begun == k_waiters; }));
      throw 1;
    });
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < k_waiters; ++i) {
    threads.emplace_back([&] {
      pool.run([&] {
        try {
          whole += group->wait();
        } catch (int) {
          ++threw;
        }
      });
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(threw, 1);
  EXPECT_EQ(whole, 0);
  EXPECT_EQ(group->exceptions().size(), std::size_t{k_waiters});
  EXPECT_TRUE(group->wait());
  EXPECT_TRUE(group->exceptions().empty());
}

}  // namespace
}  // namespace filch_test
