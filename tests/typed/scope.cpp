// Scopes: spawn, sync, results and callables. Order: scope_order.cpp; exceptions: scope_exceptions.cpp.
#include "counted.hpp"
#include "memory.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class scope : public ::testing::Test {};
TYPED_TEST_SUITE(scope, all_schedulers, scheduler_names);

TYPED_TEST(scope, runs_every_spawned_task_once_before_it_returns) {
  on_one_and_two_workers<TypeParam>([] {
    for (std::size_t tasks : {0u, 1u, 2u, 3u, 100u, 4095u, 4096u, 4097u, 10'000u}) {
      std::vector<std::atomic<int>> runs(tasks);
      filch::scope<TypeParam>([&](auto& s) {
        for (std::size_t i = 0; i < tasks; ++i) s.spawn([&runs, i] { ++runs[i]; });
      });
      for (auto const& r : runs) ASSERT_EQ(r.load(), 1);
    }
  });
}

TYPED_TEST(scope, returns_the_result_of_its_body) {
  on_one_and_two_workers<TypeParam>([] {
    int x = 0;
    auto const spawns = [&](auto& s) { s.spawn([&x] { ++x; }); };
    EXPECT_EQ(filch::scope<TypeParam>([&](auto& s) {
                spawns(s);
                return 5;
              }),
              5);
    auto owned = filch::scope<TypeParam>([&](auto& s) {
      spawns(s);
      return std::make_unique<int>(6);
    });
    EXPECT_EQ(*owned, 6);
    auto const by_reference = [&](auto& s) -> int& {
      spawns(s);
      return x;
    };
    static_assert(std::is_same_v<decltype(filch::scope<TypeParam>(by_reference)), int&>);
    EXPECT_EQ(&filch::scope<TypeParam>(by_reference), &x);
    static_assert(std::is_void_v<decltype(filch::scope<TypeParam>(spawns))>);
    filch::scope<TypeParam>(spawns);
    EXPECT_EQ(x, 4);
  });
}

TYPED_TEST(scope, sees_the_tasks_writes_at_sync_and_spawns_again) {
  on_one_and_two_workers<TypeParam>([] {
    std::vector<int> results(64);
    filch::scope<TypeParam>([&](auto& s) {
      for (int round = 1; round <= 50; ++round) {
        for (auto& r : results) s.spawn([&r] { ++r; });
        s.sync();
        for (int r : results) ASSERT_EQ(r, round);
      }
    });
  });
}

TYPED_TEST(scope, moves_or_copies_callables_of_every_kind) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> sum{0};
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < 100; ++i) {
        s.spawn([&sum, p = std::make_unique<int>(1)] { sum += *p; });
        s.spawn([&sum, c = counted(2)] { sum += c.value(); });
        s.spawn([&sum, big = std::array<int, 100>{3}] { sum += big[0]; });
        s.spawn([&sum, big = std::array<counted, 6>{counted(4), counted(0), counted(0), counted(0), counted(0),
                                                    counted(0)}] { sum += big[0].value(); });
        auto named = [&sum, c = counted(5)]() mutable { sum += c.value(); };
        s.spawn(named);
        s.spawn(std::move(named));
        struct alignas(64) aligned {
          std::atomic<int>* sum;
          void operator()() const { *sum += reinterpret_cast<std::uintptr_t>(this) % 64 == 0 ? 6 : 1000; }
        };
        s.spawn(aligned{&sum});
      }
    });
    EXPECT_EQ(sum, 100 * (1 + 2 + 3 + 4 + 5 + 5 + 6));
  });
}

int calls_of_a_function = 0;
void a_function() { ++calls_of_a_function; }

TYPED_TEST(scope, spawns_functions_and_drops_results) {
  calls_of_a_function = 0;
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    filch::scope<TypeParam>([](auto& s) {
      s.spawn(a_function);
      s.spawn(&a_function);
      s.spawn([] { return counted(1); });
    });
  });
  EXPECT_EQ(calls_of_a_function, 2);
  EXPECT_EQ(counted::alive(), 0);
}

TYPED_TEST(scope, needs_bounded_memory_for_a_million_spawns) {
  if (is_emulated) GTEST_SKIP() << "the emulator's memory is not ours";
  std::size_t const spawns = scaled(1'000'000);
  on_one_and_two_workers<TypeParam>([&] {
    memory_peak const peak;
    std::atomic<std::size_t> ran{0};
    filch::scope<TypeParam>([&](auto& s) {
      for (std::size_t i = 0; i < spawns; ++i) {
        s.spawn(
            [&ran, big = std::array<std::size_t, 12>{i}] { ran.fetch_add(big[0] | 1, std::memory_order_relaxed); });
      }
    });
    EXPECT_GE(ran, spawns);
    auto const growth = peak.growth();
    ASSERT_TRUE(growth.has_value());
    // All descriptors and closures at once would be 170 MiB; the sanitizers keep freed memory for a while.
    if (!is_sanitized) {
      EXPECT_LT(*growth, std::size_t{16} << 20);
    }
  });
}

TYPED_TEST(scope, nests_in_tasks_of_scopes) {
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> leaves{0};
    auto const split = [&](auto const& self, int depth) -> void {
      if (depth == 0) {
        ++leaves;
        return;
      }
      filch::scope<TypeParam>([&](auto& s) {
        for (int i = 0; i < 3; ++i) s.spawn([&self, depth] { self(self, depth - 1); });
        self(self, depth - 1);
      });
    };
    split(split, is_sanitized || is_emulated ? 4 : 6);
    EXPECT_EQ(leaves, is_sanitized || is_emulated ? 256 : 4096);
  });
}

TYPED_TEST(scope, runs_every_task_of_two_in_one_function) {
  for (unsigned workers : {1u, 2u, 3u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t i = 0; i < scaled(2'000); ++i) {
      std::array<std::atomic<int>, 16> ran{};
      pool.run([&ran] {
        filch::scope<TypeParam>([&ran](auto& a) {
          for (std::size_t k = 0; k < 4; ++k) a.spawn([&ran, k] { ++ran[k]; });
          filch::scope<TypeParam>([&ran, &a](auto& b) {
            for (std::size_t k = 4; k < 8; ++k) b.spawn([&ran, k] { ++ran[k]; });
            for (std::size_t k = 8; k < 12; ++k) a.spawn([&ran, k] { ++ran[k]; });
            for (std::size_t k = 12; k < 16; ++k) b.spawn([&ran, k] { ++ran[k]; });
          });
        });
      });
      for (auto const& r : ran) ASSERT_EQ(r, 1);
    }
  }
}

TYPED_TEST(scope, mixes_with_joins_and_loops_between_its_spawns) {
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> sum{0};
    filch::scope<TypeParam>([&](auto& s) {
      for (int i = 0; i < 200; ++i) {
        s.spawn([&] { ++sum; });
        filch::join<TypeParam>([&] { ++sum; },
                               [&] { filch::scope<TypeParam>([&](auto& t) { t.spawn([&] { ++sum; }); }); });
        filch::for_index<TypeParam>(0, 3, [&](int) { ++sum; });
        // A spawn inside a join of the same fiber runs in place, or later, but before the scope ends.
        filch::join<TypeParam>([&] { s.spawn([&] { ++sum; }); }, [] {});
      }
    });
    EXPECT_EQ(sum, 200 * 7);
  });
}

TYPED_TEST(scope, takes_spawns_inside_a_join_whose_task_was_stolen) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ran{0};
      pool.run([&] {
        filch::scope<TypeParam>([&](auto& s) {
          gate first;
          s.spawn([&] {
            ++ran;
            first.open();
          });
          answer_until_open<TypeParam>(first);
          stolen_join<TypeParam>{}(
              [&] {
                join_with_late_thief<TypeParam>();
                s.spawn([&] { ++ran; });
              },
              [&] { ++ran; });
          s.spawn([&] { ++ran; });
          s.sync();
          EXPECT_EQ(ran, 4);
        });
      });
      ASSERT_EQ(ran, 4);
    }
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(scope, runs_spawns_of_another_fiber_in_place) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    std::atomic<int> ran{0};
    int caught = 0;
    pool.run([&] {
      filch::scope<TypeParam>([&](auto& s) {
        stolen_join<TypeParam>{}([] {},
                                 [&] {
                                   for (int i = 0; i < 100; ++i) {
                                     s.spawn([&] { ++ran; });
                                     EXPECT_EQ(ran, i + 1);
                                   }
                                   try {
                                     s.spawn([] { throw 7; });
                                   } catch (int e) {
                                     caught = e;
                                   }
                                 });
        // A spawn by a thread that is no worker.
        std::thread([&] { s.spawn([&] { ++ran; }); }).join();
        EXPECT_EQ(ran, 101);
        s.spawn([&] { ++ran; });
      });
    });
    EXPECT_EQ(ran, 102);
    EXPECT_EQ(caught, 7);
  } else {
    GTEST_SKIP() << "has one fiber only";
  }
}

TYPED_TEST(scope, ends_the_program_if_it_is_synced_inside_a_join) {
  if (!steals<TypeParam>) GTEST_SKIP() << "runs tasks where they are spawned";
  if (finds_its_own_tasks<TypeParam>) GTEST_SKIP() << "finds the scope's tasks, as long as no thief asks";
  if (is_emulated) GTEST_SKIP() << "the emulator can't start the program again";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        typename TypeParam::pool pool({.workers = 1});
        pool.run([] {
          filch::scope<TypeParam>([](auto& s) {
            s.spawn([] {});
            filch::join<TypeParam>([&] { s.sync(); }, [] {});
          });
        });
      },
      "filch: a scope was synced by a fiber that does not own it");
}

/// The inner scope's stolen tasks lie above the outer one's.
TYPED_TEST(scope, ends_the_program_if_it_is_synced_inside_another_scope) {
  if (!steals<TypeParam> || has_no_thieves<TypeParam>()) GTEST_SKIP() << "no task is stolen";
  if (is_emulated) GTEST_SKIP() << "the emulator can't start the program again";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        typename TypeParam::pool pool({.workers = 2});
        pool.run([] {
          std::array<gate, 2> begun;
          auto const spawn_stolen = [](auto& s, gate& g) {
            wait_for_thief<TypeParam>();
            s.spawn([&g] { g.open(); });
            EXPECT_TRUE(g.pass());
          };
          filch::scope<TypeParam>([&](auto& outer) {
            spawn_stolen(outer, begun[0]);
            filch::scope<TypeParam>([&](auto& inner) {
              spawn_stolen(inner, begun[1]);
              outer.sync();
            });
          });
        });
      },
      "filch: a scope was synced by a fiber that does not own it");
}

TYPED_TEST(scope, syncs_in_its_body_after_joins_and_in_tasks_that_it_runs) {
  on_one_and_two_workers<TypeParam>([] {
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> ran{0};
      filch::scope<TypeParam>([&](auto& s) {
        for (int i = 0; i < 4; ++i) s.spawn([&ran] { filch::join<TypeParam>([&ran] { ++ran; }, [&ran] { ++ran; }); });
        filch::join<TypeParam>([&ran] { ++ran; }, [&ran] { ++ran; });
        s.sync();
        EXPECT_EQ(ran, 10);
        s.spawn([&ran] { ++ran; });
      });
      EXPECT_EQ(ran, 11);
    }
  });
}

TYPED_TEST(scope, enters_the_default_pool_from_outside) {
  std::atomic<int> sum{0};
  int const result = filch::scope<TypeParam>([&](auto& s) {
    EXPECT_TRUE(filch::current_worker<TypeParam>().has_value());
    for (int i = 1; i <= 100; ++i) s.spawn([&sum, i] { sum += i; });
    s.sync();
    return sum.load();
  });
  EXPECT_EQ(result, 5'050);
}

TYPED_TEST(scope, runs_spawns_from_elsewhere_in_place) {
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(50); ++i) {
    std::atomic<int> ran{0};
    auto const count = [&ran] { ++ran; };
    pool.run([&] {
      filch::scope<TypeParam>([&](auto& s) {
        auto const from_a_thread = [&] {
          if constexpr (steals<TypeParam>) {
            return std::thread([&] {
              for (int k = 0; k < 20; ++k) s.spawn(count);
            });
          } else {
            return std::thread([&] { ran += 20; });  // its scope is for one thread
          }
        };
        std::thread other = from_a_thread();
        for (int k = 0; k < 50; ++k) {
          s.spawn([&, k] {
            if (k % 2) return s.spawn(count);
            filch::stay([&] { s.spawn(count); });
          });
        }
        other.join();
      });
    });
    ASSERT_EQ(ran, 70);
  }
}

}  // namespace
}  // namespace filch_test
