// Several threads inside one pool at once: each has a place of its own, and waits for its own call alone.
#include "scale.hpp"
#include "stealing.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class callers : public ::testing::Test {};
TYPED_TEST_SUITE(callers, all_schedulers, scheduler_names);

constexpr unsigned k_callers_places = 16;

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

/// Threads whose calls run body(i) in the pool. Joined at the end.
template <class Pool, class Body> class calls {
 public:
  calls(Pool& pool, unsigned count, Body body) : body_(std::move(body)) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([&pool, i, this] { pool.run([i, this] { body_(i); }); });
    }
  }
  calls(calls const&) = delete;
  calls& operator=(calls const&) = delete;
  ~calls() {
    for (auto& t : threads_) t.join();
  }

 private:
  Body body_;
  std::vector<std::thread> threads_;
};

template <class S, class Mutex> void joins_with_a_lock_held() {
  int value = 0;
  int seen = 0;
  {
    typename S::pool pool({.workers = 2});
    Mutex mutex;
    std::atomic<int> inside{0};
    std::unique_lock lock(mutex);
    calls const readers(pool, 2, [&](unsigned) {
      filch::join<S>(
          [&] {
            ++inside;
            std::lock_guard const mine(mutex);
            seen += value;
          },
          [] {});
    });
    EXPECT_TRUE(eventually([&] { return inside == 2; })) << "a caller waits for another one";
    bool ran = false;
    std::thread writer([&] { pool.run([&] { filch::join<S>([&] { value = 1; }, [&] { ran = true; }); }); });
    writer.join();
    EXPECT_TRUE(ran);
    lock.unlock();
  }
  EXPECT_EQ(seen, 2);
}

TYPED_TEST(callers, join_while_others_inside_wait_for_their_lock) {
  joins_with_a_lock_held<TypeParam, std::mutex>();
  joins_with_a_lock_held<TypeParam, filch::mutex>();
}

TYPED_TEST(callers, are_all_inside_at_once_with_few_workers) {
  for (unsigned workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    constexpr unsigned k_count = k_callers_places;
    std::atomic<unsigned> inside{0};
    std::mutex mutex;
    std::set<unsigned> indices;
    calls const all(pool, k_count, [&](unsigned) {
      unsigned const index = filch::current_worker<TypeParam>().value();
      EXPECT_LT(index, pool.places());
      {
        std::lock_guard const lock(mutex);
        indices.insert(index);
      }
      ++inside;
      EXPECT_TRUE(eventually([&] { return inside == k_count; })) << "a caller waits for another one";
      EXPECT_EQ(fib<TypeParam>(10), 55);
      std::lock_guard const lock(mutex);
      EXPECT_EQ(indices.size(), steals<TypeParam> ? k_count : 1u);
    });
  }
}

struct small_stack_thread {
  template <class Body> static void* run(void* body) {
    (*static_cast<Body*>(body))();
    return nullptr;
  }
};

/// Calls itself until it uses so many KiB of stack.
[[maybe_unused, gnu::noinline]] int deep(int kib) {
  char volatile room[1024];
  room[0] = static_cast<char>(kib);
  return kib == 0 ? 0 : deep(kib - 1) + (room[0] == static_cast<char>(kib) ? 1 : 0);
}

TYPED_TEST(callers, past_the_last_place_run_in_order_on_a_stack_of_the_pool) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no stacks";
  } else {
    typename TypeParam::pool pool({.workers = 2, .stack_size = std::size_t{16} << 20});
    std::atomic<unsigned> inside{0};
    gate leave;
    calls const all(pool, k_callers_places, [&](unsigned) {
      ++inside;
      EXPECT_TRUE(leave.pass());
    });
    EXPECT_TRUE(eventually([&] { return inside == k_callers_places; }));
    auto body = [&] {
      auto const caller = std::this_thread::get_id();
      for (int round = 0; round < 2; ++round) {
        pool.run([&] {
          EXPECT_TRUE(TypeParam::inside());
          EXPECT_FALSE(filch::current_worker<TypeParam>().has_value());
          EXPECT_EQ(deep(4 * 1024), 4 * 1024);  // more than the thread has
          EXPECT_EQ(fib<TypeParam>(12), 144);
          auto const [a, b] = filch::join<TypeParam>([] { return std::this_thread::get_id(); },
                                                     [] { return std::this_thread::get_id(); });
          EXPECT_EQ(a, caller);
          EXPECT_EQ(b, caller);
          EXPECT_EQ(pool.run([] { return fib<TypeParam>(8); }), 21);
        });
        EXPECT_THROW(pool.run([] { throw 1; }), int);
      }
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{1} << 20);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, &small_stack_thread::run<decltype(body)>, &body), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    leave.open();
  }
}

TYPED_TEST(callers, wait_for_another_one_inside_a_task_of_a_pool_that_has_no_free_worker) {
  typename TypeParam::pool pool({.workers = 2});
  gate other_ran;
  std::thread other;
  pool.run([&] {
    auto const wait = [&] { EXPECT_TRUE(other_ran.pass()) << "the call waits for the tasks that wait for it"; };
    other = std::thread([&] { pool.run([&] { filch::join<TypeParam>([&] { other_ran.open(); }, [] {}); }); });
    filch::join<TypeParam>(wait, wait);
  });
  other.join();
}

/// While a part of its call is with a thief, a caller has nothing to do, and another call offers tasks.
TYPED_TEST(callers, take_no_tasks_of_another_call) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no thieves";
  } else if (steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "the other call's tasks are handed over at once";
  } else {
    using S = TypeParam;
    typename S::pool pool({.workers = 2});
    gate thief_is_busy;
    gate others_task_is_there;
    gate first_returned;
    std::thread::id first_caller;
    std::thread::id ran_others_task;
    std::thread first([&] {
      first_caller = std::this_thread::get_id();
      pool.run([&] {
        // Once the thief is in its task, the first caller is the only one that can go to sleep.
        std::uint64_t sleeps_before = 0;
        stolen_join<S>{}(
            [&] {
              sleeps_before = pool.stats().sleeps;
              thief_is_busy.open();
            },
            [&] {
              EXPECT_TRUE(others_task_is_there.pass());
              EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > sleeps_before; })) << "it does not sleep";
            });
      });
      first_returned.open();
    });
    EXPECT_TRUE(thief_is_busy.pass());
    std::thread second([&] {
      pool.run([&] {
        filch::join<S>(
            [&] {
              // The next thief that requests gets the task.
              filch::join<S>([&] { others_task_is_there.open(); }, [] {});
              EXPECT_TRUE(first_returned.pass()) << "the first call waits for the second";
            },
            [&] {
              ran_others_task = std::this_thread::get_id();
              EXPECT_TRUE(first_returned.pass()) << "the first call waits for the second";
            });
      });
    });
    first.join();
    second.join();
    EXPECT_NE(ran_others_task, first_caller);
  }
}

TYPED_TEST(callers, have_their_tasks_stolen_at_every_place) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "it has no thieves";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    gate leave;
    std::atomic<unsigned> inside{0};
    for (unsigned others : {0u, 1u, k_callers_places - 1}) {
      SCOPED_TRACE(others);
      leave.close();
      inside = 0;
      calls const all(pool, others, [&](unsigned) {
        ++inside;
        EXPECT_TRUE(leave.pass());
      });
      EXPECT_TRUE(eventually([&] { return inside == others; }));
      pool.run([] {
        auto const [f, g] = stolen_join<TypeParam>{}([] { return std::this_thread::get_id(); },
                                                     [] { return std::this_thread::get_id(); });
        EXPECT_NE(f, g);
      });
      leave.open();
    }
  }
}

TYPED_TEST(callers, are_counted_in_the_pool_s_statistics) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    gate leave;
    gate runs;
    calls const other(pool, 1, [&](unsigned) {
      runs.open();
      EXPECT_TRUE(leave.pass());
    });
    EXPECT_TRUE(runs.pass());
    std::uint64_t const before = pool.stats().steals;
    pool.run([] { stolen_join<TypeParam>{}([] {}, [] {}); });
    EXPECT_GT(pool.stats().steals, before);
    leave.open();
  }
}

}  // namespace
}  // namespace filch_test
