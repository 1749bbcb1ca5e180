// Ranks of several workers, some of which are in long tasks: the others take what arrives, and ask for more.
#include "network.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <memory>

namespace filch_test {
namespace {

template <class S> class cluster_helpers : public ::testing::Test {};
TYPED_TEST_SUITE(cluster_helpers, all_schedulers, scheduler_names);

/// Ranks are threads of this process: tasks find each other here.
struct scene {
  gate long_task_has_begun;
  gate long_task_may_end;
  std::atomic<int> long_task_on{-1};
  std::atomic<int> ran{0};
};
std::unique_ptr<scene> now;

/// Neither forks nor polls.
long long_task(filch::rank& here) {
  now->long_task_on = here.index();
  now->long_task_has_begun.open();
  EXPECT_TRUE(now->long_task_may_end.pass());
  return 1;
}

long short_task(filch::rank& here) {
  EXPECT_EQ(here.index(), now->long_task_on);
  ++now->ran;
  return 1;
}

/// Rank 0's other worker gets nothing of this: it gives tasks to other ranks only.
long begin(filch::rank& here, int short_tasks) {
  auto const polls_until = [&](auto const& done) {
    return eventually([&] {
      here.poll();
      return done();
    });
  };
  here.spawn<&long_task>();
  EXPECT_TRUE(polls_until([] { return now->long_task_has_begun.is_open(); }));
  // One after the other: each is asked for.
  for (int i = 1; i <= short_tasks; ++i) {
    here.spawn<&short_task>();
    EXPECT_TRUE(polls_until([i] { return now->ran == i; })) << "an idle worker takes nothing that others would give";
  }
  now->long_task_may_end.open();
  return 1;
}

TYPED_TEST(cluster_helpers, take_tasks_while_the_main_loop_is_in_a_long_one) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  static constexpr int k_tasks = 5;
  now = std::make_unique<scene>();
  on_ranks<TypeParam>(2, 2, 3,
                      [](auto& c) { EXPECT_EQ((c.template fold<&begin>(std::plus<>(), k_tasks)), k_tasks + 2); });
  now.reset();
}

void nothing(filch::rank&) {}

/// In one thread.
struct stepped {
  stepped(network& net, int rank) : here(net, rank) { ends.begin_run(); }
  port here;
  filch::detail::transport_of<port> carrier{here};
  filch::detail::endpoint ends{carrier, 0};
  filch::detail::share mine{ends, nullptr};

  bool ends_soon(stepped& other) {
    for (int looks = 0; looks < 1'000; ++looks) {
      if (ends.idle(mine.tasks, false) == filch::detail::endpoint::outcome::ended) return true;
      static_cast<void>(other.ends.idle(other.mine.tasks, false));
    }
    return false;
  }
};

TEST(cluster_helper, holds_the_run_from_the_step_in_which_it_takes_tasks) {
  using filch::detail::endpoint;
  network net(2, 1);
  stepped victim(net, 0);
  stepped rank(net, 1);
  filch::detail::share helper(rank.ends, nullptr);
  std::unique_ptr<filch::detail::partial> none;
  std::uint64_t run = 0;
  for (int i = 0; i < 3; ++i) victim.mine.spawn<&nothing>(nullptr);
  rank.mine.spawn<&nothing>(nullptr);
  EXPECT_EQ(rank.ends.idle(rank.mine.tasks, false), endpoint::outcome::work);
  EXPECT_TRUE(rank.ends.wants_help(2));
  while (rank.ends.help(helper.tasks, none, run) != endpoint::help_outcome::work) {
    static_cast<void>(victim.ends.poll(victim.mine.tasks, victim.mine.tasks.size()));
  }
  while (!rank.mine.tasks.empty()) rank.mine.run_newest();
  while (!victim.mine.tasks.empty()) victim.mine.run_newest();
  EXPECT_FALSE(rank.ends_soon(victim)) << "a helper has tasks";
  EXPECT_FALSE(rank.ends.leave_run());
  while (!helper.tasks.empty()) helper.run_newest();
  rank.ends.help_ends();
  EXPECT_TRUE(rank.ends_soon(victim));
  EXPECT_TRUE(rank.ends.leave_run());
}

TEST(cluster_helper, leaves_where_the_main_loop_looks_itself) {
  using filch::detail::endpoint;
  network net(2, 1);
  stepped rank(net, 0);
  filch::detail::task_deque mine;
  std::unique_ptr<filch::detail::partial> none;
  std::uint64_t run = 0;
  rank.mine.spawn<&nothing>(nullptr);
  EXPECT_EQ(rank.ends.idle(rank.mine.tasks, false), endpoint::outcome::work);
  EXPECT_EQ(rank.ends.help(mine, none, run), endpoint::help_outcome::asks);
  rank.mine.run_newest();
  EXPECT_EQ(rank.ends.idle(rank.mine.tasks, false), endpoint::outcome::nothing);
  EXPECT_FALSE(rank.ends.wants_help(2));
  EXPECT_EQ(rank.ends.help(mine, none, run), endpoint::help_outcome::leave);
}

TEST(cluster_helper, leaves_where_another_run_has_begun) {
  using filch::detail::endpoint;
  network net(1, 1);
  stepped rank(net, 0);
  filch::detail::task_deque mine;
  std::unique_ptr<filch::detail::partial> none;
  std::uint64_t run = 0;
  for (auto const is_in_time : {true, false}) {
    rank.mine.spawn<&nothing>(nullptr);
    EXPECT_EQ(rank.ends.idle(rank.mine.tasks, false), endpoint::outcome::work);
    EXPECT_EQ(rank.ends.help(mine, none, run),
              is_in_time ? endpoint::help_outcome::nothing : endpoint::help_outcome::leave);
    rank.mine.run_newest();
    while (rank.ends.idle(rank.mine.tasks, false) != endpoint::outcome::ended) {
    }
    EXPECT_TRUE(rank.ends.leave_run());
    rank.ends.begin_run();
  }
}

/// A rank whose main loop has a task, and one that gives some to its helper.
struct helped {
  network net{2, 1};
  stepped victim{net, 0};
  stepped rank{net, 1};
  filch::detail::share helper{rank.ends, nullptr};
  std::unique_ptr<filch::detail::partial> none;
  std::uint64_t run = 0;

  helped() {
    rank.mine.spawn<&nothing>(nullptr);
    EXPECT_EQ(rank.ends.idle(rank.mine.tasks, false), filch::detail::endpoint::outcome::work);
  }
  bool gets(int tasks) {
    for (int i = 0; i < 2 * tasks; ++i) victim.mine.spawn<&nothing>(nullptr);
    return eventually([&] {
      static_cast<void>(victim.ends.poll(victim.mine.tasks, victim.mine.tasks.size()));
      return rank.ends.help(helper.tasks, none, run) == filch::detail::endpoint::help_outcome::work;
    });
  }
  void end() {
    for (auto* tasks : {&victim.mine, &rank.mine, &helper}) {
      while (!tasks->tasks.empty()) tasks->run_newest();
    }
    rank.ends.help_ends();
    EXPECT_TRUE(rank.ends_soon(victim));
    EXPECT_TRUE(rank.ends.leave_run());
  }
};

TEST(cluster_helper, has_tasks_for_the_main_loop) {
  using filch::detail::endpoint;
  helped scenery;
  EXPECT_TRUE(scenery.gets(4));
  scenery.rank.mine.run_newest();
  EXPECT_EQ(scenery.rank.ends.idle(scenery.rank.mine.tasks, false), endpoint::outcome::nothing);
  auto const had = scenery.helper.tasks.size();
  EXPECT_GT(had, 1u);
  static_cast<void>(scenery.rank.ends.poll(scenery.helper.tasks, had - 1));
  EXPECT_EQ(scenery.rank.ends.idle(scenery.rank.mine.tasks, false), endpoint::outcome::work);
  EXPECT_EQ(scenery.rank.mine.tasks.size() + scenery.helper.tasks.size(), had);
  scenery.end();
}

TEST(cluster_helper, keeps_what_arrives_once_a_share_waits_no_more) {
  helped scenery;
  filch::detail::future_value<void> future;
  scenery.victim.ends.send_result(1, &future, std::nullopt, {});
  scenery.rank.mine.run_newest();
  scenery.rank.mine.wait_for(future);
  EXPECT_TRUE(scenery.gets(1)) << "it leaves it for a share that looks no more";
  scenery.end();
}

/// Uneven tasks, some of which wait for others: what helpers run counts like the rest, and the end is not missed.
long uneven(filch::rank& here, int n) {
  if (n % 7 == 0) work_for(std::chrono::microseconds(200));
  if (n == 0) return 1;
  auto child = here.async<&uneven>(n / 2);
  here.spawn<&uneven>(n - 1);
  EXPECT_EQ(child.get(), 1);
  return 1;
}
/// In the fold, below a task of n: what a future brings is not.
long folded(int n) { return n == 0 ? 0 : 1 + folded(n - 1) + folded(n / 2); }

TYPED_TEST(cluster_helpers, are_part_of_the_run_to_its_end) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    on_ranks<TypeParam>(3, 3, seed, [](auto& c) {
      for (int run = 0; run < 5; ++run) {
        EXPECT_EQ((c.template fold<&uneven>(std::plus<>(), 20)), 1 + folded(20));
      }
    });
  }
}

}  // namespace
}  // namespace filch_test
