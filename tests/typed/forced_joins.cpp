// The promise of a library that is built with FILCH_FORCE_STEAL: code moves wherever it may.
#include "schedulers.hpp"
#include "seeds.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace filch_test {
namespace {

template <class S> class forced_joins : public ::testing::Test {};
TYPED_TEST_SUITE(forced_joins, moving_schedulers, scheduler_names);

pid_t thread_now() { return static_cast<pid_t>(syscall(SYS_gettid)); }

[[gnu::noinline]] std::uintptr_t place_on_stack() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

bool are_on_one_stack(std::uintptr_t a, std::uintptr_t b) {
  constexpr std::uintptr_t k_more_than_a_frame = 32 * 1024;
  return (a > b ? a - b : b - a) < k_more_than_a_frame;
}

struct seen {
  std::atomic<unsigned> joins{0};
  std::atomic<unsigned> moved{0};  // joins whose frame moved
  std::atomic<unsigned> without_join_in_f{0};
  std::atomic<unsigned> g_elsewhere{0};       // those of them on another thread than f
  std::atomic<unsigned> g_on_other_stack{0};  // those of them on another stack than f
};

/// A random tree of so many joins.
template <class S> void tree(std::uint64_t seed, unsigned joins, seen& all) {
  if (joins == 0) return;
  unsigned const in_f = static_cast<unsigned>(mix(seed) % joins);
  pid_t thread_of_g = 0;
  std::uintptr_t place_of_f = 0;
  std::uintptr_t place_of_g = 0;
  pid_t const before = thread_now();
  filch::join<S>(
      [&] {
        place_of_f = place_on_stack();
        tree<S>(mix(seed + 1), in_f, all);
      },
      [&] {
        place_of_g = place_on_stack();
        thread_of_g = thread_now();
        tree<S>(mix(seed + 2), joins - 1 - in_f, all);
      });
  all.moved += thread_now() != before;
  all.without_join_in_f += in_f == 0;
  all.g_elsewhere += in_f == 0 && thread_of_g != before;
  all.g_on_other_stack += !are_on_one_stack(place_of_f, place_of_g);
  ++all.joins;
}

TYPED_TEST(forced_joins, continue_on_another_thread) {
  for (unsigned workers : {2u, 4u}) {
    SCOPED_TRACE(workers);
    typename TypeParam::pool pool({.workers = workers});
    seen all;
    for (std::uint64_t seed = 0; seed < 100; ++seed) pool.run([&] { tree<TypeParam>(seed, 100, all); });
    EXPECT_EQ(all.joins, 10'000u);
    EXPECT_GE(all.moved, 9'900u);
    EXPECT_GT(all.without_join_in_f, 1'000u);
    EXPECT_GE(all.g_elsewhere, all.without_join_in_f * 99 / 100);
    EXPECT_EQ(all.g_on_other_stack, all.joins);
  }
}

TYPED_TEST(forced_joins, run_g_on_another_stack_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  seen all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) pool.run([&] { tree<TypeParam>(seed, 100, all); });
  EXPECT_EQ(all.joins, 10'000u);
  EXPECT_EQ(all.g_on_other_stack, all.joins);
  EXPECT_EQ(steals_of<TypeParam>(pool), all.joins);
}

TYPED_TEST(forced_joins, keep_the_order_of_the_program_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    unsigned next = 0;
    auto const count = [&](auto const& self, unsigned first, unsigned leaves) -> void {
      if (leaves == 1) {
        EXPECT_EQ(next++, first);
        return;
      }
      filch::join<TypeParam>([&] { self(self, first, leaves / 2); },
                             [&] { self(self, first + leaves / 2, leaves - leaves / 2); });
    };
    count(count, 0, 100);
  });
}

TYPED_TEST(forced_joins, continue_on_another_thread_after_a_scope) {
  typename TypeParam::pool pool({.workers = 4});
  unsigned moved = 0;
  for (int i = 0; i < 1'000; ++i) {
    pool.run([&] {
      pid_t const before = thread_now();
      filch::scope<TypeParam>([](auto& s) {
        for (int k = 0; k < 3; ++k) s.spawn([] {});
      });
      moved += thread_now() != before;
    });
  }
  EXPECT_GE(moved, 990u);
}

}  // namespace
}  // namespace filch_test
