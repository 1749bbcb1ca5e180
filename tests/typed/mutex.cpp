// filch::mutex: as a lock, and across joins after which the code is on another thread.
#include "scale.hpp"
#include "stealing.hpp"
#include "this_thread.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class mutex : public ::testing::Test {};
TYPED_TEST_SUITE(mutex, all_schedulers, scheduler_names);

static_assert(sizeof(filch::mutex) == 4);
static_assert(!std::is_copy_constructible_v<filch::mutex> && !std::is_move_constructible_v<filch::mutex>);

template <class S, class F> void for_each_task(int n, F const& f) {
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < n; ++i) s.spawn(f);
  });
}

TYPED_TEST(mutex, lets_one_task_in_at_a_time) {
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    filch::mutex m;
    long count = 0;
    auto const tasks = static_cast<int>(scaled(20'000));
    pool.run([&] {
      for_each_task<TypeParam>(tasks, [&] {
        std::lock_guard const lock(m);
        ++count;
      });
    });
    EXPECT_EQ(count, tasks);
  }
}

TYPED_TEST(mutex, may_be_held_across_a_join_that_changes_threads) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    filch::mutex m;
    bool const was_seen = eventually([&] {
      return pool.run([&] {
        long const before = this_thread();
        {
          std::unique_lock const lock(m);
          join_with_late_thief<TypeParam>();
          EXPECT_FALSE(m.try_lock());
        }
        EXPECT_TRUE(m.try_lock());
        m.unlock();
        return !migrates<TypeParam> || this_thread() != before;
      });
    });
    EXPECT_TRUE(was_seen) << "the code after the join is never on another thread";
  }
}

TYPED_TEST(mutex, keeps_others_out_while_its_holder_is_suspended) {
  // Under other schedulers a worker that waits in the join could wait for its own lock.
  if constexpr (migrates<TypeParam>) {
    for (unsigned workers : {1u, 2u, 4u}) {
      typename TypeParam::pool pool({.workers = workers});
      filch::mutex m;
      long count = 0;
      long inside = 0;
      auto const tasks = static_cast<int>(scaled(4000));
      pool.run([&] {
        for_each_task<TypeParam>(tasks, [&] {
          std::lock_guard const lock(m);
          EXPECT_EQ(++inside, 1);
          auto const [a, b] = filch::join<TypeParam>(
              [] {
                work_for(std::chrono::microseconds(2));
                return 1;
              },
              [] {
                work_for(std::chrono::microseconds(2));
                return 2;
              });
          count += a + b;
          EXPECT_EQ(--inside, 0);
        });
      });
      EXPECT_EQ(count, 3L * tasks);
    }
  }
}

TYPED_TEST(mutex, may_be_waited_for_in_a_scope_that_changes_threads) {
  if constexpr (migrates<TypeParam>) {
    for (unsigned workers : {1u, 2u, 4u}) {
      typename TypeParam::pool pool({.workers = workers});
      filch::mutex m;
      long count = 0;
      std::atomic<long> spawned{0};
      constexpr int k_tasks = 100;  // with forced steals each spawn takes a stack
      auto const rounds = static_cast<int>(scaled(40));
      for (int round = 0; round < rounds; ++round) {
        pool.run([&] {
          for_each_task<TypeParam>(k_tasks, [&] {
            filch::scope<TypeParam>([&](auto& s) {
              for (int i = 0; i < 2; ++i) {
                s.spawn([&] { ++spawned; });
                std::lock_guard const lock(m);
                filch::join<TypeParam>([] { work_for(std::chrono::microseconds(2)); }, [] {});
                ++count;
              }
              s.spawn([&] { ++spawned; });
            });
          });
        });
      }
      EXPECT_EQ(count, 2L * rounds * k_tasks);
      EXPECT_EQ(spawned, 3L * rounds * k_tasks);
    }
  }
}

TYPED_TEST(mutex, refuses_a_second_time_also_to_its_holder) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    filch::mutex m;
    EXPECT_TRUE(m.try_lock());
    auto const [a, b] = filch::join<TypeParam>([&] { return m.try_lock(); }, [&] { return m.try_lock(); });
    EXPECT_FALSE(a);
    EXPECT_FALSE(b);
    m.unlock();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(mutex_of_threads, is_unlocked_by_another_one) {
  filch::mutex m;
  long value = 0;
  for (std::size_t i = 0; i < scaled(200); ++i) {
    m.lock();
    ++value;
    std::thread([&] {
      ++value;
      m.unlock();
    }).join();
  }
  std::scoped_lock const lock(m);
  EXPECT_EQ(value, 2 * static_cast<long>(scaled(200)));
}

// More threads than processors, and a lock that is held for longer than threads spin: all ways of sleep and wake.
TEST(mutex_of_threads, wakes_all_that_sleep) {
  filch::mutex m;
  long count = 0;
  auto const turns = static_cast<int>(scaled(300));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < turns; ++i) {
        std::unique_lock lock(m, std::defer_lock);
        if ((i + t) % 7 != 0 || !lock.try_lock()) lock.lock();
        ++count;
        if (i % 3 == 0) work_for(std::chrono::microseconds(20));
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(count, 8L * turns);
}

TEST(mutex_of_threads, sleeps_while_another_one_holds_it) {
  filch::mutex m;
  m.lock();
  std::atomic<long> waiter{0};
  std::thread t([&] {
    waiter.store(this_thread(), std::memory_order_release);
    std::lock_guard const lock(m);
  });
  EXPECT_TRUE(eventually([&] {
    long const id = waiter.load(std::memory_order_acquire);
    return id != 0 && is_asleep(id);
  })) << "still spins";
  m.unlock();
  t.join();
}

// The last user may destroy the mutex as soon as it holds it, while the user before is still in unlock().
TEST(mutex_of_threads, may_be_destroyed_by_its_last_holder) {
  for (std::size_t i = 0; i < scaled(2000); ++i) {
    auto* const m = new filch::mutex;
    m->lock();
    gate begun;
    std::thread t([&] {
      begun.open();
      m->lock();
      m->unlock();
      delete m;
    });
    EXPECT_TRUE(begun.pass());
    m->unlock();
    t.join();
  }
}

}  // namespace
}  // namespace filch_test
