// Recursion a million joins deep, with the stack size raised.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <pthread.h>

namespace filch_test {
namespace {

template <class S> class depth : public ::testing::Test {};
TYPED_TEST_SUITE(depth, all_schedulers, scheduler_names);

constexpr std::size_t k_stack = std::size_t{2} << 30;

/// Calls body() with so much stack: the pool's, or a thread's if the pool has none of its own.
template <class S, class Body> void on_a_big_stack(unsigned workers, Body body) {
  if constexpr (has_stacks<S>) {
    typename S::pool pool({.workers = workers, .stack_size = k_stack});
    pool.run(body);
  } else {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, k_stack), 0);
    pthread_t thread;
    auto const run = [](void* p) -> void* {
      (*static_cast<Body*>(p))();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
  }
}

template <class S> long down_the_first_side(long n) {
  if (n == 0) return 0;
  auto const [a, b] = filch::join<S>([=] { return down_the_first_side<S>(n - 1); }, [] { return 1L; });
  return a + b;
}

template <class S> long down_the_second_side(long n) {
  if (n == 0) return 0;
  auto const [a, b] = filch::join<S>([] { return 1L; }, [=] { return down_the_second_side<S>(n - 1); });
  return a + b;
}

template <class S> long down_scopes(long n) {
  if (n == 0) return 0;
  long below = 0;
  filch::scope<S>([&](auto& s) { s.spawn([&] { below = down_scopes<S>(n - 1); }); });
  return below + 1;
}

// Frames without optimisation, or with a sanitizer's red zones, are several times as large: less depth fits.
// ThreadSanitizer's own stack of calls ends at 65,536 and it checks no bound there: a plain recursion of that depth
// crashes in it too, now and then.
// A suspended stack at every level is dear, as is a stack without optimisation that AddressSanitizer has to clean up.
long a_million() {
  if (is_thread_sanitized) return 5'000;
  if (is_address_sanitized) return 10'000;
  return static_cast<long>(scaled(FILCH_TEST_FORCED ? 100'000 : 1'000'000));
}

TYPED_TEST(depth, of_a_million_down_the_first_side) {
  for (unsigned workers : {1u, 2u}) {
    on_a_big_stack<TypeParam>(workers, [] { EXPECT_EQ(down_the_first_side<TypeParam>(a_million()), a_million()); });
  }
}

TYPED_TEST(depth, of_a_million_down_the_second_side) {
  for (unsigned workers : {1u, 2u}) {
    on_a_big_stack<TypeParam>(workers, [] { EXPECT_EQ(down_the_second_side<TypeParam>(a_million()), a_million()); });
  }
}

TYPED_TEST(depth, of_two_hundred_thousand_scopes) {
  for (unsigned workers : {1u, 2u}) {
    on_a_big_stack<TypeParam>(workers, [] { EXPECT_EQ(down_scopes<TypeParam>(a_million() / 5), a_million() / 5); });
  }
}

/// The published tree T3L of the benchmark uts is 17,844 levels deep.
TYPED_TEST(depth, of_eighteen_thousand_scopes_needs_no_settings) {
  if (is_sanitized) GTEST_SKIP() << "frames are much larger";
  if constexpr (has_stacks<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    EXPECT_EQ(pool.run([] { return down_scopes<TypeParam>(18'000); }), 18'000);
  }
}

}  // namespace
}  // namespace filch_test
