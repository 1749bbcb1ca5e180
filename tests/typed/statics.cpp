// Function-local statics whose initialisers join: docs/waits.md says under which schedulers.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <utility>

namespace filch_test {
namespace {

template <class S> class statics : public ::testing::Test {};
TYPED_TEST_SUITE(statics, all_schedulers, scheduler_names);

template <class S> long tree(int depth) {
  if (depth == 0) {
    work_for(std::chrono::microseconds(5));
    return 1;
  }
  auto const [a, b] = filch::join<S>([=] { return tree<S>(depth - 1); }, [=] { return tree<S>(depth - 1); });
  return a + b;
}

/// Joins while tasks on other workers, and under `channel` on top of a wait, come to the same static.
template <class S> long make() {
  if constexpr (std::is_same_v<S, filch::channel>) {
    return filch::stay([] { return tree<S>(6); });
  } else {
    return tree<S>(6);
  }
}
template <class S, int N> long the_static() {
  static long const made = make<S>();
  return made;
}
template <class S, int N> void come_from_many_tasks() {
  typename S::pool pool({.workers = 3});
  std::atomic<long> sum{0};
  pool.run([&] {
    filch::scope<S>([&](auto& s) {
      for (int i = 0; i < 50; ++i) {
        s.spawn([&] {
          static_cast<void>(tree<S>(2));
          sum += the_static<S, N>();
        });
      }
    });
  });
  EXPECT_EQ(sum, 50 * 64);
}

TYPED_TEST(statics, may_be_initialised_by_joins_while_many_tasks_come_to_them) {
  if (steals_are_forced<TypeParam>) GTEST_SKIP() << "all workers may wait for a fiber that none has taken up";
  []<int... N>(std::integer_sequence<int, N...>) {
    (come_from_many_tasks<TypeParam, N>(), ...);
  }(std::make_integer_sequence<int, 30>());
}

}  // namespace
}  // namespace filch_test
