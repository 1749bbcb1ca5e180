// Workers share tasks, and a pool's counters say so.
#include "stealing.hpp"
#include "scale.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <type_traits>

namespace filch_test {
namespace {

template <class S> class stealing : public ::testing::Test {
 protected:
  void SetUp() override {
    if constexpr (!steals<S>) GTEST_SKIP() << "has one worker only";
  }
};
TYPED_TEST_SUITE(stealing, all_schedulers, scheduler_names);

/// Each leaf keeps the processor busy for so long.
template <class S> long fib(int n, std::chrono::microseconds leaf = {}) {
  if (n < 2) {
    if (leaf.count() != 0) work_for(leaf);
    return n;
  }
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1, leaf); }, [=] { return fib<S>(n - 2, leaf); });
  return a + b;
}

TYPED_TEST(stealing, happens_on_two_workers) {
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_TRUE(eventually([&] {
    pool.run([] { return fib<TypeParam>(20); });
    return steals_of<TypeParam>(pool) > 0;
  })) << "no task was ever stolen";
}

TYPED_TEST(stealing, does_not_happen_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    // A measured worker wants loops to split.
    EXPECT_EQ(TypeParam::wanted(), steals<TypeParam> && has_no_thieves<TypeParam>());
    return fib<TypeParam>(15);
  });
  EXPECT_EQ(steals_of<TypeParam>(pool), steals_are_forced<TypeParam> ? 986u : 0u);  // fib(15) forks fib(16) - 1 times
}

TYPED_TEST(stealing, gets_unrequested_forks_at_a_poll) {
  typename TypeParam::pool pool({.workers = 2});
  gate g_has_run;
  auto const polls = [&] {
    EXPECT_TRUE(eventually([&] {
      filch::poll<TypeParam>();
      return g_has_run.is_open();
    }));
  };
  pool.run([&] { join_without_request<TypeParam>(polls, [&] { g_has_run.open(); }); });
}

/// fork(part) begins as many parts as workers, which wait for each other, while all workers but the caller sleep.
/// True if all begin in time.
template <class S>
bool all_begin(unsigned workers, auto const& fork, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  typename S::pool pool({.workers = workers});
  EXPECT_TRUE(eventually([&] { return pool.stats().sleeps == workers - 1; }));
  std::atomic<unsigned> begun{0};
  std::atomic<bool> all{true};
  pool.run([&] {
    fork(workers, [&] {
      ++begun;
      if (!eventually([&] { return begun == workers; }, limit)) all = false;
    });
  });
  return all;
}
template <class S> void expect_all_begin(auto const& fork) {
  for (unsigned workers : {3u, 4u, 8u}) {
    for (std::size_t round = 0; round < scaled(20); ++round) {
      ASSERT_TRUE(all_begin<S>(workers, fork)) << "with " << workers << " workers, in round " << round;
    }
  }
}

template <class S> void nest(unsigned parts, auto const& part) {
  if (parts == 1) return part();
  filch::join<S>([&] { nest<S>(parts - 1, part); }, [&] { part(); });
}

TYPED_TEST(stealing, begins_on_all_sleepers_at_the_outermost_fork) {
  if constexpr (steals<TypeParam>) {
    expect_all_begin<TypeParam>([](unsigned parts, auto const& part) { nest<TypeParam>(parts, part); });
  }
}

TYPED_TEST(stealing, begins_on_workers_that_were_woken_too_late) {
  // A part in a channel's task answers no thief, and the tree before it answered all that had requested.
  constexpr bool answers_late = std::is_same_v<TypeParam, filch::channel>;
  if constexpr (steals<TypeParam> && !answers_late) {
    // No more workers than processors: else a woken worker may come at any time, and owners do not wait for it.
    unsigned const workers = typename TypeParam::pool().workers();
    if (workers < 2) GTEST_SKIP() << "needs two processors";
    if (is_sanitized || is_emulated || !is_optimised)
      GTEST_SKIP() << "thieves take as long from one task to the next as the tree lasts";
    constexpr std::size_t rounds = 20;
    std::size_t late = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      auto const fork = [](unsigned parts, auto const& part) {
        fib<TypeParam>(12);
        nest<TypeParam>(parts, part);
      };
      late += !all_begin<TypeParam>(workers, fork, std::chrono::milliseconds(500));
    }
    // A worker that ran a part of the tree and lost its processor before it could search comes at any time.
    EXPECT_LE(late, rounds / 2) << "of " << rounds;
  }
}

/// fork(part) is as for all_begin. Before it comes a tree, whose tasks end as it begins. True if all begin in time.
template <class S>
bool all_begin_after_a_tree(typename S::pool& pool, auto const& fork, std::chrono::milliseconds limit) {
  unsigned const workers = pool.workers();
  std::atomic<unsigned> begun{0};
  std::atomic<bool> all{true};
  pool.run([] { fib<S>(12, std::chrono::microseconds(3)); });
  pool.run([&] {
    fork(workers, [&] {
      ++begun;
      if (!eventually([&] { return begun == workers; }, limit)) all = false;
    });
  });
  return all;
}

TYPED_TEST(stealing, begins_on_all_workers_that_other_tasks_leave) {
  // Owners count the workers that search. A thief whose processor the worker that waited for it took is one of them.
  constexpr bool answers_late = std::is_same_v<TypeParam, filch::channel>;
  if constexpr (steals<TypeParam> && !answers_late) {
    auto const fork = [](unsigned parts, auto const& part) {
      filch::scope<TypeParam>([&](auto& s) {
        for (unsigned i = 0; i < parts; ++i) s.spawn([&part] { part(); });
      });
    };
    auto const expect_all = [&](typename TypeParam::pool& pool, std::size_t rounds) {
      for (std::size_t round = 0; round < rounds; ++round) {
        ASSERT_TRUE(all_begin_after_a_tree<TypeParam>(pool, fork, std::chrono::seconds(30))) << "in round " << round;
      }
    };
    typename TypeParam::pool pool({.workers = 8});
    expect_all(pool, scaled(20));
#if FILCH_HAS_CACTUS
    if constexpr (std::is_same_v<TypeParam, filch::implicit>) {
      // An interrupt makes good what an owner has not counted. The first tree of a pool takes longest to leave.
      for (std::size_t i = 0; i < scaled(60) && !this->HasFailure(); ++i) {
        typename TypeParam::pool without({.workers = 8, .interrupts = false});
        expect_all(without, 1);
      }
    }
#endif
  }
}

TYPED_TEST(stealing, begins_in_a_loop_on_workers_that_other_tasks_leave) {
  // A loop shares before its first iteration, or too late. Offers that the tree made without a request are not to
  // limit those of the loop.
  if constexpr (steals<TypeParam>) {
    if (is_sanitized || is_emulated || !is_optimised) GTEST_SKIP() << "the tree gives more time to its thieves";
    typename TypeParam::pool pool({.workers = 8});
    constexpr std::size_t rounds = 40;
    std::size_t late = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      auto const fork = [](unsigned parts, auto const& part) {
        filch::for_index<TypeParam>(0u, parts, [&](unsigned) { part(); });
      };
      late += !all_begin_after_a_tree<TypeParam>(pool, fork, std::chrono::milliseconds(100));
    }
    // A thief's request may come a moment too late; under implicit it may be put off for what the tree's steals cost.
    EXPECT_LE(late, rounds / 10) << "of " << rounds;
  }
}

TYPED_TEST(stealing, begins_on_the_thief_of_the_join_before) {
  // The thief ends with the join, and requests only then: its own request was answered in the tree.
  constexpr bool answers_late = std::is_same_v<TypeParam, filch::channel>;
  if constexpr (steals<TypeParam> && !answers_late) {
    if (typename TypeParam::pool().workers() < 2) GTEST_SKIP() << "needs two processors";
    if (is_sanitized || is_emulated || !is_optimised) GTEST_SKIP() << "thieves ask too late, however fast owners are";
    constexpr int rounds = 100;
    // With forced steals the owner looks a thousand times at each join of the tree before it takes its own tasks.
    constexpr int size = FILCH_TEST_FORCED ? 8 : 12;
    std::atomic<int> late{0};
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < rounds; ++round) {
      std::atomic<unsigned> begun{0};
      std::atomic<bool> tree_is_done{false};
      pool.run([&] {
        stolen_join<TypeParam>{}(
            [&] {
              fib<TypeParam>(size);
              tree_is_done = true;
            },
            [&] {
              while (!tree_is_done) {
              }
            });
        nest<TypeParam>(2, [&] {
          ++begun;
          if (!eventually([&] { return begun == 2; }, std::chrono::milliseconds(20))) ++late;
        });
      });
    }
    EXPECT_LE(late, rounds / 10) << "of " << rounds;
  }
}

TYPED_TEST(stealing, begins_on_all_sleepers_in_a_scope) {
  if constexpr (steals<TypeParam>) {
    expect_all_begin<TypeParam>([](unsigned parts, auto const& part) {
      filch::scope<TypeParam>([&](auto& s) {
        for (unsigned i = 0; i < parts; ++i) s.spawn([&part] { part(); });
      });
    });
  }
}

TYPED_TEST(stealing, begins_on_all_sleepers_in_a_loop) {
  if constexpr (steals<TypeParam>) {
    // Each lasts: a loop whose iterations are short wakes no worker.
    expect_all_begin<TypeParam>([](unsigned parts, auto const& part) {
      filch::for_index<TypeParam>(0u, parts, [&](unsigned) {
        part();
        work_for(std::chrono::microseconds(200));
      });
    });
  }
}

TYPED_TEST(stealing, gets_spawns_after_joins_whose_thieves_came_last) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      filch::scope<TypeParam>([](auto& s) {
        for (int round = 0; round < 20 && !::testing::Test::HasFailure(); ++round) {
          join_with_late_thief<TypeParam>();
          gate spawned;
          gate ran;
          s.spawn([&] {
            EXPECT_TRUE(spawned.pass()) << "in round " << round << " it ran where it was spawned";
            ran.open();
          });
          spawned.open();
          answer_until_open<TypeParam>(ran);
        }
      });
    });
  }
}

TYPED_TEST(stealing, reaches_every_worker_of_a_pool) {
  // As many leaves as workers, none of which ends before all have begun.
  for (unsigned workers : {2u, 3u, 5u, 8u, 16u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    std::atomic<unsigned> begun{0};
    auto const meet = [&](auto const& self, unsigned leaves) -> void {
      if (leaves == 1) {
        ++begun;
        EXPECT_TRUE(eventually([&] { return begun == workers; })) << begun << " of " << workers << " began";
        return;
      }
      wait_for_thief<TypeParam>();
      filch::join<TypeParam>([&] { self(self, 1); }, [&] { self(self, leaves - 1); });
    };
    if constexpr (steals<TypeParam>) {
      pool.run([&] { meet(meet, workers); });
    }
    EXPECT_GE(steals_of<TypeParam>(pool), workers - 1);
  }
}

TYPED_TEST(stealing, is_requested_while_a_worker_waits) {
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_FALSE(TypeParam::wanted()) << "outside all pools";
  pool.run([] { EXPECT_TRUE(eventually([] { return TypeParam::wanted(); })); });
  EXPECT_FALSE(TypeParam::wanted()) << "outside all pools";
}

TYPED_TEST(stealing, wakes_workers_that_sleep) {
  if constexpr (steals<TypeParam>) {
    for (int round = 0; round < 20; ++round) {
      typename TypeParam::pool pool({.workers = 3});
      ASSERT_TRUE(eventually([&] { return pool.stats().sleeps >= 2; })) << "in round " << round;
      pool.run([] { stolen_join<TypeParam>{}([] {}, [] { stolen_join<TypeParam>{}([] {}, [] {}); }); });
      EXPECT_GE(pool.stats().steals, 2u);
    }
  }
}

TYPED_TEST(stealing, is_counted_plausibly) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 4, .stack_size = std::size_t{2} << 20});
    constexpr int k_n = 20;
    auto const fresh = pool.stats();
    EXPECT_EQ(fresh.steals, 0u);
    EXPECT_EQ(fresh.leapfrogs, 0u);
    EXPECT_GE(fresh.stack_bytes, std::size_t{2} << 20);
    std::uint64_t joins = 0;
    EXPECT_TRUE(eventually([&] {
      pool.run([] { return fib<TypeParam>(k_n); });
      joins += 10'945;  // fib(20) forks fib(21) - 1 times
      return pool.stats().steals >= 10;
    }));
    auto const now = pool.stats();
    EXPECT_LE(now.steals, joins);
    EXPECT_LE(now.leapfrogs, now.steals);
    EXPECT_GE(now.publications, 1u);
    EXPECT_TRUE(now.forks == 0 || now.forks == joins) << now.forks;
    // The pool is idle: nothing is stolen any more.
    EXPECT_EQ(pool.stats().steals, now.steals);
  }
}

}  // namespace
}  // namespace filch_test
