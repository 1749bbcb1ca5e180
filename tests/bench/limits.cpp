// When a limit of a table is kept, unclear or broken: bench/limits.hpp.
#include "limits.hpp"

#include <gtest/gtest.h>

namespace {

constexpr bench::interval k_around_one{0.9, 1, 1.1};

TEST(limits, are_broken_only_if_the_whole_interval_lies_beyond_them) {
  bench::kept_limits limits;
  EXPECT_EQ(limits.text(), "kept");
  limits.at_most(k_around_one, 1, "most at the median");
  limits.at_least(k_around_one, 1, "least at the median");
  EXPECT_EQ(limits.text(), "kept");
  limits.at_most(k_around_one, 0.9, "most at the end");
  limits.at_least(k_around_one, 1.1, "least at the end");
  EXPECT_EQ(limits.text(), "unclear: most at the end, least at the end");
  limits.at_most(k_around_one, 0.89, "most");
  limits.at_least(k_around_one, 1.11, "least");
  EXPECT_EQ(limits.text(), "broken: most, least; unclear: most at the end, least at the end");

  nlohmann::ordered_json row;
  limits.add_to(row);
  EXPECT_EQ(row["broken_limits"].size(), 2u);
  EXPECT_EQ(row["unclear_limits"].size(), 2u);
}

}  // namespace
