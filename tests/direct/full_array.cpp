// A worker whose array of tasks is full runs new tasks in place. Nothing else changes.
#include "counted.hpp"
#include "stealing.hpp"

#include <array>
#include <memory>
#include <string>

namespace filch_test {
namespace {

using S = filch::direct;

// The smallest array. It has the size of the stack, and up to a mebibyte more.
filch::pool_options smallest(unsigned workers) { return {.workers = workers, .stack_size = std::size_t{64} << 10}; }

/// Opens scopes and fills them until not even the first task of a new one finds room; then calls body().
template <class Body> void with_full_array(Body body, int depth = 0) {
  ASSERT_LT(depth, 64) << "the array does not get full";
  bool at_once = false;  // outlives the scope: its tasks run at the latest when it ends
  filch::scope<S>([&](auto& s) {
    s.spawn([&at_once] { at_once = true; });
    if (at_once) {
      body();
      return;
    }
    for (int i = 0; i < 5'000; ++i) s.spawn([] {});
    with_full_array(body, depth + 1);
  });
}

TEST(full_array, still_joins_results_of_every_kind) {
  filch::direct::pool pool(smallest(1));
  bool reached = false;
  pool.run([&] {
    with_full_array([&] {
      reached = true;
      int x = 0;
      auto [a, b] = filch::join<S>([] { return std::make_unique<int>(1); }, [] { return std::string("two"); });
      EXPECT_EQ(*a, 1);
      EXPECT_EQ(b, "two");
      auto const refs = filch::join<S>([&]() -> int& { return x; }, [&] { x = 3; });
      EXPECT_EQ(&refs.first, &x);
      EXPECT_EQ(x, 3);
      EXPECT_EQ(filch::invoke<S>([] { return 1; }, [] { return 2; }, [] { return 3; }), std::tuple(1, 2, 3));
    });
  });
  EXPECT_TRUE(reached);
}

TEST(full_array, still_runs_g_after_f_threw) {
  nothing_left_behind const check;
  filch::direct::pool pool(smallest(1));
  pool.run([] {
    with_full_array([] {
      bool ran = false;
      int thrown = 0;
      try {
        filch::join<S>([]() -> counted { throw counted(1); },
                       [&] {
                         ran = true;
                         throw counted(2);
                       });
      } catch (counted const& e) {
        thrown = e.value();
      }
      EXPECT_EQ(thrown, 1);
      EXPECT_TRUE(ran);
      EXPECT_THROW(filch::join<S>([] { return counted(1); }, [] { throw 5; }), int);
    });
  });
}

TEST(full_array, still_orders_the_exceptions_of_a_scope) {
  filch::direct::pool pool(smallest(1));
  int ran = 0;
  pool.run([&] {
    with_full_array([&] {
      try {
        filch::scope<S>([&](auto& s) {
          for (int i = 0; i < 10; ++i) {
            s.spawn([&ran, i] {
              ++ran;
              throw i;
            });
          }
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (int e) {
        EXPECT_EQ(e, 0);
      }
    });
  });
  EXPECT_EQ(ran, 10);
}

TEST(full_array, is_emptied_by_thieves_and_used_again) {
  filch::direct::pool pool(smallest(3));
  std::atomic<long> ran{0};
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      filch::scope<S>([&](auto& outer) {
        for (int i = 0; i < 30'000; ++i) outer.spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); });
        filch::scope<S>([&](auto& inner) {
          for (int i = 0; i < 30'000; ++i) inner.spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); });
        });
      });
    });
  }
  EXPECT_EQ(ran, 20 * 60'000);
}

TEST(full_array, joins_and_spawns_beside_thieves) {
  filch::direct::pool pool(smallest(2));
  std::atomic<long> ran{0};
  for (int round = 0; round < 20; ++round) {
    pool.run([&] {
      auto const deeper = [&](auto const& self, int depth) -> void {
        filch::scope<S>([&](auto& s) {
          for (int i = 0; i < 4'500; ++i) {
            s.spawn([&] { filch::join<S>([&] { ++ran; }, [&] { ++ran; }); });
          }
          if (depth) self(self, depth - 1);
        });
      };
      deeper(deeper, 5);
    });
  }
  EXPECT_EQ(ran, 20L * 6 * 4'500 * 2);
}

TEST(full_array, answers_thieves_at_its_joins) {
  filch::direct::pool pool(smallest(2));
  expect_joins_answer_in_full_array<S>(pool);
}

}  // namespace
}  // namespace filch_test
