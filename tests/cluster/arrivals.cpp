// Tasks that arrive while a task polls: they stay for waits and for between tasks, and other ranks may have them.
#include "eventually.hpp"
#include "schedulers.hpp"
#include "steps.hpp"

namespace filch_test {
namespace {

long z(filch::rank&) { return 1; }

TEST(cluster_arrivals, are_not_requested_by_a_poll_in_a_task) {
  victim_and_thief both;
  for (int i = 0; i < 4; ++i) both.victim.mine.spawn<&z>(nullptr);
  for (int looks = 0; looks < 1'000; ++looks) {
    both.thief.endpoint_.poll_in_task(both.thief.mine.tasks, 0);
    both.victim.endpoint_.poll(both.victim.mine.tasks, 4);
  }
  EXPECT_EQ(both.victim.mine.tasks.size(), 4u) << "two ranks in long tasks would send a task to and fro";
  while (!both.victim.mine.tasks.empty()) both.victim.mine.run_newest();
}

TEST(cluster_arrivals, of_a_poll_in_a_task_go_to_other_ranks) {
  victim_and_thief both;
  for (int i = 0; i < 4; ++i) both.victim.mine.spawn<&z>(nullptr);
  both.thief.endpoint_.poll(both.thief.mine.tasks, 0);  // requests, before its last task
  EXPECT_TRUE(eventually([&] {
    both.thief.endpoint_.poll_in_task(both.thief.mine.tasks, 0);
    both.victim.endpoint_.poll(both.victim.mine.tasks, 4);
    return both.victim.mine.tasks.size() == 2;
  }));
  while (!both.victim.mine.tasks.empty()) both.victim.mine.run_newest();
  EXPECT_TRUE(eventually([&] {
    both.thief.endpoint_.poll_in_task(both.thief.mine.tasks, 0);
    static_cast<void>(both.victim.endpoint_.idle(both.victim.mine.tasks, true));
    return !both.victim.mine.tasks.empty();
  }));
  EXPECT_TRUE(both.thief.mine.tasks.empty());
  EXPECT_EQ(both.victim.mine.tasks.size(), 1u);
  EXPECT_TRUE(both.thief.endpoint_.take_arrived(both.thief.mine.tasks)) << "half of them";
  EXPECT_EQ(both.thief.mine.tasks.size(), 1u);
}

}  // namespace
}  // namespace filch_test
