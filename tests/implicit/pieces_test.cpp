// A join frame with an unreadable exception table is not offered, and no older frame is offered in its place.
#include "pieces.hpp"
#include "stealing.hpp"

#include <atomic>

namespace filch_test {
namespace {

using S = filch::implicit;

// The first test, since it depends on the addresses of the stacks.
TEST(frames_in_pieces, are_not_taken_for_a_frame_of_another_pool_further_out) {
  S::pool outer({.workers = 1});
  outer.run([] {});  // makes its stack now, so that the other pool's stack is below it
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
