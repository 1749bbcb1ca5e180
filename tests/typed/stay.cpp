// filch::stay: inside it, code keeps its thread, and joins run in order.
#include "counted.hpp"
#include "scale.hpp"
#include "stealing.hpp"
#include "this_thread.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class stay : public ::testing::Test {};
TYPED_TEST_SUITE(stay, all_schedulers, scheduler_names);

/// Forks in each way, and expects all tasks on one thread. Returns the number of leaves.
template <class S> long forks_on(long thread, int depth) {
  EXPECT_EQ(this_thread(), thread);
  EXPECT_FALSE(S::wanted());
  if (depth == 0) return 1;
  auto const below = [=] { return forks_on<S>(thread, depth - 1); };
  bool first_ran = false;
  auto const [a, b] = filch::join<S>(
      [&] {
        first_ran = true;
        return below();
      },
      [&] {
        EXPECT_TRUE(first_ran);
        return below();
      });
  auto const [c, d, e] = filch::invoke<S>(below, below, below);
  long spawned = 0;
  filch::scope<S>([&](auto& s) {
    for (int i = 0; i < 2; ++i) s.spawn([&] { spawned += below(); });
    s.sync();
    s.spawn([&] { spawned += below(); });
  });
  long looped = 0;
  filch::for_index<S>(0, 2, [&](int i) {
    EXPECT_EQ(this_thread(), thread);
    looped += i;
  });
  EXPECT_EQ(looped, 1);
  return a + b + c + d + e + spawned;
}
long leaves(int depth) { return depth == 0 ? 1 : 8 * leaves(depth - 1); }

TYPED_TEST(stay, keeps_forks_of_every_kind_in_order_on_its_thread) {
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([&] {
      if (workers > 1) wait_for_thief<TypeParam>();
      auto const worker = filch::current_worker<TypeParam>();
      long const thread = this_thread();
      long const n = filch::stay([&] {
        EXPECT_EQ(filch::current_worker<TypeParam>(), worker);
        return forks_on<TypeParam>(thread, 3);
      });
      EXPECT_EQ(n, leaves(3));
      EXPECT_EQ(this_thread(), thread);
    });
  }
}

TYPED_TEST(stay, keeps_forks_of_other_schedulers_too) {
  auto const all = [] {
    long const thread = this_thread();
    return filch::stay([&] {
      long n = forks_on<filch::serial>(thread, 1) + forks_on<filch::direct>(thread, 1);
#if FILCH_HAS_CACTUS
      n += forks_on<filch::cactus>(thread, 1) + forks_on<filch::implicit>(thread, 1);
#else
      n *= 2;
#endif
      return n;
    });
  };
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_EQ(pool.run(all), 32);
  EXPECT_EQ(all(), 32);
}

TYPED_TEST(stay, outside_all_pools_enters_none) {
  auto const worker = filch::current_worker<TypeParam>();
  long const thread = this_thread();
  filch::stay([&] {
    EXPECT_EQ(filch::current_worker<TypeParam>(), worker);
    auto const [a, b] = filch::join<TypeParam>([] { return filch::current_worker<TypeParam>(); },
                                               [] { return filch::current_worker<TypeParam>(); });
    EXPECT_EQ(a, worker);
    EXPECT_EQ(b, worker);
    EXPECT_EQ(forks_on<TypeParam>(thread, 2), leaves(2));
  });
  EXPECT_EQ(filch::current_worker<TypeParam>(), worker);
}

TYPED_TEST(stay, hands_on_results_of_every_kind) {
  nothing_left_behind const check;
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    int i = 3;
    int& reference = filch::stay([&]() -> int& { return i; });
    EXPECT_EQ(&reference, &i);
    EXPECT_EQ(*filch::stay([] { return std::make_unique<int>(4); }), 4);
    static_assert(std::is_void_v<decltype(filch::stay([] {}))>);
    filch::stay([&i] { i = 5; });
    EXPECT_EQ(i, 5);
    struct rooted {
      int value;
      explicit rooted(int v) : value(v) {}
      rooted(rooted const&) = delete;
    };
    EXPECT_EQ(filch::stay([] { return rooted(6); }).value, 6);
    EXPECT_EQ(filch::stay([] { return counted(7); }).value(), 7);
    struct once {
      std::unique_ptr<int> p;
      int operator()() && { return *p; }
    };
    EXPECT_EQ(filch::stay(once{std::make_unique<int>(8)}), 8);
  });
}

TYPED_TEST(stay, ends_with_an_exception_as_well) {
  in_every_way<TypeParam>([](auto join) {
    long const thread = this_thread();
    bool g_ran = false;
    try {
      filch::stay([&] {
        filch::join<TypeParam>([] { throw std::runtime_error("of f"); },
                               [&] {
                                 g_ran = true;
                                 throw 1;
                               });
      });
      ADD_FAILURE() << "did not throw";
    } catch (std::runtime_error const& e) {
      EXPECT_STREQ(e.what(), "of f");
      EXPECT_EQ(this_thread(), thread);
    }
    EXPECT_TRUE(g_ran);
    // In a pool of two this hangs if the stay has not ended: no thief would take the task.
    auto const [a, b] = join([] { return 1; }, [] { return 2; });
    EXPECT_EQ(a + b, 3);
  });
}

TYPED_TEST(stay, may_be_on_either_side_of_a_stolen_join) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      for (std::size_t i = 0; i < scaled(200); ++i) {
        auto const work = [] {
          return filch::stay([thread = this_thread()] { return forks_on<TypeParam>(thread, 1); });
        };
        auto const [a, b] = stolen_join<TypeParam>{}(work, work);
        EXPECT_EQ(a + b, 16);
      }
    });
  }
}

TYPED_TEST(stay, leaves_earlier_forks_to_thieves) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      for (int i = 0; i < 10; ++i) {
        gate begun;
        filch::join<TypeParam>(
            [&] {
              wait_for_thief<TypeParam>();
              filch::stay([&] { EXPECT_TRUE(begun.pass()) << "no thief took it"; });
            },
            [&] { begun.open(); });
      }
    });
  }
}

TYPED_TEST(stay, may_be_inside_another_one) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    long const thread = this_thread();
    filch::stay([&] {
      EXPECT_EQ(filch::stay([&] { return forks_on<TypeParam>(thread, 1); }), 8);
      EXPECT_THROW(filch::stay([] { throw 1; }), int);
      EXPECT_EQ(forks_on<TypeParam>(thread, 1), 8);
    });
  });
}

TYPED_TEST(stay, lets_a_run_of_another_pool_be_parallel) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool outer({.workers = 2});
    typename TypeParam::pool inner({.workers = 2});
    auto const in_stay = [&](bool is_in_outer) {
      long const thread = this_thread();
      filch::stay([&] {
        for (std::size_t i = 0; i < scaled(50); ++i) {
          inner.run([&] {
            // Back in the outer pool, where this thread stays.
            if (is_in_outer) {
              EXPECT_EQ(outer.run([] { return forks_on<TypeParam>(this_thread(), 1); }), 8);
            }
            auto const [a, b] = stolen_join<TypeParam>{}([] { return 1; }, [] { return 2; });
            EXPECT_EQ(a + b, 3);
            EXPECT_EQ(outer.run([] { return forks_on<filch::serial>(this_thread(), 1); }), 8);
            // After the join this may be another thread, which does not stay.
            if (is_in_outer && this_thread() == thread) {
              EXPECT_EQ(outer.run([] { return forks_on<TypeParam>(this_thread(), 1); }), 8);
            }
          });
          EXPECT_EQ(forks_on<TypeParam>(thread, 1), 8);
        }
      });
      EXPECT_EQ(this_thread(), thread);
    };
    outer.run([&] { in_stay(true); });
    in_stay(false);
  }
}

TYPED_TEST(stay, lets_a_run_of_a_pool_of_another_scheduler_be_parallel) {
  typename TypeParam::pool outer({.workers = 2});
  filch::direct::pool inner({.workers = 2});
  outer.run([&] {
    long const thread = this_thread();
    filch::stay([&] {
      inner.run([] {
        auto const [a, b] = stolen_join<filch::direct>{}([] { return 1; }, [] { return 2; });
        EXPECT_EQ(a + b, 3);
      });
      EXPECT_EQ(forks_on<filch::direct>(thread, 1), 8);
      EXPECT_EQ(forks_on<TypeParam>(thread, 1), 8);
    });
  });
}

TYPED_TEST(stay, keeps_a_run_of_its_own_pool_in_order) {
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    pool.run([&] {
      long const thread = this_thread();
      filch::stay([&] {
        EXPECT_EQ(pool.run([&] { return forks_on<TypeParam>(thread, 2); }), leaves(2));
        EXPECT_EQ(forks_on<TypeParam>(thread, 1), 8);
      });
    });
  }
}

TYPED_TEST(stay, runs_a_spawn_into_a_scope_further_out_in_place) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> ran{0};
  pool.run([&] {
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < 10; ++i) s.spawn([&] { ++ran; });
      filch::stay([&] {
        bool here = false;
        s.spawn([&] { here = true; });
        EXPECT_TRUE(here);
      });
      for (int i = 0; i < 10; ++i) s.spawn([&] { ++ran; });
    });
  });
  EXPECT_EQ(ran, 20);
}

TYPED_TEST(stay, ends_the_process_at_a_sync_of_a_scope_further_out) {
  if (!has_stacks<TypeParam>) GTEST_SKIP() << "has nothing to wait for";
  if (is_emulated) GTEST_SKIP() << "starts itself once more";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        typename TypeParam::pool pool({.workers = 1});
        pool.run([] {
          filch::scope<TypeParam>([](auto& s) {
            s.spawn([] {});
            filch::stay([&s] { s.sync(); });
          });
        });
      },
      "filch: a scope was synced by");
}

TYPED_TEST(stay, lets_a_std_mutex_be_held_across_a_join) {
  typename TypeParam::pool pool({.workers = 4});
  std::mutex m;
  long count = 0;
  auto const tasks = static_cast<int>(scaled(5000));
  pool.run([&] {
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < tasks; ++i) {
        s.spawn([&] {
          filch::stay([&] {
            std::lock_guard const lock(m);
            filch::join<TypeParam>([&] { ++count; }, [&] { ++count; });
          });
        });
      }
    });
  });
  EXPECT_EQ(count, 2L * tasks);
}

template <class S> long tree(int depth, unsigned seed) {
  if (depth == 0) return 1;
  seed = seed * 1664525u + 1013904223u;
  if (seed >> 28 == 0) {
    long const thread = this_thread();
    return filch::stay([&] {
      auto const [a, b] =
          filch::join<S>([=] { return tree<S>(depth - 1, seed); }, [=] { return tree<S>(depth - 1, seed + 1); });
      EXPECT_EQ(this_thread(), thread);
      return a + b;
    });
  }
  auto const [a, b] =
      filch::join<S>([=] { return tree<S>(depth - 1, seed); }, [=] { return tree<S>(depth - 1, seed + 1); });
  return a + b;
}

TYPED_TEST(stay, may_be_anywhere_in_a_tree) {
  int const depth = is_sanitized || is_emulated ? 10 : 16;
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    for (unsigned seed = 1; seed <= 5; ++seed) {
      EXPECT_EQ(pool.run([&] { return tree<TypeParam>(depth, seed); }), 1L << depth);
    }
  }
}

TYPED_TEST(stay, gives_worker_local_values_that_last_across_joins) {
  typename TypeParam::pool pool({.workers = 4});
  filch::worker_local<long> values;
  pool.run([&] {
    filch::for_index<TypeParam>(0, 2000, [&](int) {
      filch::stay([&] {
        long& mine = values.local();
        auto const [a, b] = filch::join<TypeParam>([&] { return &values.local() == &mine; },
                                                   [&] { return &values.local() == &mine; });
        EXPECT_TRUE(a && b);
        ++mine;
      });
    });
  });
  EXPECT_EQ(values.combine(std::plus<>()), 2000);
}

}  // namespace
}  // namespace filch_test
