// filch::set_fiber_hooks: each thread enters and leaves fibers in turn, and each fiber is on one thread at a time.
#include "memory.hpp"
#include "stealing.hpp"

#include <filch/fiber_hooks.hpp>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace filch_test {
namespace {

thread_local char const* here = nullptr;  // the fiber that the thread is in

/// The calls of hooks. A hook counts mistakes in place of expectations, since it runs on a worker's own small stack.
struct log {
  std::mutex mutex;
  std::map<char const*, std::thread::id> entered;
  std::set<std::string> names;
  int enters = 0;
  int leaves = 0;
  int wrong = 0;
} calls;

void enter(char const* fiber) noexcept {
  std::lock_guard const lock(calls.mutex);
  calls.wrong += here != nullptr;
  calls.wrong += !calls.entered.emplace(fiber, std::this_thread::get_id()).second;
  calls.names.insert(fiber);
  ++calls.enters;
  here = fiber;
}
void leave(char const* fiber) noexcept {
  std::lock_guard const lock(calls.mutex);
  calls.wrong += here != fiber;
  auto const found = calls.entered.find(fiber);
  calls.wrong += found == calls.entered.end() || found->second != std::this_thread::get_id();
  if (found != calls.entered.end()) calls.entered.erase(found);
  ++calls.leaves;
  here = nullptr;
}
/// Never inlined: the code that asks may have changed threads.
[[gnu::noinline]] char const* fiber_here() {
  asm volatile("" ::: "memory");
  return here;
}

template <class S> class fiber_hooks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::lock_guard const lock(calls.mutex);
    calls.enters = calls.leaves = calls.wrong = 0;
    filch::set_fiber_hooks({enter, leave});
  }
  void TearDown() override { filch::set_fiber_hooks({}); }

  /// After the pools are gone.
  void expect_in_turn(int at_least) {
    EXPECT_EQ(calls.wrong, 0);
    EXPECT_EQ(calls.enters, calls.leaves);
    EXPECT_GE(calls.enters, at_least);
    EXPECT_TRUE(calls.entered.empty());
    EXPECT_EQ(here, nullptr);
  }
};

using fiber_schedulers = ::testing::Types<filch::cactus, filch::implicit>;
TYPED_TEST_SUITE(fiber_hooks, fiber_schedulers, scheduler_names);

TYPED_TEST(fiber_hooks, are_called_in_turn_where_fibers_are_stolen_and_suspended) {
  using S = TypeParam;
  constexpr int k_rounds = 50;
  {
    typename S::pool pool({.workers = 3});
    EXPECT_EQ(here, nullptr);
    pool.run([] {
      for (int i = 0; i < k_rounds; ++i) {
        char const* const before = fiber_here();
        EXPECT_NE(before, nullptr);
        char const* in_g = nullptr;
        gate begun;
        wait_for_thief<S>();
        filch::join<S>([&] { EXPECT_TRUE(begun.pass()) << "the task was not stolen"; },
                       [&] {
                         in_g = fiber_here();
                         begun.open();
                         join_with_late_thief<S>();
                         EXPECT_EQ(fiber_here(), in_g) << "code stays in its fiber";
                       });
        EXPECT_NE(in_g, before) << "a stolen task is a fiber of its own";
        EXPECT_EQ(fiber_here(), before);
      }
    });
    EXPECT_EQ(here, nullptr);
  }
  this->expect_in_turn(2 * k_rounds);
}

TYPED_TEST(fiber_hooks, leave_a_fiber_while_it_is_in_another_pool) {
  using S = TypeParam;
  {
    typename S::pool outer({.workers = 2});
    typename S::pool inner({.workers = 2});
    outer.run([&] {
      char const* const before = fiber_here();
      for (int i = 0; i < 10; ++i) {
        inner.run([&] {
          char const* const inside = fiber_here();
          EXPECT_NE(inside, nullptr);
          EXPECT_NE(inside, before) << "stacks that exist have different names";
          stolen_join<S>{}([] {}, [] {});
          EXPECT_EQ(fiber_here(), inside);
        });
        EXPECT_EQ(fiber_here(), before) << "entered again";
      }
    });
  }
  this->expect_in_turn(30);
}

TYPED_TEST(fiber_hooks, are_called_by_pools_that_were_made_later) {
  using S = TypeParam;
  filch::set_fiber_hooks({});
  typename S::pool early({.workers = 2});
  filch::set_fiber_hooks({enter, nullptr});
  early.run([] { stolen_join<S>{}([] {}, [] {}); });
  EXPECT_EQ(calls.enters, 0);
}

void leave_deep(char const*) noexcept { calls.wrong += go_down(1'024 * 1'024) != 1'024; }

TYPED_TEST(fiber_hooks, leave_no_pages_on_the_stack_of_a_worker) {
  using S = TypeParam;
  if (is_sanitized || is_emulated) GTEST_SKIP() << "pages are kept, or others are touched";
  filch::set_fiber_hooks({nullptr, leave_deep});
  typename S::pool pool({.workers = 1});
  pool.run([] {});
  EXPECT_EQ(calls.wrong, 0);
  EXPECT_EQ(pool.stats().give_backs, 1u);
}

TYPED_TEST(fiber_hooks, name_stacks_that_are_used_again) {
  using S = TypeParam;
  std::size_t after_first = 0;
  for (int i = 0; i < 5; ++i) {
    {
      typename S::pool pool({.workers = 1});
      pool.run([] { filch::join<S>([] {}, [] {}); });
    }
    if (i == 0) after_first = calls.names.size();
  }
  EXPECT_EQ(calls.names.size(), after_first);
  EXPECT_TRUE(std::all_of(calls.names.begin(), calls.names.end(),
                          [](std::string const& name) { return name.rfind("fiber ", 0) == 0; }));
}

}  // namespace
}  // namespace filch_test
