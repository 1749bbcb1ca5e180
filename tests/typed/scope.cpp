// scope, spawn and sync.
#include "counted.hpp"
#include "memory.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class scope : public ::testing::Test {};
TYPED_TEST_SUITE(scope, all_schedulers, scheduler_names);

template <class S, class Body> void on_one_and_two_workers(Body body) {
  for (unsigned workers : {1u, 2u}) {
    SCOPED_TRACE(workers);
    typename S::pool pool({.workers = workers});
    pool.run([&] {
      if (workers > 1) wait_for_thief<S>();
      body();
    });
  }
}

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
        // From under a join of the same fiber it runs in place, or later: either way before the scope ends.
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

TYPED_TEST(scope, throws_the_exception_of_the_earliest_spawned_task) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    for (int first_to_throw : {0, 1, 7, 99, 5'000}) {
      std::atomic<int> ran{0};
      int thrown = -1;
      try {
        filch::scope<TypeParam>([&](auto& s) {
          for (int i = 0; i < 6'000; ++i) {
            s.spawn([&ran, i, first_to_throw] {
              ++ran;
              if (i == first_to_throw || i % 1'000 == 999) throw counted(i);
            });
          }
        });
      } catch (counted const& e) {
        thrown = e.value();
      }
      EXPECT_EQ(thrown, std::min(first_to_throw, 999));
      EXPECT_EQ(ran, 6'000);
    }
  });
}

TYPED_TEST(scope, throws_at_each_sync_exceptions_of_earlier_spawns) {
  on_one_and_two_workers<TypeParam>([] {
    filch::scope<TypeParam>([](auto& s) {
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 5; ++i) s.spawn([round, i] { throw round * 10 + i; });
        try {
          s.sync();
          ADD_FAILURE() << "nothing was thrown";
        } catch (int e) {
          EXPECT_EQ(e, round * 10);
        }
        s.sync();
      }
    });
  });
}

TYPED_TEST(scope, throws_its_body_s_exception_after_all_tasks_have_run) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    std::atomic<int> ran{0};
    int thrown = -1;
    try {
      filch::scope<TypeParam>([&](auto& s) -> counted {
        for (int i = 0; i < 100; ++i) {
          s.spawn([&ran, i] {
            ++ran;
            throw counted(i);
          });
        }
        throw counted(1'000);
      });
    } catch (counted const& e) {
      thrown = e.value();
    }
    EXPECT_EQ(thrown, 1'000);
    EXPECT_EQ(ran, 100);
  });
}

TYPED_TEST(scope, destroys_its_result_when_a_task_threw) {
  nothing_left_behind const check;
  on_one_and_two_workers<TypeParam>([] {
    EXPECT_THROW(filch::scope<TypeParam>([](auto& s) {
                   s.spawn([] { throw 1; });
                   return std::vector<counted>(10, counted(1));
                 }),
                 int);
  });
}

TYPED_TEST(scope, keeps_a_task_s_exception_while_its_closure_forks) {
  // The closure owns something whose destructor forks.
  struct owner {
    std::unique_ptr<int> value = std::make_unique<int>(1);
    owner() = default;
    owner(owner&&) noexcept = default;
    ~owner() {
      if (value)
        filch::join<TypeParam>([this] { ++*value; }, [x = std::array<long, 5>{-1, -1, -1, -1, -1}] { return x[4]; });
    }
  };
  on_one_and_two_workers<TypeParam>([] {
    for (int i = 0; i < 100; ++i) {
      try {
        filch::scope<TypeParam>([&](auto& s) {
          s.spawn([o = owner()] { throw std::string("a string that is too long to be stored in place"); });
          s.spawn([o = owner(), big = std::array<int, 50>{}] {
            throw std::string("spawned later than the first") + (big[0] ? "" : "!");
          });
        });
        FAIL() << "nothing was thrown";
      } catch (std::string const& e) {
        EXPECT_EQ(e, "a string that is too long to be stored in place");
      }
    }
  });
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
        // A thread that is no worker at all.
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

TYPED_TEST(scope, ends_the_program_where_it_is_synced_inside_a_join) {
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

TYPED_TEST(scope, runs_tasks_in_the_order_of_their_spawns_on_one_worker) {
  if (steals_are_forced<TypeParam>) GTEST_SKIP() << "tasks change workers";
  typename TypeParam::pool pool({.workers = 1});
  for (int tasks : {1, 2, 3, 50, 4'096}) {
    std::vector<int> order;
    pool.run([&] {
      // Inside a join, and beside what an outer scope spawned before.
      filch::scope<TypeParam>([&](auto& outer) {
        for (int i = 0; i < 3; ++i) outer.spawn([&order, i] { order.push_back(-i); });
        filch::join<TypeParam>(
            [&] {
              filch::scope<TypeParam>([&](auto& s) {
                for (int i = 0; i < tasks; ++i) {
                  s.spawn([&order, i] {
                    filch::join<TypeParam>([&order, i] { order.push_back(2 * i); },
                                           [&order, i] { order.push_back(2 * i + 1); });
                  });
                }
              });
            },
            [] {});
        auto const inner_began = std::find(order.begin(), order.end(), 1) - 1;
        for (int i = 0; i < 2 * tasks; ++i) ASSERT_EQ(inner_began[i], i);
      });
    });
    order.erase(std::find(order.begin(), order.end(), 1) - 1,
                std::find(order.begin(), order.end(), 2 * tasks - 1) + 1);
    EXPECT_EQ(order, (std::vector{0, -1, -2}));
  }
}

TYPED_TEST(scope, runs_untaken_tasks_in_order) {
  if constexpr (steals<TypeParam>) {
    if (steals_are_forced<TypeParam>) GTEST_SKIP() << "tasks change workers";
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < 20; ++round) {
      std::vector<int> order;
      pool.run([&] {
        gate may_end;
        filch::scope<TypeParam>([&](auto& s) {
          hold_thief<TypeParam>(s, may_end);
          for (int i = 0; i < 100; ++i) {
            s.spawn([&, i] {
              order.push_back(i);
              filch::join<TypeParam>([] {}, [] {});
              if (i == 99) may_end.open();
            });
          }
        });
      });
      std::vector<int> expected(100);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(order, expected);
    }
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(scope, gives_thieves_the_tasks_behind_its_own) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      wait_for_thief<TypeParam>();
      gate taken;
      auto const me = filch::current_worker<TypeParam>();
      filch::scope<TypeParam>([&](auto& s) {
        for (int i = 0; i < 200; ++i) {
          s.spawn([&, i] {
            // The task in the middle is a long one, which only polls: those behind it are for the thief meanwhile.
            if (filch::current_worker<TypeParam>() != me) taken.open();
            if (i == 100) answer_until_open<TypeParam>(taken);
          });
        }
      });
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

/// A search that prunes by the best leaf so far: how many nodes it visits depends on the order. Leaves get better the
/// more often the first child is taken, but for a few.
class pruned_search {
 public:
  template <class S> long nodes_with(unsigned workers) {
    typename S::pool pool({.workers = workers});
    nodes_ = 0;
    best_ = 0;
    pool.run([this] { forked<S>(1, k_depth, 0); });
    return nodes_;
  }
  long nodes_in_series() {
    nodes_ = 0;
    best_ = 0;
    serial(1, k_depth, 0);
    return nodes_;
  }
  int best() const { return best_; }

 private:
  static constexpr int k_depth = 8;
  static constexpr unsigned k_children = 4;

  template <class Each> void expand(std::uint32_t node, int depth, int value, Each each) {
    ++nodes_;
    if (depth == 0) {
      int now = best_;
      while (value > now && !best_.compare_exchange_weak(now, value)) {
      }
      return;
    }
    constexpr int k_most_gain = 8;
    if (value + depth * k_most_gain <= best_) return;
    for (std::uint32_t i = 0; i < k_children; ++i) {
      std::uint32_t const child = node * 747796405u + i * 2891336453u + 1;
      each(child, static_cast<int>(k_most_gain - i - (child >> 28) % 3));
    }
  }
  template <class S> void forked(std::uint32_t node, int depth, int value) {
    filch::scope<S>([&](auto& s) {
      expand(node, depth, value, [&](std::uint32_t child, int gain) {
        s.spawn([=, this] { forked<S>(child, depth - 1, value + gain); });
      });
    });
  }
  void serial(std::uint32_t node, int depth, int value) {
    expand(node, depth, value, [&](std::uint32_t child, int gain) { serial(child, depth - 1, value + gain); });
  }

  std::atomic<long> nodes_{0};
  std::atomic<int> best_{0};
};

TYPED_TEST(scope, searches_the_nodes_of_the_serial_program_on_one_worker) {
  if (steals_are_forced<TypeParam>) GTEST_SKIP() << "tasks change workers";
  pruned_search search;
  long const nodes = search.nodes_in_series();
  int const best = search.best();
  EXPECT_GT(nodes, 100);
  EXPECT_EQ(search.template nodes_with<TypeParam>(1), nodes);
  EXPECT_EQ(search.best(), best);
  for (int i = 0; i < 20; ++i) {
    EXPECT_GE(search.template nodes_with<TypeParam>(2), 1);
    EXPECT_EQ(search.best(), best);
  }
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

TYPED_TEST(scope, gives_spawned_tasks_to_other_workers) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      gate met;
      bool passed = false;
      wait_for_thief<TypeParam>();
      filch::scope<TypeParam>([&](auto& s) {
        s.spawn([&] { met.open(); });
        passed = met.pass();
      });
      EXPECT_TRUE(passed) << "the task was not stolen";
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(scope, gives_tasks_away_while_it_spawns) {
  if constexpr (steals<TypeParam>) {
    constexpr int k_more_than_it_holds = 5000;
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      std::array<std::atomic<int>, 2> ran_on{};
      wait_for_thief<TypeParam>();
      filch::scope<TypeParam>([&](auto& s) {
        EXPECT_TRUE(eventually([&] {
          for (int i = 0; i < 100; ++i) s.spawn([&ran_on] { ++ran_on[TypeParam::worker_index()]; });
          return ran_on[0] > k_more_than_it_holds && ran_on[1] > k_more_than_it_holds;
        }));
      });
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
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

TYPED_TEST(scope, runs_all_spawns_of_a_task_that_threw) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(50); ++i) {
    std::atomic<int> ran{0};
    auto const count = [&ran] { ++ran; };
    pool.run([&] {
      EXPECT_THROW(filch::scope<TypeParam>([&](auto& s) {
                     for (int k = 0; k < 20; ++k) {
                       s.spawn([&] {
                         s.spawn(count);
                         throw std::runtime_error("after a spawn");
                       });
                     }
                   }),
                   std::runtime_error);
    });
    ASSERT_EQ(ran, 20);
  }
}

TYPED_TEST(scope, around_another_one_gets_spawns_of_tasks_that_throw) {
  for (unsigned const workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t i = 0; i < scaled(50); ++i) {
      std::atomic<int> ran{0};
      int caught = 0;
      pool.run([&] {
        filch::scope<TypeParam>([&](auto& outer) {
          try {
            filch::scope<TypeParam>([&](auto& inner) {
              inner.spawn([&] {
                outer.spawn([&ran] { ++ran; });
                throw std::runtime_error("after a spawn elsewhere");
              });
            });
          } catch (std::runtime_error const&) {
            ++caught;
          }
        });
      });
      ASSERT_EQ(ran, 1);
      ASSERT_EQ(caught, 1);
    }
  }
}

TYPED_TEST(scope, throws_the_exception_of_the_earliest_task_before_those_of_its_spawns) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    try {
      filch::scope<TypeParam>([](auto& s) {
        s.spawn([&s] {
          try {
            s.spawn([] { throw 2; });
          } catch (int) {  // from elsewhere
          }
          throw 1;
        });
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (int which) {
      EXPECT_EQ(which, 1);
    }
  });
}

/// A callable whose copies spawn.
template <class Spawner> struct spawns_when_copied {
  Spawner& s;
  std::atomic<int>& by_copies;
  std::atomic<int>& by_itself;
  std::byte large[100]{};

  spawns_when_copied(Spawner& spawner, std::atomic<int>& copies, std::atomic<int>& itself)
      : s(spawner), by_copies(copies), by_itself(itself) {}
  spawns_when_copied(spawns_when_copied const& from)
      : s(from.s), by_copies(from.by_copies), by_itself(from.by_itself) {
    s.spawn([&count = by_copies] { ++count; });
  }
  spawns_when_copied& operator=(spawns_when_copied const&) = delete;
  void operator()() const { ++by_itself; }
};

TYPED_TEST(scope, takes_callables_whose_copies_spawn) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> by_copies{0};
  std::atomic<int> by_itself{0};
  pool.run([&] {
    filch::scope<TypeParam>([&](auto& s) {
      spawns_when_copied const f(s, by_copies, by_itself);
      s.spawn(f);
    });
  });
  EXPECT_GE(by_copies, 1);
  EXPECT_EQ(by_itself, 1);
}

/// Thrown, and forks at its end.
template <class S, class Spawner> struct forks_at_its_end {
  Spawner& s;
  std::atomic<int>& ran;

  forks_at_its_end(Spawner& spawner, std::atomic<int>& count) : s(spawner), ran(count) {}
  forks_at_its_end(forks_at_its_end const&) = delete;
  forks_at_its_end& operator=(forks_at_its_end const&) = delete;
  ~forks_at_its_end() {
    filch::join<S>([this] { spawn(); }, [] {});
  }
  void spawn() const {
    try {
      s.spawn([&count = ran] {
        ++count;
        throw 7;
      });
    } catch (int) {  // from elsewhere
    }
  }
};

TYPED_TEST(scope, lets_exceptions_fork_when_they_are_dropped) {
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(20); ++i) {
    std::atomic<int> ran{0};
    auto const scoped = [&ran]<class Spawner>(Spawner& s) {
      s.spawn([] { throw 1; });
      for (int k = 0; k < 10; ++k) s.spawn([&] { throw forks_at_its_end<TypeParam, Spawner>(s, ran); });
    };
    EXPECT_THROW(pool.run([&] { filch::scope<TypeParam>(scoped); }), int);
    ASSERT_GE(ran, 1);
  }
}

}  // namespace
}  // namespace filch_test
