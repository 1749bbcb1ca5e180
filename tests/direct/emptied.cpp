// Tasks of a scope that have run and still lie on the stack, as thieves see them.
#include <filch/blocking.hpp>

#include "stealing.hpp"

namespace filch_test {
namespace {

using S = filch::direct;

/// A scope whose only task waits in the system. When it offers all that its worker has, that is its own emptied
/// place.
void block_in_last_task_of_a_scope() {
  filch::scope<S>([](auto& s) { s.spawn([] { filch::blocking([] {}); }); });
}

TEST(emptied, places_are_offered_again_after_a_blocking_call) {
  filch::direct::pool pool({.workers = 1});
  pool.run([] {
    for (int round = 0; round < 20 && !HasFailure(); ++round) {
      block_in_last_task_of_a_scope();
      gate stolen;
      filch::join<S>([&] { filch::blocking([&] { EXPECT_TRUE(stolen.pass()) << "the task was not offered"; }); },
                     [&] { stolen.open(); });
    }
  });
}

}  // namespace
}  // namespace filch_test
