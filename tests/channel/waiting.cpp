// What a worker does in a join whose task was sent away: runs others, sleeps, is woken.
#include "counted.hpp"
#include "stealing.hpp"

#include <string>

namespace filch_test {
namespace {

using S = filch::channel;

TEST(waiting, runs_what_its_thief_forks) {
  filch::channel::pool pool({.workers = 2});
  expect_owner_runs_what_thief_forks<S>(pool);
}

TEST(waiting, nests_as_deep_as_the_tasks_do) {
  filch::channel::pool pool({.workers = 2});
  expect_waits_nest<S>(pool, 200);
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
