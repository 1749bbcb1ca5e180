// Each invariant of filch::cactus (src/schedulers/cactus/checks.hpp) is broken once, in a worker with nothing else
// wrong, and the check names it.
#include "schedulers/cactus/checks.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace filch_test {
namespace {

using filch::detail::cactus_member;
using filch::detail::fiber_task;
using filch::detail::split_state;

/// A worker with four tasks: the oldest is stolen, the second is public, two are private.
struct worker_with_tasks {
  struct layout {
    cactus_member w;
    fiber_task* places[8];
  };
  std::unique_ptr<layout> const memory = std::make_unique<layout>();
  filch::runtime::fiber_stack stack;
  filch::runtime::fiber_stack other;
  cactus_member& w = memory->w;

  worker_with_tasks() {
    w.base = w.counted = memory->places;
    w.places = 8;
    w.head = w.base + 4;
    w.stack = &stack;
    w.open.offer_to(2);
    steal();
    w.taken.add_one();
    w.requests().begin(split_state::quiet, w.base + 2);
  }
  void steal() { EXPECT_TRUE(w.open.steal(w.open.look())); }
  std::string places() { return text(filch::detail::broken_places(w)); }
  std::string fiber() const { return text(filch::detail::broken_fiber(w)); }
  static std::string text(filch::runtime::broken_condition condition) { return condition ? condition : ""; }
};

TEST(cactus_checks, find_nothing_in_a_worker_as_it_should_be) {
  worker_with_tasks x;
  EXPECT_EQ(x.places(), "");
  EXPECT_EQ(x.fiber(), "");
  x.w.requests().request();
  EXPECT_EQ(x.places(), "");
  x.w.requests().answer();
  EXPECT_EQ(x.places(), "");
}

TEST(cactus_checks, name_a_worker_of_another_scheduler) {
  worker_with_tasks x;
  x.w.kind = filch::detail::fiber_kind::outside;
  EXPECT_EQ(x.places(), "w.kind == k_cactus_tag");
}

TEST(cactus_checks, name_places_that_are_elsewhere) {
  worker_with_tasks x;
  ++x.w.base;
  EXPECT_EQ(x.places(), "w.base == reinterpret_cast<fiber_task**>(&w + 1)");
}

TEST(cactus_checks, name_more_places_than_the_range_counts) {
  worker_with_tasks x;
  x.w.places = filch::runtime::open_range::k_most + 1;
  EXPECT_EQ(x.places(), "w.places <= runtime::open_range::k_most");
}

TEST(cactus_checks, name_a_head_below_the_places) {
  worker_with_tasks x;
  x.w.head = x.w.base - 1;
  EXPECT_EQ(x.places(), "w.base <= w.head");
}

TEST(cactus_checks, name_a_head_above_the_places) {
  worker_with_tasks x;
  x.w.head = x.w.base + 9;
  EXPECT_EQ(x.places(), "w.index_of_head() <= w.places");
}

TEST(cactus_checks, name_a_theft_of_a_private_task) {
  worker_with_tasks x;
  x.steal();
  x.steal();
  EXPECT_EQ(x.places(), "open.tail <= open.end");
}

TEST(cactus_checks, name_an_offer_above_the_head) {
  worker_with_tasks x;
  x.w.open.offer_to(5);
  EXPECT_EQ(x.places(), "open.end <= w.index_of_head()");
}

TEST(cactus_checks, name_a_place_that_was_read_and_not_taken) {
  worker_with_tasks x;
  x.w.taken.add_one();
  EXPECT_EQ(x.places(), "read <= open.tail");
}

TEST(cactus_checks, name_public_tasks_that_the_owner_takes_for_private) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, a request never goes away";
  worker_with_tasks x;
  x.w.open.offer_to(3);
  EXPECT_EQ(x.places(), "w.requests().is_quiet_at_or_above(w.base + open.end)");
}

TEST(cactus_checks, name_a_request_that_stays_for_too_long) {
  worker_with_tasks x;
  x.w.taken_back_in_a_row = cactus_member::k_taken_back_until_private;
  EXPECT_EQ(x.places(), "w.taken_back_in_a_row < cactus_member::k_taken_back_until_private");
}

TEST(cactus_checks, name_a_count_from_below_the_places) {
  worker_with_tasks x;
  x.w.counted = x.w.base - 1;
  EXPECT_EQ(x.fiber(), "w.base <= w.counted");
}

TEST(cactus_checks, name_a_count_from_above_the_places) {
  worker_with_tasks x;
  x.w.counted = x.w.base + 9;
  EXPECT_EQ(x.fiber(), "w.counted <= w.base + w.places");
}

TEST(cactus_checks, name_a_worker_without_a_fiber) {
  worker_with_tasks x;
  x.w.stack = nullptr;
  EXPECT_EQ(x.fiber(), "w.stack != nullptr");
}

TEST(cactus_checks, name_a_fiber_on_the_home_stack) {
  worker_with_tasks x;
  x.w.home = x.w.stack;
  EXPECT_EQ(x.fiber(), "w.stack != w.home");
}

TEST(cactus_checks, name_a_spare_stack_that_is_in_use) {
  worker_with_tasks x;
  x.w.spare = x.w.stack;
  EXPECT_EQ(x.fiber(), "w.stack != w.spare");
}

TEST(cactus_checks, name_tasks_of_another_root) {
  worker_with_tasks x;
  x.stack.root = 7;
  EXPECT_EQ(x.fiber(), "w.open.peek().root == w.stack->root");
}

TEST(cactus_checks, name_more_forks_closed_than_opened) {
  worker_with_tasks x;
  x.w.counted = x.w.base + 5;
  EXPECT_EQ(x.fiber(), "static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >= 0");
}

TEST(cactus_checks, name_tasks_that_are_no_open_forks) {
  worker_with_tasks x;
  x.w.counted = x.w.base + 3;
  EXPECT_EQ(x.fiber(),
            "static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >= "
            "static_cast<std::int64_t>(w.index_of_head() - w.open.look().end)");
}

}  // namespace
}  // namespace filch_test
