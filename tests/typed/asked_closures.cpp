#include "asked_closures.hpp"

#include "schedulers.hpp"

namespace filch_test {
namespace {

template <class S> class asked_closures : public ::testing::Test {};
TYPED_TEST_SUITE(asked_closures, all_schedulers, scheduler_names);

TYPED_TEST(asked_closures, travel_alike_in_two_files) {
  typename TypeParam::pool pool({.workers = 3});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(pool.run([] { return results_in_this_file<TypeParam>(); }), 4'006 + 506'500);
    ASSERT_EQ(pool.run([] { return results_in_other_file<TypeParam>(); }), 4'006 + 506'500);
  }
}

}  // namespace
}  // namespace filch_test
