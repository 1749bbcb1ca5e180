// Thieves request, and owners answer, early enough that no thief searches in vain.
#include "stealing.hpp"
#include "this_thread.hpp"

#include <chrono>

namespace filch_test {
namespace {

template <class S> class requests : public ::testing::Test {};

using fiber_schedulers = ::testing::Types<filch::cactus, filch::implicit>;
TYPED_TEST_SUITE(requests, fiber_schedulers, scheduler_names);

/// Answers a request that may stand on the calling worker. No other worker requests meanwhile.
template <class S> void answer_all() {
  for (int i = 0; i < 100; ++i) filch::join<S>([] {}, [] {});
}

/// Waits until thieves may request again: they may have cost the worker more than their part.
void pay_thieves() { work_for(std::chrono::milliseconds(5)); }

TYPED_TEST(requests, stand_with_the_owner_when_its_last_offer_is_taken) {
  using S = TypeParam;
  typename S::pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    gate release;
    bool asked = false;
    pool.run([&] {
      pay_thieves();
      filch::scope<S>([&](auto& s) {
        gate begun;
        wait_for_thief<S>();
        s.spawn([&] {
          begun.open();
          EXPECT_TRUE(release.pass());
        });
        EXPECT_TRUE(begun.pass());
        // The only thief is busy from here on: it requests no more.
        asked = S::wanted();
        release.open();
        s.sync();
      });
    });
    ASSERT_TRUE(asked) << "in round " << round;
  }
}

TYPED_TEST(requests, stand_with_the_thief_of_a_spawned_task) {
  using S = TypeParam;
  typename S::pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    bool asked = false;
    pool.run([&] {
      pay_thieves();
      // The caller always has something to do, and requests nothing.
      filch::scope<S>([&](auto& s) {
        gate quiet;
        gate taken;
        wait_for_thief<S>();
        s.spawn([&] {
          answer_all<S>();
          quiet.open();
        });
        EXPECT_TRUE(quiet.pass());
        wait_for_thief<S>();
        s.spawn([&] {
          asked = S::wanted();
          taken.open();
        });
        EXPECT_TRUE(taken.pass());
        s.sync();
      });
    });
    ASSERT_TRUE(asked) << "in round " << round;
  }
}

TYPED_TEST(requests, are_answered_between_the_tasks_of_a_scope) {
  using S = TypeParam;
  typename S::pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    gate busy;
    gate release;
    gate helped;
    pool.run([&] {
      no_interrupts const here;
      pay_thieves();
      auto const owner = S::worker_index();
      filch::scope<S>([&](auto& s) {
        wait_for_thief<S>();
        s.spawn([&] {
          busy.open();
          EXPECT_TRUE(release.pass());
        });
        EXPECT_TRUE(busy.pass());
        answer_all<S>();
        // No thief requests while these are spawned. The owner runs the oldest first.
        s.spawn([&] {
          release.open();
          wait_for_thief<S>();
        });
        for (int i = 0; i < 10; ++i) {
          s.spawn([&] {
            if (S::worker_index() != owner) {
              helped.open();
            } else {
              EXPECT_TRUE(helped.pass()) << "a thief asked, and got nothing";
            }
          });
        }
        s.sync();
      });
    });
    ASSERT_FALSE(::testing::Test::HasFailure()) << "in round " << round;
  }
}

}  // namespace
}  // namespace filch_test
