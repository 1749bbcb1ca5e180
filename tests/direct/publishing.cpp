// Private and public tasks: when an owner makes its tasks public, and when its places become private again.
#include "stealing.hpp"

#include <thread>
#include <vector>

namespace filch_test {
namespace {

using S = filch::direct;
constexpr stolen_join<S> join_stolen;

TEST(publishing, does_not_happen_without_another_worker) {
  filch::direct::pool pool({.workers = 1});
  pool.run([] {
    for (int i = 0; i < 1'000; ++i) filch::join<S>([] {}, [] {});
  });
  EXPECT_EQ(pool.stats().publications, 0u);
}

TEST(publishing, happens_on_request_and_not_at_every_fork) {
  filch::direct::pool pool({.workers = 2});
  pool.run([&] {
    join_stolen([] {},
                [&] {
                  // The other worker waits in a join. It requests once, gets a task, and sleeps or is busy from then
                  // on.
                  for (int i = 0; i < 100'000; ++i) filch::join<S>([] {}, [] {});
                });
  });
  EXPECT_GE(pool.stats().publications, 1u);
  EXPECT_LT(pool.stats().publications, 100'000u);
}

TEST(publishing, ends_after_many_unstolen_public_joins) {
  filch::direct::pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) expect_publishing_ends<S>(pool);
}

TEST(publishing, of_the_oldest_task_lets_it_be_stolen_from_far_above) {
  // A request that comes while the owner is deep in private forks is answered with the oldest of them.
  filch::direct::pool pool({.workers = 2});
  pool.run([&] {
    gate oldest;
    auto const deeper = [&](auto const& self, int depth) -> void {
      if (depth == 0) {
        wait_for_thief<S>();
        EXPECT_TRUE(eventually([&] {
          filch::join<S>([] {}, [] {});  // the request is seen here at the latest
          return oldest.is_open();
        })) << "the oldest task was not stolen";
        return;
      }
      filch::join<S>([&] { self(self, depth - 1); }, [] {});
    };
    filch::join<S>([&] { deeper(deeper, 100); }, [&] { oldest.open(); });
  });
}

/// A tree of joins, whose leaves wait for each other.
void all_at_once(std::vector<gate>& begun, std::size_t first, std::size_t last) {
  if (last - first > 1) {
    std::size_t const middle = (first + last) / 2;
    filch::join<S>([&, first, middle] { all_at_once(begun, first, middle); },
                   [&, middle, last] { all_at_once(begun, middle, last); });
    return;
  }
  begun[first].open();
  for (auto const& other : begun) ASSERT_TRUE(other.pass()) << "a worker sleeps while a task waits for a worker";
}

TEST(publishing, shares_long_tasks_at_a_pool_s_first_call_on_few_processors) {
  for (unsigned workers : {4u, 8u, 2 * std::thread::hardware_concurrency()}) {
    filch::direct::pool pool({.workers = workers});
    std::vector<gate> begun(workers);
    pool.run([&] { all_at_once(begun, 0, workers); });
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace filch_test
