// Many short filch::task_groups: one in each call of a recursion, one after the other, from several threads.
#include <filch/task_group.hpp>

#include "scale.hpp"
#include "stealing.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class task_group_nested : public ::testing::Test {};
TYPED_TEST_SUITE(task_group_nested, all_schedulers, scheduler_names);

constexpr int k_fails = 3;

/// A group in each call, as programs for oneTBB have them.
template <class S> long fib(int n, bool fails) {
  if (fails && n == k_fails) throw std::runtime_error("a leaf");
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  filch::task_group<S> group;
  group.run([&] { a = fib<S>(n - 1, fails); });
  group.run([&] { b = fib<S>(n - 2, fails); });
  group.wait();
  return a + b;
}

TYPED_TEST(task_group_nested, has_one_in_each_call) {
  EXPECT_EQ(fib<TypeParam>(12, false), 144);
  for (unsigned const workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    for (std::size_t i = 0; i < scaled(20); ++i) {
      pool.run([] {
        ASSERT_EQ(fib<TypeParam>(14, false), 377);
        ASSERT_THROW(static_cast<void>(fib<TypeParam>(10, true)), std::runtime_error);
      });
    }
  }
}

TYPED_TEST(task_group_nested, begin_anew_where_others_ended) {
  typename TypeParam::pool pool({.workers = 2});
  pool.run([] {
    for (int i = 0; i < 200; ++i) {
      {
        filch::task_group<TypeParam> fails;
        fails.run([] { throw std::runtime_error("of a task"); });
        auto const future = fails.fork([] { return 1; });
      }  // its exception is dropped
      {
        filch::task_group<TypeParam> cancelled;
        cancelled.cancel();
        cancelled.run([] {});
      }
      filch::task_group<TypeParam> group;
      ASSERT_FALSE(group.is_cancelled());
      std::atomic<int> ran{0};
      for (int k = 0; k < 3; ++k) group.run([&ran] { ++ran; });
      ASSERT_TRUE(group.wait());
      ASSERT_EQ(ran.load(), 3);
      ASSERT_TRUE(group.exceptions().empty());
    }
  });
}

TYPED_TEST(task_group_nested, come_and_go_in_all_threads) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<long> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&pool, &sum] {
      for (std::size_t i = 0; i < scaled(40); ++i) {
        sum += pool.run([] { return fib<TypeParam>(8, false); });
        filch::task_group<TypeParam> of_default_pool;
        of_default_pool.run([&sum] { sum += fib<TypeParam>(5, false); });
        EXPECT_TRUE(of_default_pool.wait());
      }
    });
  }
  for (auto& c : callers) c.join();
  EXPECT_EQ(sum.load(), static_cast<long>(scaled(40)) * 4 * (21 + 5));
}

}  // namespace
}  // namespace filch_test
