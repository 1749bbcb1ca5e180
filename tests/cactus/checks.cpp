// Each invariant of filch::cactus (src/schedulers/cactus/checks.hpp) is broken once, in a worker with nothing else
// wrong, and the check names it.
#include "schedulers/cactus/checks.hpp"

#include "broken.hpp"
#include "eventually.hpp"
#include "stealing.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

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
  std::string broken() {
    std::string const places = text(filch::detail::broken_places(w));
    return places.empty() ? text(filch::detail::broken_fiber(w)) : places;
  }
};

TEST(cactus_checks, find_nothing_in_a_requested_worker) {
  worker_with_tasks x;
  x.w.requests().request();
  EXPECT_EQ(x.broken(), "");
  x.w.requests().answer();
  EXPECT_EQ(x.broken(), "");
}

TEST(cactus_requests, stay_where_an_owner_makes_its_forks_public) {
  worker_with_tasks x;
  x.w.requests().make_public();
  EXPECT_EQ(x.w.requests().state(), split_state::still_requested);
  x.w.requests().request();
  x.w.requests().make_public();
  EXPECT_EQ(x.w.requests().state(), split_state::requested);
}

TEST(cactus_requests, make_the_next_fork_public) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "each fork is public";
  filch::cactus::pool pool({.workers = 1});
  pool.run([] {
    auto& w = static_cast<cactus_member&>(filch::runtime::this_member());
    EXPECT_FALSE(filch::cactus::somebody_looks());
    w.requests().make_public();
    EXPECT_TRUE(filch::cactus::somebody_looks()) << "one that looks soon takes it";
    w.requests().request();
    EXPECT_TRUE(filch::cactus::somebody_looks());
    w.requests().make_quiet(w.head);
    EXPECT_FALSE(filch::cactus::somebody_looks());
  });
}

TEST(cactus_requests, stay_where_a_task_that_was_public_is_taken_back) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "no task is taken back";
  filch::cactus::pool pool({.workers = 1});
  pool.run([] {
    auto& w = static_cast<cactus_member&>(filch::runtime::this_member());
    w.requests().request();
    filch::join<filch::cactus>(
        [&w] {
          EXPECT_EQ(w.requests().state(), split_state::still_requested) << "the fork answers it";
          w.requests().request();
        },
        [] {});
    EXPECT_EQ(w.requests().state(), split_state::requested);
  });
}

TEST(cactus_requests, begin_anew_with_each_call_beside_a_worker_that_searches) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "no task is taken back";
  filch::cactus::pool pool({.workers = 2});
  auto const number = [&](unsigned next) {
    unsigned before = 0;
    pool.run([&] {
      before = std::exchange(static_cast<cactus_member&>(filch::runtime::this_member()).taken_back_in_a_row, next);
    });
    return before;
  };
  EXPECT_TRUE(eventually([&] {
    // It steals, and then searches for a while before it sleeps.
    pool.run([] { stolen_join<filch::cactus>{}([] {}, [] {}); });
    number(5);
    return number(5) == 0;
  }));
}

TEST(cactus_checks, leave_tasks_private_for_which_the_open_range_has_no_numbers) {
  worker_with_tasks x;
  EXPECT_EQ(x.w.end_of_offers(), 4u);
  x.w.places = 3;
  EXPECT_TRUE(x.w.can_offer_more());
  x.w.open.offer_to(3);
  EXPECT_FALSE(x.w.can_offer_more()) << "the fourth task";
}

TEST(cactus_checks, name_each_broken_word_of_the_places) {
  expect_named<worker_with_tasks>({
      {"w.kind == k_cactus_tag", [](auto& x) { x.w.kind = filch::detail::fiber_kind::outside; }},
      {"w.base == reinterpret_cast<fiber_task**>(&w + 1)", [](auto& x) { ++x.w.base; }},
      {"w.places <= runtime::open_range::k_most",
       [](auto& x) { x.w.places = filch::runtime::open_range::k_most + 1; }},
      {"w.base <= w.head", [](auto& x) { x.w.head = x.w.base - 1; }},
      {"open.end <= w.places", [](auto& x) { x.w.open.offer_to(9); }},
      {"open.tail <= open.end",
       [](auto& x) {
         x.steal();
         x.steal();
       }},
      {"open.end <= w.index_of_head()", [](auto& x) { x.w.open.offer_to(5); }},
      {"read <= open.tail", [](auto& x) { x.w.taken.add_one(); }},
      {"w.taken_back_in_a_row < cactus_member::k_taken_back_until_private",
       [](auto& x) { x.w.taken_back_in_a_row = cactus_member::k_taken_back_until_private; }},
  });
}

TEST(cactus_checks, name_public_tasks_that_the_owner_takes_for_private) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, a request never goes away";
  expect_named<worker_with_tasks>({
      {"w.requests().is_quiet_at_or_above(w.base + open.end)", [](auto& x) { x.w.open.offer_to(3); }},
  });
}

TEST(cactus_checks, name_each_broken_word_of_a_fiber) {
  expect_named<worker_with_tasks>({
      {"w.base <= w.counted", [](auto& x) { x.w.counted = x.w.base - 1; }},
      {"w.counted <= w.base + w.places", [](auto& x) { x.w.counted = x.w.base + 9; }},
      {"w.stack != nullptr", [](auto& x) { x.w.stack = nullptr; }},
      {"w.stack != w.home", [](auto& x) { x.w.home = x.w.stack; }},
      {"w.stack != w.spare", [](auto& x) { x.w.spare = x.w.stack; }},
      {"w.open.peek().root == w.stack->root", [](auto& x) { x.stack.root = 7; }},
      {"static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >= 0",
       [](auto& x) { x.w.counted = x.w.base + 5; }},
      {"static_cast<std::int64_t>(w.stack->open_forks) + (w.head - w.counted) >= "
       "static_cast<std::int64_t>(w.index_of_head() - w.open.look().end)",
       [](auto& x) { x.w.counted = x.w.base + 3; }},
  });
}

}  // namespace
}  // namespace filch_test
