// Ranks of several workers. Some are in long tasks; the others take tasks that arrive, and request more.
#include "network.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <chrono>
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

/// A task that neither forks nor polls.
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

/// A task that gives tasks to other ranks only: rank 0's other worker gets nothing.
long begin(filch::rank& here, int short_tasks) {
  auto const polls_until = [&](auto const& done) {
    return eventually([&] {
      here.poll();
      return done();
    });
  };
  here.spawn<&long_task>();
  EXPECT_TRUE(polls_until([] { return now->long_task_has_begun.is_open(); }));
  // One after the other: a request precedes each task.
  for (int i = 1; i <= short_tasks; ++i) {
    here.spawn<&short_task>();
    EXPECT_TRUE(polls_until([i] { return now->ran == i; })) << "an idle worker takes nothing that others would give";
  }
  now->long_task_may_end.open();
  return 1;
}

TYPED_TEST(cluster_helpers, take_tasks_while_the_main_loop_runs_a_long_one) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  static constexpr int k_tasks = 5;
  now = std::make_unique<scene>();
  on_ranks<TypeParam>(2, 2, 3,
                      [](auto& c) { EXPECT_EQ((c.template fold<&begin>(std::plus<>(), k_tasks)), k_tasks + 2); });
  now.reset();
}

void nothing(filch::rank&) {}

/// Two ranks in one thread.
struct stepped {
  stepped(network& net, int rank) : here(net, rank) { endpoint_.begin_run(); }
  port here;
  filch::detail::transport_of<port> carrier{here};
  filch::detail::endpoint endpoint_{carrier, 0};
  filch::detail::rank_worker mine{endpoint_, nullptr};

  bool ends_soon(stepped& other) {
    for (int looks = 0; looks < 1'000; ++looks) {
      if (endpoint_.idle(mine.tasks, false) == filch::detail::endpoint::idle_outcome::ended) return true;
      other.endpoint_.idle(other.mine.tasks, false);
    }
    return false;
  }
};

/// The last rank: its main loop has a task, and it has a helper.
struct helped {
  using endpoint = filch::detail::endpoint;
  network net;
  stepped rank;
  filch::detail::rank_worker helper{rank.endpoint_, nullptr};
  std::unique_ptr<filch::detail::partial> none;
  std::uint64_t run = 0;

  explicit helped(int ranks) : net(ranks, 1), rank(net, ranks - 1) { main_loop_has_a_task(); }
  void main_loop_has_a_task() {
    rank.mine.spawn<&nothing>(nullptr);
    EXPECT_EQ(rank.endpoint_.idle(rank.mine.tasks, false), endpoint::idle_outcome::work);
  }
  endpoint::help_outcome help() { return rank.endpoint_.help(helper.tasks, none, run); }
};

/// Two ranks: the other one gives this rank's helper some tasks.
struct given : helped {
  stepped victim{net, 0};

  given() : helped(2) {}
  bool gets(int tasks) {
    for (int i = 0; i < 2 * tasks; ++i) victim.mine.spawn<&nothing>(nullptr);
    return eventually([&] {
      victim.endpoint_.poll(victim.mine.tasks, victim.mine.tasks.size());
      return help() == endpoint::help_outcome::work;
    });
  }
  void end() {
    for (auto* worker : {&victim.mine, &rank.mine, &helper}) run_all(*worker);
    rank.endpoint_.help_ends();
    EXPECT_TRUE(rank.ends_soon(victim));
    EXPECT_EQ(rank.endpoint_.leave_run(), filch::detail::endpoint::leave_outcome::left);
  }
  static void run_all(filch::detail::rank_worker& s) {
    while (!s.tasks.empty()) s.run_newest();
  }
};

TEST(cluster_helper, holds_the_run_from_the_step_that_takes_tasks) {
  given scenery;
  EXPECT_TRUE(scenery.rank.endpoint_.wants_help(2));
  EXPECT_TRUE(scenery.gets(2));
  given::run_all(scenery.rank.mine);
  given::run_all(scenery.victim.mine);
  EXPECT_FALSE(scenery.rank.ends_soon(scenery.victim)) << "a helper has tasks";
  EXPECT_EQ(scenery.rank.endpoint_.leave_run(), filch::detail::endpoint::leave_outcome::helpers_work);
  scenery.end();
}

TEST(cluster_helper, leaves_when_the_main_loop_polls) {
  helped scenery(2);
  EXPECT_EQ(scenery.help(), helped::endpoint::help_outcome::requested);
  scenery.rank.mine.run_newest();
  EXPECT_EQ(scenery.rank.endpoint_.idle(scenery.rank.mine.tasks, false), helped::endpoint::idle_outcome::nothing);
  EXPECT_FALSE(scenery.rank.endpoint_.wants_help(2));
  EXPECT_EQ(scenery.help(), helped::endpoint::help_outcome::leave);
}

TEST(cluster_helper, leaves_when_another_run_has_begun) {
  helped scenery(1);
  stepped& rank = scenery.rank;
  EXPECT_EQ(scenery.help(), helped::endpoint::help_outcome::nothing);
  rank.mine.run_newest();
  while (rank.endpoint_.idle(rank.mine.tasks, false) != helped::endpoint::idle_outcome::ended) {
  }
  EXPECT_EQ(rank.endpoint_.leave_run(), filch::detail::endpoint::leave_outcome::left);
  rank.endpoint_.begin_run();
  scenery.main_loop_has_a_task();
  EXPECT_EQ(scenery.help(), helped::endpoint::help_outcome::leave);
}

TEST(cluster_helper, has_tasks_for_the_main_loop) {
  given scenery;
  EXPECT_TRUE(scenery.gets(4));
  stepped& rank = scenery.rank;
  rank.mine.run_newest();
  EXPECT_EQ(rank.endpoint_.idle(rank.mine.tasks, false), helped::endpoint::idle_outcome::nothing);
  auto const had = scenery.helper.tasks.size();
  EXPECT_GT(had, 1u);
  rank.endpoint_.poll(scenery.helper.tasks, had - 1);
  EXPECT_EQ(rank.endpoint_.idle(rank.mine.tasks, false), helped::endpoint::idle_outcome::work);
  EXPECT_EQ(rank.mine.tasks.size() + scenery.helper.tasks.size(), had);
  scenery.end();
}

TEST(cluster_helper, keeps_what_arrives_once_no_worker_waits) {
  given scenery;
  filch::detail::future_value<void> future;
  scenery.victim.endpoint_.send_result(1, &future, std::nullopt, {});
  scenery.rank.mine.run_newest();
  scenery.rank.mine.wait_for(future);
  EXPECT_TRUE(scenery.gets(1)) << "it leaves tasks for a rank worker that waits no more";
  scenery.end();
}

/// Uneven tasks, some of which wait for others. Tasks on helpers count like others, and the end of the run is found.
long uneven(filch::rank& here, int n) {
  if (n % 7 == 0) work_for(std::chrono::microseconds(200));
  if (n == 0) return 1;
  auto child = here.async<&uneven>(n / 2);
  here.spawn<&uneven>(n - 1);
  EXPECT_EQ(child.get(), 1);
  return 1;
}
/// The sum in the fold below a task of n. Results of futures are not in it.
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
