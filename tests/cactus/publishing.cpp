// Private and public tasks: when an owner makes its tasks public, and when its places become private again.
#include "stealing.hpp"

#include <chrono>

namespace filch_test {
namespace {

using S = filch::cactus;

/// depth joins, one in f of the other, and then leaf().
void nest(int depth, auto const& leaf, auto const& second) {
  if (depth == 0) {
    leaf();
  } else {
    filch::join<S>([&] { nest(depth - 1, leaf, second); }, second);
  }
}

TEST(publishing, does_not_happen_without_another_worker) {
  S::pool pool({.workers = 1});
  pool.run([] {
    for (int i = 0; i < 1'000; ++i) filch::join<S>([] {}, [] {});
  });
  EXPECT_EQ(pool.stats().publications, 0u);
}

TEST(publishing, offers_all_tasks_before_a_function_that_does_not_fork) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 200; ++round) {
    constexpr int k_depth = 10;
    std::atomic<int> ran{0};
    bool all = false;
    pool.run([&] {
      wait_for_thief<S>();
      nest(k_depth, [&] { all = eventually([&] { return ran == k_depth; }); }, [&] { ++ran; });
    });
    ASSERT_TRUE(all) << "in round " << round << " a thief found " << ran << " of " << k_depth;
  }
}

/// Small stacks have few places. If all tasks are stolen, the places are soon used up, and start over.
TEST(publishing, continues_in_a_scope_that_restarts_the_places) {
  constexpr long k_spawns = 20'000;
  S::pool pool({.workers = 2, .stack_size = std::size_t{64} << 10});
  std::atomic<long> ran{0};
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      for (long i = 0; i < k_spawns; ++i) {
        s.spawn([&] { ++ran; });
        // A thief does not come at once for tasks that are so short.
        static_cast<void>(eventually([&] { return ran == i + 1; }, std::chrono::milliseconds(2)));
      }
      s.sync();
    });
  });
  EXPECT_EQ(ran, k_spawns);
  EXPECT_GT(pool.stats().steals, static_cast<std::uint64_t>(k_spawns) / 2);
}

TEST(publishing, continues_in_a_scope_after_joins_that_restart_the_places) {
  constexpr long k_rounds = 10'000;
  S::pool pool({.workers = 2, .stack_size = std::size_t{64} << 10});
  std::atomic<long> ran{0};
  auto const run_one = [&ran] { ++ran; };
  auto const wait_for = [&ran](long count) {
    static_cast<void>(eventually([&] { return ran == count; }, std::chrono::milliseconds(2)));
  };
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      for (long i = 0; i < k_rounds; ++i) {
        s.spawn(run_one);
        filch::join<S>([&] { wait_for(2 * i + 2); }, run_one);
      }
      s.sync();
    });
  });
  EXPECT_EQ(ran, 2 * k_rounds);
  EXPECT_GT(pool.stats().steals, static_cast<std::uint64_t>(k_rounds));
}

TEST(publishing, reaches_workers_that_sleep) {
  S::pool pool({.workers = 3});
  std::uint64_t asleep = 0;  // sleeps before all were awake last
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(eventually([&] { return pool.stats().sleeps >= asleep + 2; }));
    std::atomic<int> begun{0};
    auto const all_have_begun = [&] { return begun == 3; };
    pool.run([&] {
      nest(
          2,
          [&] {
            asleep = pool.stats().sleeps;
            ++begun;
            EXPECT_TRUE(eventually(all_have_begun));
          },
          [&] {
            ++begun;
            EXPECT_TRUE(eventually(all_have_begun));
          });
    });
    ASSERT_FALSE(::testing::Test::HasFailure()) << "in round " << round;
  }
}

TEST(publishing, ends_after_some_unstolen_joins) {
  S::pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) expect_publishing_ends<S>(pool);
}

}  // namespace
}  // namespace filch_test
