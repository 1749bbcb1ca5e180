// Pages of stacks that wait or are free go back to the system, and nothing else does.
#include "memory.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;

template <class S> class give_back : public ::testing::Test {
 protected:
  using pool_type = typename S::pool;

  static bool has_suspended(pool_type const& p) {
    return eventually([&] { return p.stats().suspensions > 0; });
  }
  /// Looks at a stack that has been 4 MiB deep and now waits in a join.
  template <class Look> static void while_suspended(filch::give_back_policy policy, Look look) {
    pool_type pool({.workers = 2, .stack_give_back = policy});
    pool.run([&] {
      wait_for_thief<S>();
      gate begun;
      filch::join<S>(
          [&] {
            EXPECT_TRUE(begun.pass());
            EXPECT_EQ(go_down(4 * k_mebibyte), 4096u);
          },
          [&] {
            begun.open();
            EXPECT_TRUE(has_suspended(pool));
            look(pool);
          });
    });
  }
};

using fiber_schedulers = ::testing::Types<filch::cactus, filch::implicit>;
TYPED_TEST_SUITE(give_back, fiber_schedulers, scheduler_names);

TYPED_TEST(give_back, leaves_a_waiting_stack_little_more_than_its_frames) {
  for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap}) {
    this->while_suspended(policy, [](auto const& pool) {
      EXPECT_TRUE(eventually([&] { return pool.stats().give_backs == 1; }));
      EXPECT_LT(pool.written_stack_bytes(), k_mebibyte);
    });
  }
}

TYPED_TEST(give_back, can_be_turned_off) {
  this->while_suspended(filch::give_back_policy::none, [](auto const& pool) {
    EXPECT_GE(pool.written_stack_bytes(), 4 * k_mebibyte);
    EXPECT_EQ(pool.stats().give_backs, 0u);
  });
}

TYPED_TEST(give_back, leaves_a_free_stack_little) {
  for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap}) {
    typename TypeParam::pool pool({.workers = 2, .stack_give_back = policy});
    pool.run([&] {
      EXPECT_EQ(go_down(4 * k_mebibyte), 4096u);
      EXPECT_GE(pool.written_stack_bytes(), 4 * k_mebibyte);
    });
    EXPECT_LT(pool.written_stack_bytes(), k_mebibyte);
  }
}

/// Frames of so many bytes, of which one or two are written to.
template <std::size_t Bytes> struct sparse {
  [[gnu::noinline]] static int down(int n) {
    char volatile room[Bytes];
    room[0] = 1;
    return n == 0 ? room[0] : down(n - 1) + room[0];
  }
};

TYPED_TEST(give_back, finds_frames_that_leave_a_page_as_it_was) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([&] { EXPECT_EQ(sparse<20 * 1024>::down(200), 201); });
  EXPECT_LT(pool.written_stack_bytes(), k_mebibyte / 2);
}

template <class S> long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

/// Frames that are larger than the kept pages, so that each suspension gives pages back.
template <class S> long wide(int depth) {
  if (depth == 0) return 1;
  long volatile mine[3000];
  for (long volatile& x : mine) x = depth;
  auto const [a, b] = filch::join<S>([=] { return wide<S>(depth - 1); }, [=] { return wide<S>(depth - 1); });
  for (long volatile& x : mine) {
    if (x != depth) return -1'000'000;
  }
  return a + b;
}

TYPED_TEST(give_back, takes_no_page_in_use) {
  for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap}) {
    typename TypeParam::pool pool({.workers = 3, .stack_give_back = policy});
    for (std::size_t i = 0; i < scaled(20); ++i) {
      ASSERT_EQ(pool.run([] { return wide<TypeParam>(10); }), 1024);
      ASSERT_EQ(pool.run([] { return fib<TypeParam>(20); }), 6765);
    }
    auto const s = pool.stats();
    EXPECT_LE(s.give_backs, s.suspensions + s.steals + scaled(20) * 2);
    EXPECT_LE(s.stacks_in_use, s.stacks_peak);
  }
}

/// Does not give the processor away: a thief whose request stands for long interrupts, and a handler needs a page.
template <class S> void spin_for_thief() {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!S::wanted() && std::chrono::steady_clock::now() < until) {
  }
}

/// A row of tasks. Each has so many bytes in its frame, calls below(n), spawns the next one, which is stolen, and
/// waits for it on a stack of its own. The last one calls look().
template <class S, std::size_t Bytes, class Below, class Look> void suspend_in_a_row(int n, Below below, Look look) {
  if (n == 0) return look();
  char volatile mine[Bytes];
  for (char volatile& c : mine) c = 1;
  filch::scope<S>([&](auto& s) {
    gate begun;
    spin_for_thief<S>();
    s.spawn([&] {
      begun.open();
      suspend_in_a_row<S, Bytes>(n - 1, below, look);
    });
    EXPECT_TRUE(begun.pass()) << "the task was not stolen";
    below(n);
    s.sync();
  });
  // This calls nothing: calls would touch a page that was given back.
  if (mine[0] + mine[Bytes - 1] != 2) std::abort();
}

TYPED_TEST(give_back, is_not_needed_if_fibers_stay_within_a_page) {
  if (!is_optimised || is_sanitized || steals_are_forced<TypeParam>) GTEST_SKIP() << "frames are larger";
  constexpr int k_fibers = 200;
  typename TypeParam::pool pool({.workers = 2});
  auto const suspend_all = [] { suspend_in_a_row<TypeParam, 1>(k_fibers, [](int) {}, [] {}); };
  pool.run(suspend_all);  // makes the stacks
  auto const before = pool.stats().give_backs;
  pool.run(suspend_all);
  // One or two system calls for each, and the page fault, would cost many times as much as a suspension.
  EXPECT_LE(pool.stats().give_backs - before, k_fibers / 10);
}

TYPED_TEST(give_back, is_not_needed_after_shallow_calls_however_many_callers_are_inside) {
  if (!is_optimised || is_sanitized || steals_are_forced<TypeParam>) GTEST_SKIP() << "frames are larger";
  constexpr unsigned k_others = 12;
  constexpr int k_calls = 200;
  typename TypeParam::pool pool({.workers = 1});
  std::atomic<unsigned> inside{0};
  gate leave;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < k_others; ++i) {
    others.emplace_back([&] {
      pool.run([&] {
        ++inside;
        EXPECT_TRUE(leave.pass());
      });
    });
  }
  EXPECT_TRUE(eventually([&] { return inside == k_others; }));
  for (std::size_t const kib : {std::size_t{1}, std::size_t{8}}) {
    auto const before = pool.stats().give_backs;
    for (int i = 0; i < k_calls; ++i) pool.run([kib] { EXPECT_EQ(go_down(kib * 1024), kib); });
    EXPECT_LT(pool.stats().give_backs - before, k_calls / 4u) << kib << " KiB";
  }
  leave.open();
  for (auto& t : others) t.join();
}

// Far more stacks than those that keep unused pages. Page faults tell whether the others touched any.
TYPED_TEST(give_back, leaves_many_waiting_stacks_their_frames_and_free_ones_nothing) {
  if (!is_optimised || is_sanitized) GTEST_SKIP() << "frames are larger";
  constexpr int k_fibers = 100;
  constexpr std::size_t k_page = 4096;
  constexpr std::size_t k_frame = 16 * 1024;
  auto const touch = [](int n) {
    if (n % 2 == 0) {
      EXPECT_EQ(go_down(64 * 1024), 64u);
    } else {
      EXPECT_EQ(sparse<160 * 1024>::down(15), 16);
    }
  };
  typename TypeParam::pool pool({.workers = 2});
  std::size_t const kept = 2 * pool.stats().kept_stack_pages * k_page;
  for (int i = 0; i < 3; ++i) {
    pool.run([&] {
      suspend_in_a_row<TypeParam, k_frame>(k_fibers, touch, [&] {
        EXPECT_LT(pool.written_stack_bytes(), kept + (k_fibers + 3) * (k_frame + 3 * k_page));
      });
    });
    EXPECT_LT(pool.written_stack_bytes(), kept + (k_fibers + 3) * 2 * k_page);
  }
}

}  // namespace
}  // namespace filch_test
