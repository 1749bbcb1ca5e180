// What a worker does in a join whose task was sent away: runs others, sleeps, is woken.
#include "counted.hpp"
#include "stealing.hpp"

#include <string>

namespace filch_test {
namespace {

using S = filch::channel;
constexpr stolen_join<S> join_stolen;

TEST(waiting, runs_what_its_thief_forks) {
  filch::channel::pool pool({.workers = 2});
  pool.run([] {
    auto const me = filch::current_worker<S>();
    bool back = false;
    join_stolen([] {},
                [&] {
                  EXPECT_NE(filch::current_worker<S>(), me);
                  // The only other worker waits in the join above: what is stolen here, it has taken.
                  join_stolen([] {},
                              [&] {
                                back = true;
                                EXPECT_EQ(filch::current_worker<S>(), me);
                              });
                });
    EXPECT_TRUE(back);
  });
  EXPECT_GE(pool.stats().leapfrogs, 1u);
}

TEST(waiting, nests_as_deep_as_the_tasks_do) {
  filch::channel::pool pool({.workers = 2});
  constexpr int k_depth = 200;
  auto const there_and_back = [&](auto const& self, int depth) -> int {
    if (depth == k_depth) return 0;
    return join_stolen([] { return 1; }, [&] { return self(self, depth + 1) + 1; }).second;
  };
  EXPECT_EQ(pool.run([&] { return there_and_back(there_and_back, 0); }), k_depth);
}

TEST(waiting, sleeps_and_is_woken_when_the_thief_forks) {
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 20 && !HasFailure(); ++round) expect_fork_wakes_owner<S>(pool);
}

TEST(waiting, sleeps_and_is_woken_when_the_stolen_task_ends) {
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(pool.run([&] { return while_the_owner_sleeps<S>(pool, [] { return std::string("done"); }); }), "done");
  }
}

TEST(waiting, ends_in_an_exception_when_the_stolen_task_throws) {
  nothing_left_behind const check;
  filch::channel::pool pool({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    EXPECT_THROW(pool.run([&] { while_the_owner_sleeps<S>(pool, []() -> counted { throw counted(1); }); }), counted);
  }
}

}  // namespace
}  // namespace filch_test
