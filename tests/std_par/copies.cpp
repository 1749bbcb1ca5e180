// Two copies of Filch in one process.
#include "of_copy.hpp"

#include <gtest/gtest.h>

namespace {

TEST(std_par_copies, a_search_in_one_ends_no_loop_of_the_other) {
  EXPECT_TRUE(copy_2::finds_one());
  EXPECT_EQ(copy_1::writes_all(), 1 << 20);
  EXPECT_TRUE(copy_1::finds_one());
  EXPECT_EQ(copy_2::writes_all(), 1 << 20);
}

}  // namespace
