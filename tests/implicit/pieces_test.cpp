// Join frames whose exception tables can't be read are not taken for others.
#include "pieces.hpp"
#include "stealing.hpp"

#include <atomic>

namespace filch_test {
namespace {

using S = filch::implicit;

// First, since it depends on where stacks lie.
TEST(frames_in_pieces, are_not_taken_for_a_frame_of_another_pool_further_out) {
  S::pool outer({.workers = 1});
  outer.run([] {});  // which has its stack now, so that the other pool's lies below
  filch::direct::pool inner({.workers = 1});
  std::atomic<int> rest{0};
  auto const [a, b] = outer.run([&] {
    return filch::join<S>([&] { return inner.run([] { return join_in_pieces(1, 2); }); },
                          [&] {
                            ++rest;
                            return 5L;
                          });
  });
  EXPECT_EQ(a, 8);
  EXPECT_EQ(b, 5);
  EXPECT_EQ(rest, 1);
}

TEST(frames_in_pieces, are_right_in_a_pool) {
  S::pool pool({.workers = 2});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pool.run([] { return join_in_pieces(1, 2); }), 8);
}

TEST(frames_in_pieces, are_right_outside_all_pools) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(join_in_pieces(1, 2), 8);
}

}  // namespace
}  // namespace filch_test
