// The functions that Parlay needs of a scheduler; and Parlay itself, where PARLAY_INCLUDE_DIR names it.
#if FILCH_TEST_WITH_PARLAY
#include <parlay/primitives.h>
#include <parlay/sequence.h>
#include <parlay/worker_specific.h>
#endif

#include <filch/detail/parlay_calls.hpp>

#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#if FILCH_TEST_WITH_PARLAY
namespace parlay::internal {
/// It returns what an algorithm of Parlay reads.
static std::size_t number_of_workers() { return num_workers(); }
}  // namespace parlay::internal
#endif

namespace {

template <class S> class parlay_of : public testing::Test {};
TYPED_TEST_SUITE(parlay_of, filch_test::all_schedulers, filch_test::scheduler_names);

TYPED_TEST(parlay_of, a_loop_calls_each_index_once) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  for (std::size_t const n : {0u, 1u, 2u, 7u, 1000u, 30000u}) {
    for (long const granularity : {-1L, 0L, 1L, 7L, 999L, 1000000L}) {
      for (bool const conservative : {false, true}) {
        std::vector<std::atomic<int>> seen(n + 5);
        auto mark = [&](std::size_t i) { ++seen[i]; };
        calls::parallel_for(5, n + 5, mark, granularity, conservative);
        for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i < 5 ? 0 : 1) << n << " " << granularity;
      }
    }
  }
  auto never = [](std::size_t) { FAIL(); };
  calls::parallel_for(5, 4, never, 0, false);
}

TYPED_TEST(parlay_of, bounds_may_be_the_greatest) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  constexpr std::size_t k_end = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t k_all = 10007;
  for (long const granularity : {0L, 1L, 2L, 64L, 5000L}) {
    std::vector<std::atomic<int>> seen(k_all);
    auto mark = [&](std::size_t i) { ++seen.at(k_end - 1 - i); };
    calls::parallel_for(k_end - k_all, k_end, mark, granularity, false);
    for (auto const& times : seen) ASSERT_EQ(times, 1) << granularity;
  }
}

std::atomic<std::size_t> sum_of_indices{0};
void add_index(std::size_t i) { sum_of_indices += i; }

/// A function; an object that cannot be copied, changes itself and writes its index.
TYPED_TEST(parlay_of, any_callable_is_a_body) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  sum_of_indices = 0;
  calls::parallel_for(0, 1000, add_index, 0, false);
  calls::parallel_for(0, 1000, add_index, 30, false);
  EXPECT_EQ(sum_of_indices, 2 * 499500u);
  struct adding {
    std::atomic<std::size_t> sum{0};
    void operator()(std::size_t& i) {
      sum += i;
      i += 1000;
    }
  } summing;
  for (long const granularity : {0L, 30L, 2000L}) calls::parallel_for(0, 1000, summing, granularity, false);
  calls::parallel_for(0, 1000, summing, 0, true);
  EXPECT_EQ(summing.sum, 4 * 499500u);
}

/// One engine runs all of them at once.
TYPED_TEST(parlay_of, loops_with_other_bodies_nest) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  std::vector<std::atomic<int>> seen(60 * 70 * 80);
  auto outer = [&](std::size_t i) {
    auto middle = [&, i](std::size_t j) {
      auto inner = [&seen, i, j](std::size_t k) { ++seen[(i * 70 + j) * 80 + k]; };
      calls::parallel_for(0, 80, inner, j % 3 == 0 ? 0 : 9, false);
    };
    calls::parallel_for(0, 70, middle, i % 3 == 0 ? 0 : 4, false);
  };
  calls::parallel_for(0, 60, outer, 1, false);
  for (auto const& times : seen) ASSERT_EQ(times, 1);
}

TYPED_TEST(parlay_of, a_thread_runs_all_of_a_grain) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  constexpr std::size_t k_grain = 50;
  std::vector<std::thread::id> threads(1010);
  auto mark = [&](std::size_t i) { threads[i] = std::this_thread::get_id(); };
  calls::parallel_for(0, threads.size(), mark, k_grain, false);
  for (std::size_t i = 0; i < threads.size(); ++i) ASSERT_EQ(threads[i], threads[i / k_grain * k_grain]);
}

template <class S> long sum(long from, long to) {
  if (to - from == 1) return from;
  long low = 0;
  long high = 0;
  long const middle = from + (to - from) / 2;
  filch::detail::parlay_calls<S>::par_do([&] { low = sum<S>(from, middle); }, [&] { high = sum<S>(middle, to); },
                                         false);
  return low + high;
}
TYPED_TEST(parlay_of, par_do_runs_both) { EXPECT_EQ(sum<TypeParam>(0, 10000), 9999L * 10000 / 2); }

/// Otherwise a wait in the second par_do would begin another iteration, which waits for the lock.
TYPED_TEST(parlay_of, a_lock_may_be_held_across_a_conservative_fork) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  std::mutex lock;
  std::atomic<long> count = 0;
  auto locked = [&](std::size_t) {
    std::lock_guard const guard(lock);
    auto const thread = std::this_thread::get_id();
    calls::par_do([&] { ++count; }, [&] { ++count; }, true);
    auto add = [&](std::size_t) { ++count; };
    calls::parallel_for(0, 10, add, 0, true);
    EXPECT_EQ(std::this_thread::get_id(), thread);
  };
  calls::parallel_for(0, 2000, locked, 1, false);
  EXPECT_EQ(count, 12 * 2000);
}

/// The leaves of a tree of forks: tasks that wait for a thief.
template <class S> void for_leaves(std::size_t from, std::size_t to, auto const& leaf) {
  if (to - from == 1) return leaf(from);
  std::size_t const middle = from + (to - from) / 2;
  filch::detail::parlay_calls<S>::par_do([&] { for_leaves<S>(from, middle, leaf); },
                                         [&] { for_leaves<S>(middle, to, leaf); }, false);
}

/// The same, with plain forks below the conservative one, whose parts are long enough for other workers.
TYPED_TEST(parlay_of, a_lock_may_be_held_while_others_run_parts_of_a_conservative_fork) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  std::mutex lock;
  std::atomic<long> count = 0;
  auto part = [&](std::size_t) {
    filch_test::work_for(std::chrono::microseconds(20));
    ++count;
  };
  auto parts = [&] { calls::par_do([&] { part(0); }, [&] { calls::parallel_for(0, 3, part, 1, false); }, false); };
  auto locked = [&](std::size_t i) {
    std::lock_guard const guard(lock);
    if (i % 2 == 0) {
      calls::par_do(parts, parts, true);
    } else {
      auto forks = [&](std::size_t) { parts(); };
      calls::parallel_for(0, 2, forks, 1, true);
    }
  };
  typename TypeParam::pool pool({.workers = 4});
  pool.run([&] { for_leaves<TypeParam>(0, 128, locked); });
  EXPECT_EQ(count, 8 * 128);
  // From threads that are no workers, with the lock from outside and from inside.
  count = 0;
  std::thread other([&] { for_leaves<TypeParam>(0, 64, locked); });
  for (std::size_t i = 0; i < 64; ++i) locked(i);
  other.join();
  EXPECT_EQ(count, 8 * 128);
}

/// The waiting worker runs parts of what it waits for, but not below a conservative fork.
TYPED_TEST(parlay_of, a_conservative_wait_runs_nothing_else) {
  if constexpr (!filch::detail::has_lone_waits<TypeParam>) {
    GTEST_SKIP() << "it runs them in order";
  } else {
    using calls = filch::detail::parlay_calls<TypeParam>;
    typename TypeParam::pool pool({.workers = 2});
    // Several times: a worker that waits may sleep before there is a task to take.
    for (bool const conservative : {false, true, true, true, true, true}) {
      pool.run([&] {
        auto const waiter = std::this_thread::get_id();
        filch_test::gate begun;
        std::atomic<long> by_waiter = 0;
        auto fork = [&] {
          auto count = [&] {
            EXPECT_EQ(*TypeParam::lone_waits() != 0, conservative);
            if (std::this_thread::get_id() == waiter) ++by_waiter;
          };
          auto counts = [&](std::size_t) { count(); };
          calls::par_do([&] { calls::parallel_for(0, 2, counts, 1, false); }, count, false);
        };
        auto fork_many = [&] {
          begun.open();
          for (int i = 0; i < 20'000; ++i) fork();
          if (conservative) return;
          EXPECT_TRUE(filch_test::eventually([&] {
            fork();
            return by_waiter > 0;
          }));
        };
        calls::par_do([&] { filch_test::answer_until_open<TypeParam>(begun); }, fork_many, conservative);
        EXPECT_EQ(by_waiter == 0, conservative);
        EXPECT_EQ(*TypeParam::lone_waits(), 0u);
      });
    }
  }
}

/// A loop that is not cut is conservative, too: its body forks.
TYPED_TEST(parlay_of, a_conservative_loop_of_one_grain_waits_as_others_do) {
  if (filch_test::has_no_thieves<TypeParam>()) GTEST_SKIP() << "nothing is stolen";
  using calls = filch::detail::parlay_calls<TypeParam>;
  typename TypeParam::pool pool({.workers = 2});
  for (auto const& [n, granularity] : {std::pair(1, 0), std::pair(1, 100), std::pair(2, 100)}) {
    auto body = [&](std::size_t) {
      if constexpr (filch::detail::has_lone_waits<TypeParam>) {
        EXPECT_NE(*TypeParam::lone_waits(), 0u);
      } else {
        std::atomic<bool> is_stolen = false;
        auto waits = [&] {
          EXPECT_FALSE(filch_test::eventually([&] { return is_stolen.load(); }, std::chrono::milliseconds(20)));
        };
        calls::par_do(waits, [&] { is_stolen = true; }, false);
      }
    };
    pool.run([&, end = static_cast<std::size_t>(n), grain = static_cast<long>(granularity)] {
      filch_test::wait_for_thief<TypeParam>();
      calls::parallel_for(0, end, body, grain, true);
      if constexpr (filch::detail::has_lone_waits<TypeParam>) {
        EXPECT_EQ(*TypeParam::lone_waits(), 0u);
      }
    });
  }
}

/// Two workers, and a thief that takes several tasks at once, where there are such.
template <class S> auto pool_of_two_that_takes_half() {
  if constexpr (std::is_same_v<S, filch::channel>) {
    return std::make_unique<filch::channel::pool>(
        filch::channel_options{.workers = 2, .amount = filch::steal_amount::half});
  } else {
    return std::make_unique<typename S::pool>(filch::pool_options{.workers = 2});
  }
}

/// The thief must not get a task of the fork together with the other task, and wait in that one for the lock.
TYPED_TEST(parlay_of, a_lock_may_be_held_while_a_thief_wants_it) {
  if constexpr (!filch::detail::has_lone_waits<TypeParam>) {
    GTEST_SKIP() << "it runs them in order";
  } else {
    using calls = filch::detail::parlay_calls<TypeParam>;
    // Several times: the thief may get the first task alone.
    for (int i = 0; i < 10 && !testing::Test::HasFailure(); ++i) {
      std::mutex lock;
      std::atomic<int> count = 0;
      filch_test::gate is_busy;
      filch_test::gate may_steal;
      auto nothing = [&] { ++count; };
      auto leaf = [&] {
        may_steal.open();
        filch_test::wait_for_thief<TypeParam>();
        ++count;
      };
      auto forks = [&] {
        std::lock_guard const guard(lock);
        calls::par_do([&] { calls::par_do([&] { calls::par_do(leaf, nothing, true); }, nothing, true); }, nothing,
                      true);
      };
      auto locks = [&] {
        EXPECT_TRUE(filch_test::eventually([&] { return lock.try_lock(); })) << "its holder waits for this thread";
        lock.unlock();
        ++count;
      };
      auto const pool = pool_of_two_that_takes_half<TypeParam>();
      pool->run([&] {
        auto own = [&] {
          filch_test::answer_until_open<TypeParam>(is_busy);
          calls::par_do(forks, locks, false);
        };
        auto busy = [&] {
          is_busy.open();
          EXPECT_TRUE(may_steal.pass());
        };
        filch::join<TypeParam>(own, busy);
      });
      EXPECT_EQ(count, 5);
    }
  }
}

/// A plain fork below a conservative one: its thief's waits run nothing else either. That might want the lock.
TYPED_TEST(parlay_of, a_stolen_part_of_a_conservative_fork_waits_as_it_does) {
  if constexpr (!filch::detail::has_lone_waits<TypeParam>) {
    GTEST_SKIP() << "it runs them in order";
  } else {
    using calls = filch::detail::parlay_calls<TypeParam>;
    typename TypeParam::pool pool({.workers = 4});
    for (int i = 0; i < 10; ++i) {
      filch_test::gate other_begun;
      filch_test::gate part_begun;
      filch_test::gate part_of_part_begun;
      filch_test::gate end;
      std::atomic<bool> is_part_over = false;
      std::atomic<std::thread::id> thief;
      std::atomic<bool> is_on_top = false;
      auto part_of_part = [&] {
        part_of_part_begun.open();
        // No other worker can take `wants_lock`.
        static_cast<void>(filch_test::eventually([&] { return is_on_top.load(); }, std::chrono::milliseconds(20)));
        end.open();
      };
      auto part = [&] {
        thief = std::this_thread::get_id();
        part_begun.open();
        filch::join<TypeParam>([&] { filch_test::answer_until_open<TypeParam>(part_of_part_begun); }, part_of_part);
        is_part_over = true;
      };
      auto wants_lock = [&] {
        if (std::this_thread::get_id() == thief.load() && !is_part_over) is_on_top = true;
      };
      auto holds_lock = [&] {
        filch_test::answer_until_open<TypeParam>(other_begun);
        auto forks = [&] {
          filch::join<TypeParam>([&] { filch_test::answer_until_open<TypeParam>(part_begun); }, part);
        };
        calls::par_do(forks, [] {}, true);
      };
      auto other = [&] {
        other_begun.open();
        EXPECT_TRUE(part_of_part_begun.pass());
        filch::join<TypeParam>([&] { filch_test::answer_until_open<TypeParam>(end); }, wants_lock);
      };
      pool.run([&] { filch::join<TypeParam>(holds_lock, other); });
      EXPECT_FALSE(is_on_top);
    }
  }
}

/// Each side waits until the other one has begun.
TYPED_TEST(parlay_of, a_conservative_fork_is_shared) {
  if constexpr (!filch::detail::has_lone_waits<TypeParam>) {
    GTEST_SKIP() << "it runs them in order";
  } else {
    using calls = filch::detail::parlay_calls<TypeParam>;
    std::atomic<int> begun{0};
    auto meet = [&begun](int all) {
      ++begun;
      EXPECT_TRUE(filch_test::eventually([&] {
        TypeParam::poll();
        return begun >= all;
      }));
    };
    typename TypeParam::pool pool({.workers = 2});
    pool.run([&] {
      calls::par_do([&] { meet(2); }, [&] { meet(2); }, true);
      auto body = [&](std::size_t) { meet(4); };
      calls::parallel_for(0, 2, body, 1, true);
      for (int i = 0; i < 1000; ++i) calls::par_do([&] { meet(4); }, [&] { meet(4); }, true);
    });
  }
}

TYPED_TEST(parlay_of, indices_of_workers_are_below_their_number) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([] {
      std::vector<std::atomic<int>> uses(calls::num_workers());
      auto use = [&](std::size_t) {
        ASSERT_LT(calls::worker_id(), calls::num_workers());
        ++uses[calls::worker_id()];
      };
      for (int k = 0; k < 100; ++k) calls::parallel_for(0, 100, use, 1, false);
      EXPECT_EQ(std::accumulate(uses.begin(), uses.end(), 0), 10000);
    });
  }
  for (auto& caller : callers) caller.join();
}

TYPED_TEST(parlay_of, blocks_are_chosen_by_the_threads_that_work) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  EXPECT_EQ(calls::workers(), TypeParam::default_pool().workers());
  EXPECT_EQ(calls::num_workers(), TypeParam::default_pool().places());
}

TYPED_TEST(parlay_of, exceptions_leave) {
  using calls = filch::detail::parlay_calls<TypeParam>;
  auto fail = [](std::size_t i) {
    if (i == 70) throw std::runtime_error("70");
  };
  EXPECT_THROW(calls::parallel_for(0, 100, fail, 0, false), std::runtime_error);
  EXPECT_THROW(calls::par_do([] {}, [] { throw std::runtime_error("right"); }, false), std::runtime_error);
}

#if FILCH_TEST_WITH_PARLAY
TEST(parlay, its_algorithms_see_the_threads_that_work) {
  EXPECT_EQ(parlay::internal::number_of_workers(), filch::default_scheduler::default_pool().workers());
  EXPECT_EQ(parlay::num_workers(), filch::default_scheduler::default_pool().places());
}

TEST(parlay, its_primitives_run) {
  std::size_t const n = 200000;
  auto const hashed = parlay::tabulate(n, [](std::size_t i) { return (i * 7919) % n; });
  EXPECT_EQ(parlay::reduce(hashed), n * (n - 1) / 2);
  auto const sorted = parlay::sort(hashed);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], i);
  EXPECT_EQ(parlay::filter(hashed, [](std::size_t x) { return x % 2 == 0; }).size(), n / 2);
  EXPECT_EQ(parlay::integer_sort(hashed), sorted);
  parlay::WorkerSpecific<std::size_t> counts;
  parlay::parallel_for(0, n, [&](std::size_t) { ++*counts; });
  std::size_t all = 0;
  for (auto const count : counts) all += count;
  EXPECT_EQ(all, n);
}
#endif

}  // namespace
