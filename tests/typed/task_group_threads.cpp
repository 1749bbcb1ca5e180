// filch::task_group and threads of the program: a task that lets the group end before its run() returns.
#include <filch/task_group.hpp>

#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

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

}  // namespace
}  // namespace filch_test
