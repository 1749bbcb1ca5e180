// The order of a scope's tasks (docs/order.md), and their way to thieves.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <vector>

namespace filch_test {
namespace {

template <class S> class scope_order : public ::testing::Test {};
TYPED_TEST_SUITE(scope_order, all_schedulers, scheduler_names);

TYPED_TEST(scope_order, runs_tasks_in_the_order_of_their_spawns_on_one_worker) {
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

TYPED_TEST(scope_order, runs_untaken_tasks_in_order) {
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

TYPED_TEST(scope_order, gives_thieves_the_tasks_behind_its_own) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      wait_for_thief<TypeParam>();
      gate taken;
      auto const me = filch::current_worker<TypeParam>();
      filch::scope<TypeParam>([&](auto& s) {
        for (int i = 0; i < 200; ++i) {
          s.spawn([&, i] {
            // The task in the middle is long, and only polls: the thief gets the tasks behind it.
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

/// A search that prunes by the best leaf so far: the number of visited nodes depends on the order. With few
/// exceptions, leaves get better the more often the first child is taken.
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

TYPED_TEST(scope_order, searches_the_nodes_of_the_serial_program_on_one_worker) {
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

TYPED_TEST(scope_order, gives_spawned_tasks_to_other_workers) {
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

TYPED_TEST(scope_order, gives_tasks_away_while_it_spawns) {
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

}  // namespace
}  // namespace filch_test
