// filch::task_group: tasks from any depth, its wait, exceptions, cancelling, futures, helpers, bounded memory.
#include <filch/for_each.hpp>
#include <filch/task_group.hpp>

#include "counted.hpp"
#include "seeds.hpp"
#include "stealing.hpp"
#include "stop_source.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

template <class S> class task_group : public ::testing::Test {};
TYPED_TEST_SUITE(task_group, all_schedulers, scheduler_names);

/// Adds tasks below joins and in loops, which add some in turn.
template <class S> void grow(filch::task_group<S>& group, std::atomic<long>& count, int depth) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (depth == 0) return;
  filch::join<S>(
      [&] { group.run([&, depth] { grow(group, count, depth - 1); }); },
      [&] { filch::for_index<S>(0, 3, [&](int) { group.run([&, depth] { grow(group, count, depth - 1); }); }); });
}

TYPED_TEST(task_group, runs_tasks_that_are_added_at_any_depth) {
  outside_and_in_pools<TypeParam>([] {
    std::atomic<long> count{0};
    filch::task_group<TypeParam> group;
    grow(group, count, 6);
    EXPECT_TRUE(group.wait());
    EXPECT_EQ(count.load(), 5461);  // 4^0 + ... + 4^6
    grow(group, count, 2);
    EXPECT_TRUE(group.wait());
    EXPECT_EQ(count.load(), 5461 + 21);
  });
}

/// The type of its result is not known where it is added.
template <class S> struct adds_its_own_kind {
  filch::task_group<S>& group;
  std::atomic<int>& runs;
  int depth;
  auto operator()() const {
    ++runs;
    for (int i = 0; i < depth; ++i) group.run(adds_its_own_kind{group, runs, i});
  }
};

TYPED_TEST(task_group, runs_tasks_that_add_their_own_kind) {
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> runs{0};
    filch::task_group<TypeParam> group;
    group.run(adds_its_own_kind<TypeParam>{group, runs, 6});
    EXPECT_TRUE(group.wait());
    EXPECT_EQ(runs, 64);
  });
}

TYPED_TEST(task_group, its_end_waits) {
  outside_and_in_pools<TypeParam>([] {
    std::atomic<int> count{0};
    {
      filch::task_group<TypeParam> group;
      for (int i = 0; i < 100; ++i) group.run([&] { count.fetch_add(1, std::memory_order_relaxed); });
      group.run([] { throw 1; });
    }
    EXPECT_LE(count.load(), 100);
    long const alive = counted::alive();
    {
      filch::task_group<TypeParam> group;
      for (int i = 0; i < 100; ++i) group.run([c = counted(i)] { EXPECT_LT(c.value(), 100); });
      group.cancel();
    }
    EXPECT_EQ(counted::alive(), alive);
  });
}

TYPED_TEST(task_group, collects_exceptions_and_begins_nothing_more) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    std::atomic<int> begun{0};
    for (int i = 0; i < 500; ++i) {
      group.run([&, i] {
        begun.fetch_add(1, std::memory_order_relaxed);
        throw i;
      });
    }
    EXPECT_THROW(group.wait(), int);
    EXPECT_GE(begun.load(), 1);
    EXPECT_EQ(group.exceptions().size(), static_cast<std::size_t>(begun.load()));
    for (auto const& e : group.exceptions()) EXPECT_THROW(std::rethrow_exception(e), int);
    EXPECT_FALSE(group.is_cancelled());
    group.run([&] { begun = -1; });
    EXPECT_TRUE(group.wait());
    EXPECT_EQ(begun.load(), -1);
    EXPECT_TRUE(group.exceptions().empty());
  });
}

TYPED_TEST(task_group, cancels) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    group.cancel();
    EXPECT_TRUE(group.is_cancelled());
    int ran = 0;
    group.run([&] { ran = 1; });
    EXPECT_FALSE(group.wait());
    EXPECT_EQ(ran, 0);
    // A loop in a task is told.
    std::atomic<bool> is_whole{true};
    group.run([&] {
      std::vector<int> v(100'000, 1);
      is_whole = filch::for_each<TypeParam>(group.get_token(), v, [&](int) { group.cancel(); });
    });
    group.wait();
    EXPECT_FALSE(is_whole.load());
    // And a group is told by another token.
    stop_source source;
    stop_token const token = source.get_token();
    filch::task_group<TypeParam> inner(token);
    source.request_stop();
    EXPECT_TRUE(inner.is_cancelled());
    inner.run([&] { ran = 2; });
    EXPECT_FALSE(inner.wait());
    EXPECT_EQ(ran, 0);
  });
}

TYPED_TEST(task_group, gives_futures) {
  outside_and_in_pools<TypeParam>([] {
    long const alive = counted::alive();
    {
      filch::task_group<TypeParam> group;
      int x = 3;
      std::array<long, 50> large{};
      large[49] = 7;
      auto value = group.fork([] { return counted(5); });
      auto reference = group.fork([&x]() -> int& { return x; });
      auto nothing = group.fork([&x] { x = 4; });
      auto unique = group.fork([] { return std::make_unique<int>(6); });
      auto big = group.fork([large] { return large[49]; });
      auto error = group.fork([]() -> int { throw 8L; });
      auto unread = group.fork([] { return counted(9); });
      EXPECT_TRUE(value.valid());
      nothing.get();
      EXPECT_EQ(x, 4);
      EXPECT_EQ(value.get().value(), 5);
      EXPECT_FALSE(value.valid());
      EXPECT_EQ(&reference.get(), &x);
      EXPECT_EQ(*unique.get(), 6);
      EXPECT_EQ(big.get(), 7);
      EXPECT_THROW(error.get(), long);
      EXPECT_TRUE(group.wait()) << "the exception of a task with a future is the future's";
      EXPECT_TRUE(unread.is_ready());
      auto late = std::move(unread);
      group.cancel();
      auto never = group.fork([] { return counted(1); });
      EXPECT_THROW(never.get(), filch::task_cancelled);
      group.wait();
      EXPECT_EQ(late.get().value(), 9);
    }
    EXPECT_EQ(counted::alive(), alive);
    filch::group_future<int> outlives;
    {
      filch::task_group<TypeParam> group;
      outlives = group.fork([] { return 11; });
    }
    EXPECT_EQ(outlives.get(), 11);
  });
}

/// Each call waits for two futures; the group's tasks wait for each other in a tree.
template <class S> long fib(filch::task_group<S>& group, int n) {
  if (n < 2) return n;
  auto a = group.fork([&group, n] { return fib(group, n - 1); });
  long const b = fib(group, n - 2);
  return a.get() + b;
}

TYPED_TEST(task_group, has_futures_that_wait_for_futures) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    EXPECT_EQ(fib(group, 15), 610);
    EXPECT_TRUE(group.wait());
  });
}

TYPED_TEST(task_group, workers_help_while_the_owner_is_busy) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < 50; ++round) {
      pool.run([] {
        filch::task_group<TypeParam> group;
        gate begun;
        group.run([&] { begun.open(); });
        EXPECT_TRUE(begun.pass()) << "no worker takes the task";
        group.wait();
      });
    }
    // A group that was made outside, for the default pool.
    filch::task_group<TypeParam> group;
    if (TypeParam::default_pool().workers() < 2) return;
    gate begun;
    group.run([&] { begun.open(); });
    EXPECT_TRUE(begun.pass()) << "no worker takes the task of a group outside all pools";
    group.wait();
  }
}

/// A join whose g another worker takes, though no worker may have asked for it before the fork.
template <class S, class Body> void join_taken(Body g) {
  std::atomic<bool> begun{false};
  filch::join<S>(
      [&] {
        EXPECT_TRUE(eventually([&] {
          filch::poll<S>();
          return begun.load();
        })) << "no worker takes the other half";
      },
      [&] {
        begun = true;
        g();
      });
}

TYPED_TEST(task_group, another_thread_works_while_one_waits_for_the_last_task) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < 20; ++round) {
      pool.run([] {
        filch::task_group<TypeParam> group;
        gate begun;
        gate waits;
        group.run([&] {
          begun.open();
          EXPECT_TRUE(waits.pass());
          // The owner is in wait(): another thread takes the other half.
          join_taken<TypeParam>([] {});
        });
        EXPECT_TRUE(begun.pass());
        waits.open();
        group.wait();
      });
    }
  }
}

TYPED_TEST(task_group, others_help_while_a_worker_waits_in_a_join) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    for (int round = 0; round < 5; ++round) {
      typename TypeParam::pool pool({.workers = 2});
      pool.run([&] {
        // The thief has a group; the owner of the join has nothing else to do, and sleeps already.
        while_the_owner_sleeps<TypeParam>(pool, [] {
          filch::task_group<TypeParam> group;
          gate begun;
          group.run([&] { begun.open(); });
          EXPECT_TRUE(begun.pass()) << "nobody helps beside a worker that sleeps in a join";
          group.wait();
          return 0;
        });
      });
    }
  }
}

TYPED_TEST(task_group, takes_tasks_from_several_threads) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    filch::task_group<TypeParam> group;
    std::atomic<int> count{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) group.run([&] { count.fetch_add(1, std::memory_order_relaxed); });
      });
    }
    for (auto& t : threads) t.join();
    EXPECT_TRUE(group.wait());
    EXPECT_EQ(count.load(), 4000);
  });
}

TYPED_TEST(task_group, waits_in_bounded_memory) {
  outside_and_in_pools<TypeParam>([] {
    static std::atomic<long> alive;
    static std::atomic<long> most;
    struct noted {
      noted() { born(); }
      noted(noted&&) noexcept { born(); }
      ~noted() { alive.fetch_sub(1, std::memory_order_relaxed); }
      static void born() noexcept {
        long const now = alive.fetch_add(1, std::memory_order_relaxed) + 1;
        if (now > most.load(std::memory_order_relaxed)) most.store(now, std::memory_order_relaxed);
      }
    };
    alive = most = 0;
    filch::task_group<TypeParam> group;
    std::atomic<long> count{0};
    for (int i = 0; i < 200'000; ++i) group.run([&, n = noted()] { count.fetch_add(1, std::memory_order_relaxed); });
    group.wait();
    EXPECT_EQ(count.load(), 200'000);
    EXPECT_LE(most.load(), 12'000);
    EXPECT_EQ(alive.load(), 0);
  });
}

TYPED_TEST(task_group, runs_chains_without_a_stack) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    // As many as wait at most: from here on tasks run at once, inside each other.
    std::atomic<long> count{0};
    for (int i = 0; i < 6'000; ++i) group.run([&] { count.fetch_add(1, std::memory_order_relaxed); });
    struct chain {
      filch::task_group<TypeParam>& group;
      std::atomic<long>& count;
      long left;
      void operator()() const {
        count.fetch_add(1, std::memory_order_relaxed);
        if (left > 0) group.run(chain{group, count, left - 1});
      }
    };
    group.run(chain{group, count, 300'000});
    group.wait();
    EXPECT_EQ(count.load(), 306'001);
  });
}

TYPED_TEST(task_group, works_inside_a_stay_and_in_nested_pools) {
  outside_and_in_pools<TypeParam>([] {
    std::atomic<long> count{0};
    filch::stay([&] {
      filch::task_group<TypeParam> group;
      grow(group, count, 3);
      group.wait();
    });
    EXPECT_EQ(count.load(), 85);
    filch::task_group<TypeParam> group;
    typename TypeParam::pool inner({.workers = 2});
    inner.run([&] {
      grow(group, count, 3);
      group.wait();
      filch::task_group<TypeParam> own;
      grow(own, count, 3);
      own.wait();
    });
    group.wait();
    EXPECT_EQ(count.load(), 3 * 85);
  });
}

TYPED_TEST(task_group, lets_a_task_wait_for_a_future_whose_task_waits_in_a_join) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 3});
    for (int round = 0; round < 20; ++round) {
      pool.run([] {
        std::atomic<bool> b_begun{false};
        std::atomic<bool> y_begun{false};
        std::atomic<bool> a_ended{false};
        // Only steers: a schedule in which it does not come true is right, too.
        auto const for_a_while = [](std::atomic<bool> const& flag) {
          auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
          while (!flag && std::chrono::steady_clock::now() < end) filch::poll<TypeParam>();
        };
        filch::task_group<TypeParam> group;
        auto awaited = group.fork([&] {
          filch::join<TypeParam>(
              [&] {
                for_a_while(b_begun);
                a_ended = true;
              },
              [&] {
                b_begun = true;
                for_a_while(y_begun);
              });
        });
        filch::join<TypeParam>([&] { group.wait(); },
                               [&] {
                                 for_a_while(a_ended);
                                 filch::join<TypeParam>([&] { for_a_while(y_begun); },
                                                        [&] {
                                                          y_begun = true;
                                                          awaited.get();
                                                        });
                               });
      });
    }
  }
}

TYPED_TEST(task_group, lets_a_task_wait_for_the_one_that_added_it_and_a_thousand_others) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    std::atomic<filch::group_future<int>*> shared{nullptr};
    std::atomic<int> got{0};
    auto future = group.fork([&] {
      for (int i = 0; i < 3000; ++i) group.run([] {});
      group.run([&] {
        while (!shared) filch::poll<TypeParam>();
        got = shared.load()->get();
      });
      return 5;
    });
    shared = &future;
    group.wait();
    EXPECT_EQ(got.load(), 5);
  });
}

TYPED_TEST(task_group, knows_whether_all_tasks_ran) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    auto future = group.fork([] { return 1; });
    group.run([] {});
    EXPECT_EQ(future.get(), 1);
    filch::group_future<int> other = group.fork([] { return 2; });
    future = std::move(other);
    EXPECT_FALSE(other.valid());
    EXPECT_THROW(other.get(), std::future_error);
    auto& itself = future;
    future = std::move(itself);
    EXPECT_EQ(future.get(), 2);
    group.wait();
    auto early = group.fork([] { return 3; });
    EXPECT_EQ(early.get(), 3);
    group.cancel();
    EXPECT_TRUE(group.wait()) << "the only task had run";
    // Its token is copied.
    filch::task_group<TypeParam> inner(group.get_token());
    group.cancel();
    inner.run([] { ADD_FAILURE() << "the outer group is cancelled"; });
    EXPECT_FALSE(inner.wait());
  });
}

TYPED_TEST(task_group, hides_exceptions_in_flight_from_its_tasks) {
  outside_and_in_pools<TypeParam>([] {
    auto const see_none = [] {
      EXPECT_EQ(std::current_exception(), nullptr);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    };
    try {
      filch::task_group<TypeParam> group;
      group.run(see_none);
      throw 1;
    } catch (int) {
      filch::task_group<TypeParam> group;
      group.run(see_none);
      group.wait();
      EXPECT_NE(std::current_exception(), nullptr);
    }
  });
}

TYPED_TEST(task_group, that_outlives_its_call_is_no_other_callers) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no threads";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    std::unique_ptr<filch::task_group<TypeParam>> group;
    pool.run([&] { group = std::make_unique<filch::task_group<TypeParam>>(); });
    for (int round = 0; round < 10; ++round) {
      auto const me = std::this_thread::get_id();
      pool.run([&] {
        join_taken<TypeParam>([&] {
          // It may run when this call is over.
          group->run([me] { EXPECT_NE(std::this_thread::get_id(), me) << "a task of an earlier call"; });
          EXPECT_TRUE(eventually([&] { return pool.stats().sleeps != 0; }));
        });
      });
      std::thread([&] { pool.run([&] { group->wait(); }); }).join();
    }
    group.reset();
  }
}

TYPED_TEST(task_group, forks_of_tasks_of_an_earlier_call_are_no_other_callers) {
  if constexpr (!steals<TypeParam> || steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "it has no threads, or a task waits until another worker has its fork";
  } else {
    typename TypeParam::pool pool({.workers = 3});
    std::unique_ptr<filch::task_group<TypeParam>> group;
    gate begun, next_call, tried;
    std::atomic<bool> is_taken{false}, is_with_caller{false};
    auto const me = std::this_thread::get_id();
    unsigned place = 0;
    pool.run([&] {
      place = TypeParam::worker_index();
      group = std::make_unique<filch::task_group<TypeParam>>();
      group->run([&] {
        begun.open();
        EXPECT_TRUE(next_call.pass());
        filch::join<TypeParam>(
            [&] {
              // Time in which the caller could take it.
              auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
              while (!is_taken && std::chrono::steady_clock::now() < end) filch::poll<TypeParam>();
              tried.open();
            },
            [&] {
              is_with_caller = std::this_thread::get_id() == me;
              is_taken = true;
            });
      });
      EXPECT_TRUE(begun.pass()) << "no worker takes the task";
    });
    pool.run([&] {
      EXPECT_EQ(TypeParam::worker_index(), place) << "a pool's thread that helps holds the place";
      // The caller searches meanwhile.
      join_taken<TypeParam>([&] {
        next_call.open();
        EXPECT_TRUE(tried.pass());
      });
    });
    EXPECT_FALSE(is_with_caller) << "a fork of a task of the first call";
    pool.run([&] { EXPECT_TRUE(group->wait()); });
    group.reset();
    pool.run([&] { EXPECT_EQ(TypeParam::worker_index(), place) << "the first call's place is free again"; });
  }
}

/// Calls f in a child of fork(). Returns its exit status.
template <class Fn> int in_child(Fn f) {
  pid_t const child = fork();
  if (child == 0) _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TYPED_TEST(task_group, works_in_children_of_fork) {
  if constexpr (is_thread_sanitized) GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  if constexpr (is_emulated) GTEST_SKIP() << "QEMU's plugins fail in such children";
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> parents;
    std::atomic<int> parents_ran{0};
    parents.run([&] {
      parents_ran = in_child([&] {
        std::atomic<long> count{0};
        filch::task_group<TypeParam> group;
        grow(group, count, 3);
        auto f = group.fork([] { return 4; });
        group.wait();
        int ran_at_once = 0;
        parents.run([&] { ran_at_once = 1; });
        return count.load() == 85 && f.get() == 4 && (ran_at_once == 1 || !steals<TypeParam>) ? 7 : 1;
      });
    });
    parents.wait();
    EXPECT_EQ(parents_ran.load(), 7);
  });
}

TYPED_TEST(task_group, of_the_parent_throws_and_goes_on_in_a_child_of_fork) {
  filch::task_group<TypeParam> group;
  group.wait();
  EXPECT_EQ(in_child([&] {
              group.run([] { throw 3; });
              int caught = 0;
              try {
                group.wait();
              } catch (int e) {
                caught = e;
              }
              bool ran = false;
              group.run([&] { ran = true; });
              bool const all_ran = group.wait();
              group.cancel();
              group.run([] {});
              bool const was_cancelled = !group.wait();
              return caught == 3 && ran && all_ran && was_cancelled ? 7 : 1;
            }),
            7);
}

TYPED_TEST(task_group, that_failed_before_a_fork_throws_in_the_child) {
  using pool_type = typename TypeParam::pool;
  pool_type pool({.workers = 2});
  pool.run([] {
    filch::task_group<TypeParam> group;
    group.run([] { throw 3; });
    // Until the other worker has run it. A child in which it runs ends.
    EXPECT_TRUE(eventually([&] {
      return in_child([&] {
               int caught = 0;
               try {
                 group.wait();
               } catch (int e) {
                 caught = e;
               }
               return caught == 3 && group.exceptions().size() == 1 && group.wait() ? 7 : 1;
             }) == 7;
    }));
    EXPECT_THROW(group.wait(), int);
  });
}

/// A random program of groups, futures, joins and exceptions. Returns the number of tasks that it counted.
template <class S>
void random_tree(std::uint64_t seed, unsigned depth, filch::task_group<S>& outer, std::atomic<long>& count) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (depth == 0) return;
  std::uint64_t const children = mix(seed) % 5;
  switch (mix(seed + 1) % 4) {
    case 0: {
      filch::task_group<S> own;
      for (std::uint64_t i = 0; i < children; ++i) {
        own.run([&, i] { random_tree(mix(seed ^ (i + 99)), depth - 1, mix(seed + i) % 2 ? own : outer, count); });
      }
      own.wait();
      break;
    }
    case 1: {
      std::vector<filch::group_future<int>> futures;
      for (std::uint64_t i = 0; i < children; ++i) {
        futures.push_back(outer.fork([&, seed, depth, i] {
          random_tree(mix(seed ^ (i + 99)), depth - 1, outer, count);
          return static_cast<int>(i);
        }));
      }
      for (std::uint64_t i = 0; i < children; ++i) {
        if (mix(seed + i) % 3 == 0) continue;
        EXPECT_EQ(futures[i].get(), static_cast<int>(i));
      }
      break;
    }
    case 2:
      filch::join<S>([&] { random_tree(mix(seed ^ 99), depth - 1, outer, count); },
                     [&] { random_tree(mix(seed ^ 100), depth - 1, outer, count); });
      break;
    default:
      for (std::uint64_t i = 0; i < children; ++i) {
        outer.run([&outer, &count, seed, depth, i] { random_tree(mix(seed ^ (i + 99)), depth - 1, outer, count); });
      }
  }
}

/// The same without tasks.
long nodes_of(std::uint64_t seed, unsigned depth) {
  if (depth == 0) return 1;
  std::uint64_t const children = mix(seed + 1) % 4 == 2 ? 2 : mix(seed) % 5;
  long nodes = 1;
  for (std::uint64_t i = 0; i < children; ++i) nodes += nodes_of(mix(seed ^ (i + 99)), depth - 1);
  return nodes;
}

TYPED_TEST(task_group, gives_results_that_are_const_to_futures_as_joins_do) {
  outside_and_in_pools<TypeParam>([] {
    filch::task_group<TypeParam> group;
    std::string const word = "a word that is not in the string's own memory";
    auto text = group.fork([&word]() -> std::string const { return word; });
    auto number = group.fork([]() -> std::unique_ptr<int> const { return std::make_unique<int>(3); });
    auto place = group.fork([&word]() -> std::string const& { return word; });
    static_assert(std::is_same_v<decltype(text), filch::group_future<std::string>>);
    static_assert(std::is_same_v<decltype(place), filch::group_future<std::string const&>>);
    EXPECT_EQ(text.get(), word);
    EXPECT_EQ(*number.get(), 3);
    EXPECT_EQ(&place.get(), &word);
    EXPECT_TRUE(group.wait());
  });
}

TYPED_TEST(task_group, runs_random_trees) {
  for_each_seed<TypeParam>(5, 500, [](typename TypeParam::pool& pool, std::uint64_t seed) {
    std::atomic<long> count{0};
    pool.run([&] {
      filch::task_group<TypeParam> group;
      random_tree(seed, 6, group, count);
      EXPECT_TRUE(group.wait());
    });
    ASSERT_EQ(count.load(), nodes_of(seed, 6)) << "seed " << seed;
  });
}

}  // namespace
}  // namespace filch_test
