// filch::task_group and threads of the program: a task that lets the group end before its run() returns, a task that
// such a thread runs at once.
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

}  // namespace
}  // namespace filch_test
