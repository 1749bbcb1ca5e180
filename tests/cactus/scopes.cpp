// Tasks of a scope whose stolen ones lie on another worker, or at places before the present ones.
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <chrono>

namespace filch_test {
namespace {

using S = filch::cactus;

/// Spawns many tasks into a scope of which `stolen` tasks were stolen, after before(). Each must run once.
template <class Before> void expect_each_task_once(S::pool& pool, int stolen, Before before) {
  std::atomic<int> begun{0};
  std::array<std::atomic<int>, 1'500> runs{};
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      wait_for_thief<S>();
      for (int i = 0; i < stolen; ++i) {
        s.spawn([&] { ++begun; });
        // A thief does not come at once for tasks that are so short.
        static_cast<void>(eventually([&] { return begun == i + 1; }, std::chrono::milliseconds(2)));
      }
      before();
      for (auto& count : runs) {
        s.spawn([&count] {
          ++count;
          work_for(std::chrono::microseconds(0));  // a thief steals while the owner takes back
        });
      }
    });
  });
  EXPECT_EQ(begun, stolen);
  for (auto const& count : runs) ASSERT_EQ(count, 1);
}

/// The places of another worker begin with the scope's next task.
TEST(scopes, run_each_task_once_after_a_change_of_workers) {
  S::pool pool({.workers = 2});
  int changes = 0;
  for (int round = 0; round < 100 && !HasFailure(); ++round) {
    expect_each_task_once(pool, 2, [&] {
      auto const worker = filch::current_worker<S>();
      join_with_late_thief<S>();
      changes += filch::current_worker<S>() != worker;
    });
  }
  EXPECT_GT(changes, 0);
}

/// Small stacks have some 8000 places. They start over after a join that was stolen, once a quarter is used up: by
/// stolen tasks and joins.
TEST(scopes, run_each_task_once_after_the_places_started_over) {
  S::pool pool({.workers = 2, .stack_size = std::size_t{64} << 10});
  for (int round = 0; round < 20 && !HasFailure(); ++round) {
    expect_each_task_once(pool, 1'000, [] {
      for (int i = 0; i < 1'500; ++i) {
        std::atomic<bool> begun{false};
        filch::join<S>(
            [&] { static_cast<void>(eventually([&] { return begun.load(); }, std::chrono::milliseconds(2))); },
            [&] { begun = true; });
      }
    });
  }
}

}  // namespace
}  // namespace filch_test
