// Pools inside pools: of one scheduler and of two, from tasks, from several callers at once.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class nested_pools : public ::testing::Test {};
TYPED_TEST_SUITE(nested_pools, all_schedulers, scheduler_names);

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

TYPED_TEST(nested_pools, of_one_scheduler_each_have_their_own_workers) {
  typename TypeParam::pool a({.workers = 2});
  typename TypeParam::pool b({.workers = 3});
  auto const before = filch::current_worker<TypeParam>();
  a.run([&] {
    auto const in_a = filch::current_worker<TypeParam>();
    EXPECT_EQ(b.run([] { return fib<TypeParam>(15); }), 610);
    EXPECT_EQ(filch::current_worker<TypeParam>(), in_a);
    EXPECT_EQ(fib<TypeParam>(15), 610);
  });
  EXPECT_EQ(filch::current_worker<TypeParam>(), before);
}

TYPED_TEST(nested_pools, lead_back_into_the_outer_pool) {
  typename TypeParam::pool a({.workers = 2});
  typename TypeParam::pool b({.workers = 2});
  long const result = a.run([&] {
    auto const in_a = filch::current_worker<TypeParam>();
    auto const [x, y] = filch::join<TypeParam>(
        [&] {
          return b.run([&] {
            auto const [f, g] = filch::join<TypeParam>(
                [&] {
                  return a.run([&] {
                    EXPECT_EQ(filch::current_worker<TypeParam>(), in_a);
                    return fib<TypeParam>(14);
                  });
                },
                [] { return fib<TypeParam>(13); });
            return f + g;
          });
        },
        [] { return fib<TypeParam>(12); });
    return x + y;
  });
  EXPECT_EQ(result, 377 + 233 + 144);
}

TYPED_TEST(nested_pools, are_entered_by_every_task_of_a_tree) {
  typename TypeParam::pool outer({.workers = 2});
  typename TypeParam::pool inner({.workers = 2});
  auto const tree = [&](auto const& self, int depth) -> long {
    if (depth == 0) return inner.run([] { return fib<TypeParam>(8); });
    auto const [a, b] =
        filch::join<TypeParam>([&] { return self(self, depth - 1); }, [&] { return self(self, depth - 1); });
    return a + b;
  };
  int const depth = is_sanitized || is_emulated ? 6 : 10;
  EXPECT_EQ(outer.run([&] { return tree(tree, depth); }), 21L << depth);
}

TYPED_TEST(nested_pools, pass_exceptions_outwards) {
  typename TypeParam::pool a({.workers = 2});
  typename TypeParam::pool b({.workers = 2});
  for (std::size_t i = 0; i < scaled(200); ++i) {
    EXPECT_THROW(a.run([&] {
      filch::join<TypeParam>([&] { b.run([&] { filch::join<TypeParam>([] {}, [] { throw 1; }); }); },
                             [&] { b.run([&] { filch::join<TypeParam>([] { throw 1; }, [] {}); }); });
    }),
                 int);
  }
}

TYPED_TEST(nested_pools, serve_scopes_and_loops_on_both_sides_of_the_wall) {
  typename TypeParam::pool a({.workers = 2});
  typename TypeParam::pool b({.workers = 2});
  std::atomic<int> sum{0};
  a.run([&] {
    filch::scope<TypeParam>([&](auto& outer) {
      for (int i = 0; i < 20; ++i) {
        outer.spawn([&] {
          b.run([&] {
            // A spawn by this scope's fiber, but from another pool: it runs in place.
            filch::for_index<TypeParam>(0, 10, [&](int) { ++sum; });
            filch::scope<TypeParam>([&](auto& s) {
              for (int k = 0; k < 10; ++k) s.spawn([&] { ++sum; });
            });
          });
        });
      }
      b.run([&] { outer.spawn([&] { ++sum; }); });
    });
  });
  EXPECT_EQ(sum, 401);
}

TYPED_TEST(nested_pools, serve_several_callers_at_once) {
  // Forced steals may wait for a worker that waits in the other pool: each call takes milliseconds.
  std::size_t const calls = scaled(steals_are_forced<TypeParam> ? 40 : 200);
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool a({.workers = workers});
    typename TypeParam::pool b({.workers = workers});
    std::vector<std::thread> callers;
    for (int t = 0; t < 6; ++t) {
      callers.emplace_back([&] {
        for (std::size_t i = 0; i < calls; ++i) {
          // All calls go in one order: a before b, and back into a.
          ASSERT_EQ(a.run([&] {
            return b.run([&] { return a.run([] { return fib<TypeParam>(7); }) + fib<TypeParam>(6); });
          }),
                    21);
        }
      });
    }
    for (auto& c : callers) c.join();
  }
}

/// In a run of T's pool, a worker of S is outside S's pools: code there may change threads.
template <class S, class T> void is_hidden_in() {
  SCOPED_TRACE(T::name);
  if constexpr (steals<T> && !std::is_same_v<S, T>) {
    typename S::pool mine({.workers = 2});
    typename T::pool other({.workers = 2});
    mine.run([&] {
      auto const in_mine = filch::current_worker<S>();
      EXPECT_TRUE(in_mine.has_value());
      other.run([&] {
        EXPECT_FALSE(filch::current_worker<S>().has_value());
        EXPECT_TRUE(filch::current_worker<T>().has_value());
        mine.run([&] { EXPECT_EQ(filch::current_worker<S>(), in_mine); });
        EXPECT_FALSE(filch::current_worker<S>().has_value());
      });
      EXPECT_EQ(filch::current_worker<S>(), in_mine);
    });
  }
}

template <class S, class... T> void is_hidden_in_each(::testing::Types<T...>) { (is_hidden_in<S, T>(), ...); }

TYPED_TEST(nested_pools, of_different_schedulers_hide_the_outer_worker) {
  if constexpr (!steals<TypeParam>) GTEST_SKIP() << "has no workers";
  is_hidden_in_each<TypeParam>(all_schedulers{});
}

/// Joins of both schedulers inside each other's. Pools are entered, and waited for, in one order only: `other`,
/// `mine`, T's default pool, S's default pool.
template <class S, class T> void mixes() {
  SCOPED_TRACE(T::name);
  typename S::pool mine({.workers = 2});
  typename T::pool other({.workers = 2});
  auto const fib_s = [] { return fib<S>(10); };
  auto const fib_t = [] { return fib<T>(10); };
  auto const all = [&] {
    return mine.run([&] {
      auto const [a, b] = filch::join<S>(fib_t, fib_s);
      auto const [c, d] = filch::join<T>(fib_s, fib_t);
      auto const [e, f] = filch::join<S>(
          [&] {
            auto const before = filch::current_worker<S>();
            auto const [g, h] = filch::join<T>(
                [&] {
                  // The other scheduler's pool may move its fibers: joins of this one end before.
                  auto const [i, j] = filch::join<S>([&] { return filch::join<T>(fib_t, fib_t).first; }, fib_s);
                  return i + j;
                },
                fib_t);
            if constexpr (!migrates<S>) {
              EXPECT_EQ(filch::current_worker<S>(), before);
            }
            return g + h;
          },
          fib_s);
      return a + b + c + d + e + f;
    });
  };
  for (std::size_t i = 0; i < scaled(20); ++i) {
    EXPECT_EQ(all(), 440);
    EXPECT_EQ(other.run(all), 440);
  }
}

template <class S, class... T> void mixes_with_each(::testing::Types<T...>) { (mixes<S, T>(), ...); }

TYPED_TEST(nested_pools, of_different_schedulers_mix) { mixes_with_each<TypeParam>(all_schedulers{}); }

}  // namespace
}  // namespace filch_test
