// Pools: their options, construction and destruction.
#include "memory.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <sys/mman.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

template <class S> class pools : public ::testing::Test {};
TYPED_TEST_SUITE(pools, all_schedulers, scheduler_names);

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

TYPED_TEST(pools, have_the_number_of_workers_of_their_options) {
  for (unsigned workers : {1u, 2u, 3u, 16u}) {
    typename TypeParam::pool const pool({.workers = workers});
    EXPECT_EQ(pool.workers(), steals<TypeParam> ? workers : 1u);
  }
  EXPECT_GE(typename TypeParam::pool().workers(), 1u);
}

TYPED_TEST(pools, are_made_from_braces) {
  using pool = typename TypeParam::pool;
  pool const by_default({});
  pool const by_default_in_braces{{}};
  pool const by_options({.workers = 4, .pin = true});
  EXPECT_EQ(by_default.workers(), pool().workers());
  EXPECT_EQ(by_default_in_braces.workers(), pool().workers());
  EXPECT_EQ(by_options.workers(), steals<TypeParam> ? 4u : 1u);
  static_assert(!std::is_constructible_v<pool, int> && !std::is_convertible_v<filch::pool_options, pool>);
}

/// The error of a pool that can't be made with these options; empty if it can.
template <class S> std::string refusal_of(filch::pool_options options) {
  try {
    typename S::pool const pool(options);
  } catch (filch::setup_error const& e) {
    return e.what();
  }
  return {};
}

TYPED_TEST(pools, refuse_invalid_options_in_one_line) {
  if constexpr (!has_stacks<TypeParam>) {
    GTEST_SKIP() << "its pool has nothing to set";
  } else {
    auto const refused = [](filch::pool_options options, std::string const& field) {
      std::string const why = refusal_of<TypeParam>(options);
      EXPECT_NE(why.find(field), std::string::npos) << '"' << why << '"';
      EXPECT_EQ(why.find('\n'), std::string::npos) << why;
    };
    refused({.workers = 1'025}, "pool_options::workers=1025");
    refused({.workers = ~0u}, "pool_options::workers=4294967295");
    refused({.workers = 1, .stack_size = 1}, "pool_options::stack_size=1");
    refused({.workers = 1, .stack_size = (std::size_t{64} << 10) - 1}, "pool_options::stack_size=65535");
    refused({.workers = 1, .stack_size = (std::size_t{1} << 40) + 1}, "pool_options::stack_size=1099511627777");
    refused({.workers = 1, .stack_size = ~std::size_t{0}}, "pool_options::stack_size=");
    EXPECT_EQ(refusal_of<TypeParam>({.workers = 1, .stack_size = std::size_t{64} << 10}), "");
  }
}

TYPED_TEST(pools, run_with_the_smallest_stack) {
  typename TypeParam::pool pool({.workers = 2, .stack_size = std::size_t{64} << 10});
  EXPECT_EQ(pool.run([] { return fib<TypeParam>(12); }), 144);
}

TYPED_TEST(pools, run_with_the_smallest_stack_at_any_address) {
  constexpr std::size_t k_page = 4096;
  std::vector<void*> pages;  // each page moves the next map; a stack's end is aligned to a mebibyte
  while (pages.size() < 512) {
    pages.push_back(mmap(nullptr, k_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages.back(), MAP_FAILED);
    typename TypeParam::pool pool({.workers = 1, .stack_size = std::size_t{64} << 10});
    EXPECT_EQ(pool.run([] { return fib<TypeParam>(3); }), 2);
  }
  for (void* const page : pages) munmap(page, k_page);
}

TYPED_TEST(pools, run_with_pinned_workers) {
  for (unsigned workers : {1u, 2u, 5u}) {
    typename TypeParam::pool pool({.workers = workers, .pin = true});
    EXPECT_EQ(pool.run([] { return fib<TypeParam>(15); }), 610);
  }
}

TYPED_TEST(pools, may_be_made_and_destroyed_thousands_of_times) {
  std::size_t const threads = thread_count();
  std::size_t const rounds = scaled(3'000);
  for (std::size_t i = 0; i < rounds; ++i) {
    typename TypeParam::pool pool({.workers = static_cast<unsigned>(1 + i % 4)});
    // A third is destroyed unused, a third at once after work, a third after a steal could have happened.
    if (i % 3 == 1) {
      ASSERT_EQ(pool.run([] { return fib<TypeParam>(5); }), 5);
    } else if (i % 3 == 2) {
      ASSERT_EQ(pool.run([] { return fib<TypeParam>(14); }), 377);
    }
  }
  // Threads of an earlier test may have been about to end: the kernel counts a thread for a moment after its join.
  EXPECT_TRUE(eventually([&] { return thread_count() <= threads; })) << thread_count() << " of " << threads;
}

TYPED_TEST(pools, give_their_address_space_back) {
  if (is_sanitized || is_emulated) GTEST_SKIP() << "address space is not ours to count here";
  auto const one_round = [] {
    typename TypeParam::pool pool({.workers = 4});
    pool.run([] { return fib<TypeParam>(10); });
  };
  for (int i = 0; i < 20; ++i) one_round();
  auto const before = status_bytes("VmSize");
  for (int i = 0; i < 100; ++i) one_round();
  auto const after = status_bytes("VmSize");
  ASSERT_TRUE(before && after);
  // One pool leaked would be half a gibibyte.
  EXPECT_LT(*after, *before + (std::size_t{128} << 20));
}

TYPED_TEST(pools, may_be_destroyed_once_all_workers_sleep) {
  for (unsigned workers : {1u, 2u, 8u}) {
    auto pool = std::make_unique<typename TypeParam::pool>(filch::pool_options{.workers = workers});
    pool->run([] { return fib<TypeParam>(10); });
    if constexpr (steals<TypeParam>) {
      EXPECT_TRUE(eventually([&] { return pool->stats().sleeps >= workers - 1; })) << "the workers do not sleep";
    }
    pool.reset();
  }
}

TYPED_TEST(pools, may_be_destroyed_by_another_thread) {
  for (std::size_t i = 0; i < scaled(200); ++i) {
    auto pool = std::make_unique<typename TypeParam::pool>(filch::pool_options{.workers = 2});
    EXPECT_EQ(pool->run([] { return fib<TypeParam>(8); }), 21);
    std::thread([p = std::move(pool)]() mutable { p.reset(); }).join();
  }
}

TYPED_TEST(pools, may_be_made_and_used_by_a_task_of_another) {
  typename TypeParam::pool outer({.workers = 2});
  long const sum = outer.run([] {
    auto const inner = [] {
      typename TypeParam::pool pool({.workers = 2});
      return pool.run([] { return fib<TypeParam>(12); });
    };
    auto const [a, b] = filch::join<TypeParam>(inner, inner);
    return a + b;
  });
  EXPECT_EQ(sum, 288);
}

TYPED_TEST(pools, end_after_a_run_under_way) {
  if constexpr (!steals<TypeParam>) {
    GTEST_SKIP() << "its pool waits for no caller";
  } else {
    for (unsigned workers : {1u, 2u}) {
      gate running;
      gate finish;
      std::atomic<bool> finished{false};
      std::optional<typename TypeParam::pool> pool(filch::pool_options{.workers = workers});
      std::thread caller([&] {
        pool->run([&] {
          running.open();
          EXPECT_TRUE(finish.pass());
          finished = true;
        });
      });
      EXPECT_TRUE(running.pass());
      std::thread([&] { finish.open(); }).detach();
      pool.reset();
      EXPECT_TRUE(finished);
      caller.join();
    }
  }
}

TYPED_TEST(pools, live_side_by_side) {
  std::vector<std::unique_ptr<typename TypeParam::pool>> many;
  for (unsigned i = 1; i <= 16; ++i) {
    many.push_back(std::make_unique<typename TypeParam::pool>(filch::pool_options{.workers = i}));
  }
  for (int round = 0; round < 3; ++round) {
    for (auto& pool : many) EXPECT_EQ(pool->run([] { return fib<TypeParam>(12); }), 144);
  }
}

}  // namespace
}  // namespace filch_test
