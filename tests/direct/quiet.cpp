// An idle pool uses no processor time.
#include "eventually.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <chrono>
#include <ctime>

namespace filch_test {
namespace {

using std::chrono::nanoseconds;

nanoseconds processor_time(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec);
}

/// The processor time of all threads but the calling one, while it is in wait(). The least of some tries: the load of
/// other processes makes wake-ups longer.
template <class Wait> nanoseconds used_by_others(Wait wait) {
  nanoseconds least = nanoseconds::max();
  for (int tries = 0; tries < 5 && least >= std::chrono::milliseconds(1); ++tries) {
    auto const all = processor_time(CLOCK_PROCESS_CPUTIME_ID);
    auto const mine = processor_time(CLOCK_THREAD_CPUTIME_ID);
    wait();
    auto const mine_after = processor_time(CLOCK_THREAD_CPUTIME_ID);
    auto const all_after = processor_time(CLOCK_PROCESS_CPUTIME_ID);
    least = std::min(least, (all_after - all) - (mine_after - mine));
  }
  return least;
}

// Thread sanitizer and qemu have threads of their own.
bool is_measurable() { return !is_thread_sanitized && !is_emulated; }

template <class S> long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

template <class S> class quiet : public ::testing::Test {};
using those_that_wait_in_joins = ::testing::Types<filch::direct, filch::channel>;
TYPED_TEST_SUITE(quiet, those_that_wait_in_joins, scheduler_names);

TYPED_TEST(quiet, is_an_idle_pool_of_sixteen) {
  if (!is_measurable()) GTEST_SKIP() << "there are threads that are not the pool's";
  typename TypeParam::pool pool({.workers = 16});
  pool.run([] { return fib<TypeParam>(18); });
  EXPECT_TRUE(eventually([&] { return pool.stats().sleeps >= 15; }));
  auto const used = used_by_others([] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  EXPECT_LT(used, std::chrono::milliseconds(1)) << "more than a thousandth of a processor";
}

TYPED_TEST(quiet, is_a_pool_with_one_working_worker_that_does_not_fork) {
  if (!is_measurable()) GTEST_SKIP() << "there are threads that are not the pool's";
  typename TypeParam::pool pool({.workers = 16});
  auto const used = pool.run([] {
    fib<TypeParam>(18);
    work_for(std::chrono::milliseconds(20));
    return used_by_others([] { work_for(std::chrono::seconds(1)); });
  });
  EXPECT_LT(used, std::chrono::milliseconds(1)) << "more than a thousandth of a processor";
}

TYPED_TEST(quiet, is_a_worker_that_waits_in_a_join) {
  if (!is_measurable()) GTEST_SKIP() << "there are threads that are not the pool's";
  typename TypeParam::pool pool({.workers = 4});
  auto const used = pool.run([&] {
    return stolen_join<TypeParam>{}([] {},
                                    [] {
                                      work_for(std::chrono::milliseconds(20));
                                      return used_by_others([] { work_for(std::chrono::milliseconds(500)); });
                                    })
        .second;
  });
  EXPECT_LT(used, std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace filch_test
