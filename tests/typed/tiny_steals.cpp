// A thief that finds tiny tasks only pauses between its steals.
#include "stealing.hpp"

#include <chrono>

namespace filch_test {
namespace {

template <class S> class tiny_steals : public ::testing::Test {};
TYPED_TEST_SUITE(tiny_steals, all_schedulers, scheduler_names);

TYPED_TEST(tiny_steals, are_a_bounded_part_of_a_series_of_tiny_joins) {
  if constexpr (!steals<TypeParam> || steals_are_forced<TypeParam>) {
    GTEST_SKIP() << "it has no thieves, or they take everything";
  } else {
    typename TypeParam::pool pool({.workers = 2});
    for (int round = 0; round < 5; ++round) {
      auto const before = pool.stats().steals;
      auto const begin = std::chrono::steady_clock::now();
      long sum = 0;
      pool.run([&] {
        for (int i = 0; i < 200'000; ++i) {
          auto const [a, b] = filch::join<TypeParam>([=] { return i; }, [=] { return i & 1; });
          sum += a + b;
        }
      });
      EXPECT_EQ(sum, 200'000L * 199'999 / 2 + 100'000);
      auto const took = std::chrono::steady_clock::now() - begin;
      // Some hundred steals at first, then one in some microseconds. Time in which a thief had no processor does not
      // count.
      auto const most = 1'000 + took / std::chrono::microseconds(2);
      EXPECT_LE(pool.stats().steals - before, static_cast<std::uint64_t>(most));
    }
  }
}

}  // namespace
}  // namespace filch_test
