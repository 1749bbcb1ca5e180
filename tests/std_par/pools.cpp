// The calls of filch::std_par in a pool of the program's: they cut their work by its workers, and make no default
// pool. FILCH_NUM_THREADS=0 ends a process that makes one.
#include <filch/detail/std_par/calls.hpp>
#include <filch/detail/std_par/loops.hpp>

#include "schedulers.hpp"

#include <atomic>
#include <cstdlib>

namespace filch {
inline namespace FILCH_ABI {
namespace std_par {
#define FILCH_TEST_DECLARE(name) extern scheduler_calls const name##_calls;
FILCH_TEST_EACH(FILCH_TEST_DECLARE)
}  // namespace std_par
}  // namespace FILCH_ABI
}  // namespace filch

namespace filch_test {
namespace {

template <class S> filch::std_par::scheduler_calls const& calls_of() {
#define FILCH_TEST_RETURN(of) \
  if (S::name == #of) return filch::std_par::of##_calls;
  FILCH_TEST_EACH(FILCH_TEST_RETURN)
  std::abort();
}

template <class S> class std_par_in_a_pool : public ::testing::Test {};
TYPED_TEST_SUITE(std_par_in_a_pool, all_schedulers, scheduler_names);

template <class S> std::size_t in_pool_of(std::size_t workers) { return steals<S> ? workers : 1; }

TYPED_TEST(std_par_in_a_pool, counts_its_workers) {
  auto const& calls = calls_of<TypeParam>();
  typename TypeParam::pool pool({.workers = 3});
  typename TypeParam::pool inner({.workers = 2});
  pool.run([&] {
    EXPECT_EQ(calls.workers(), in_pool_of<TypeParam>(3));
    inner.run([&] {
      EXPECT_EQ(calls.workers(), in_pool_of<TypeParam>(2));
      // Code that changes threads stays on its own here: its joins run in order.
      pool.run([&] { EXPECT_EQ(calls.workers(), migrates<TypeParam> ? 1 : in_pool_of<TypeParam>(3)); });
    });
    EXPECT_EQ(calls.workers(), in_pool_of<TypeParam>(3));
  });
}

TYPED_TEST(std_par_in_a_pool, counts_one_worker_in_a_stay) {
  auto const& calls = calls_of<TypeParam>();
  filch::stay([&] { EXPECT_EQ(calls.workers(), 1U); });
  typename TypeParam::pool pool({.workers = 3});
  pool.run([&] { filch::stay([&] { EXPECT_EQ(calls.workers(), 1U); }); });
}

TYPED_TEST(std_par_in_a_pool, cuts_loops_for_it) {
  static constexpr std::size_t k_length = 100'000;
  typename TypeParam::pool pool({.workers = 4});
  pool.run([] {
    filch::std_par::tiling const tiles(calls_of<TypeParam>(), k_length, 1, k_length);
    EXPECT_EQ(tiles.count() > 1, steals<TypeParam>);
    std::atomic<std::size_t> visited{0};
    filch::std_par::run_range(calls_of<TypeParam>(), std::size_t{0}, k_length,
                              [&](std::size_t first, std::size_t last) { visited += last - first; });
    EXPECT_EQ(visited, k_length);
  });
}

}  // namespace
}  // namespace filch_test
