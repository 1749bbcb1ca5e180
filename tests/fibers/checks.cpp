// Each invariant of fibers and of their stacks (src/runtime/fiber/checks.hpp) is broken once, with nothing else
// wrong, and the check names it.
#include "runtime/fiber/checks.hpp"

#include <filch/cactus.hpp>

#include "broken.hpp"
#include "scale.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace filch_test {
namespace {

namespace r = filch::runtime;
using checks = r::fiber_checks;
using filch::detail::fiber_task;
using filch::detail::join_counter;
using left_as = r::fiber_parting;

/// A caller's worker, with a fiber of its own call.
struct a_worker {
  r::fiber_stack home;
  r::fiber_stack stack;
  r::fiber_stack spare;
  r::fiber_member w{filch::detail::fiber_tag(0), 0, nullptr};

  a_worker() {
    w.home = &home;
    w.stack = &stack;
    w.spare = &spare;
    w.limit = stack.root = 5;
  }
  std::string broken() const { return text(checks::of_fiber(w)); }
};

TEST(a_broken_fiber, is_named) {
  expect_named<a_worker>({
      {"w.home != nullptr", [](a_worker& x) { x.w.home = nullptr; }},
      {"w.stack != nullptr", [](a_worker& x) { x.w.stack = nullptr; }},
      {"w.stack != w.home", [](a_worker& x) { x.w.stack = &x.home; }},
      {"w.stack != w.spare", [](a_worker& x) { x.w.spare = &x.stack; }},
      {"w.limit == k_any_root || w.stack->root == w.limit", [](a_worker& x) { x.stack.root = 4; }},
  });
}

/// Its fiber has left its stack at a join of two stolen parts, of which one has arrived.
struct a_suspended_fiber : a_worker {
  join_counter counter{-1, 0, &stack};

  a_suspended_fiber() { w.parting = {left_as::suspends, &counter, 2, nullptr}; }
  std::string broken() const { return text(checks::of_parting(w, stack)); }
};

/// Its fiber came last to a join.
struct a_last_fiber : a_worker {
  r::fiber_stack frame;
  join_counter counter{0, 0, &frame};

  a_last_fiber() { w.parting = {left_as::resumes, &counter, 0, &frame}; }
  std::string broken() const { return text(checks::of_parting(w, stack)); }
};

TEST(a_broken_suspension, is_named) {
  expect_named<a_suspended_fiber>({
      {"w.next_task == nullptr",
       [](a_suspended_fiber& x) {
         static fiber_task nothing{};
         x.w.next_task = &nothing;
       }},
      {"(p.counter != nullptr) == has_counter", [](a_suspended_fiber& x) { x.w.parting.counter = nullptr; }},
      {"(p.next != nullptr) == (p.what == fiber_parting::resumes)",
       [](a_suspended_fiber& x) { x.w.parting.next = &x.spare; }},
      {"p.stolen > 0", [](a_suspended_fiber& x) { x.w.parting.stolen = 0; }},
      {"p.counter->suspended == &left", [](a_suspended_fiber& x) { x.counter.suspended = nullptr; }},
      {"0 <= arrived", [](a_suspended_fiber& x) { x.counter.balance = 1; }},
      {"arrived <= p.stolen", [](a_suspended_fiber& x) { x.counter.balance = -3; }},
  });
}

TEST(a_broken_end_of_a_fiber, is_named) {
  expect_named<a_last_fiber>({
      {"p.next != &left", [](a_last_fiber& x) { x.w.parting.next = &x.stack; }},
      {"p.next != w.home", [](a_last_fiber& x) { x.w.parting.next = &x.home; }},
      {"p.counter->arrived() == 0", [](a_last_fiber& x) { x.counter.balance = 1; }},
  });
}

TEST(a_fiber_that_gives_way_where_steals_are_not_forced, is_named) {
  for (auto const what : {left_as::moves, left_as::returns}) {
    a_worker x;
    x.w.parting = {what, nullptr, 0, nullptr};
    EXPECT_EQ(text(checks::of_parting(x.w, x.stack)),
              r::k_steals_are_forced ? "" : "k_steals_are_forced || !is_forced");
  }
  a_worker x;
  EXPECT_EQ(text(checks::of_parting(x.w, x.stack)), "");
}

/// A pool of stacks for one worker: all with slack, and one without. Two are in use: `stack`, and a newer one.
struct some_stacks {
  static constexpr unsigned k_with_slack = 4;  // stacks of one worker that keep pages
  r::fiber_stack_pool pool{std::size_t{1} << 16, 0, 1, filch::give_back_policy::none, [](void*) {}, nullptr};
  r::fiber_stack* stack = nullptr;

  some_stacks() {
    r::fiber_stack* taken[k_with_slack + 2];
    for (auto*& s : taken) s = pool.take();
    EXPECT_TRUE(checks::has_slack(*taken[k_with_slack - 1]));
    EXPECT_FALSE(checks::has_slack(*taken[k_with_slack]));
    for (unsigned i = 0; i < k_with_slack; ++i) pool.give_back(taken[i]);
    stack = taken[k_with_slack];
  }
  std::string broken() { return text(checks::of_given_back(pool, *stack)); }
};

TEST(a_broken_pool_of_stacks, is_named) {
  expect_named<some_stacks>({
      {"p.free_.size() + p.free_with_slack_.size() < p.all_.size()",
       [](some_stacks& x) {
         checks::lists_of(x.pool).free.push_back(nullptr);
         checks::lists_of(x.pool).free.push_back(nullptr);
       }},
      {"list.empty() || list.back() != &s", [](some_stacks& x) { x.pool.give_back(x.stack); }},
      {"list.size() < list.capacity()",
       [](some_stacks& x) { std::vector<r::fiber_stack*>().swap(checks::lists_of(x.pool).free); }},
      {"p.free_with_slack_.size() <= p.with_slack_",
       [](some_stacks& x) { checks::lists_of(x.pool).free_with_slack.push_back(nullptr); }},
      {"p.with_slack_ <= p.most_with_slack_", [](some_stacks& x) { ++checks::lists_of(x.pool).with_slack; }},
  });
  some_stacks x;
  for (int i = 0; i < 3; ++i) checks::lists_of(x.pool).free.push_back(nullptr);
  EXPECT_EQ(text(checks::of_stacks(x.pool)), "p.free_.size() + p.free_with_slack_.size() <= p.all_.size()");
}

TEST(a_pool_of_stacks, has_more_with_slack_when_a_caller_is_added) {
  some_stacks x;
  x.pool.has_one_more_worker();
  for (unsigned i = 0; i < 2 * some_stacks::k_with_slack; ++i) {
    r::fiber_stack* const s = x.pool.take();
    ASSERT_NE(s, nullptr);
    EXPECT_TRUE(checks::has_slack(*s)) << i;
  }
  EXPECT_FALSE(checks::has_slack(*x.pool.take()));
}

/// All stacks that keep pages may be in use elsewhere. The thread's page faults tell that a call touched none.
TEST(a_caller_s_stack_without_slack, is_given_back_only_after_a_page_fault) {
  if (is_sanitized || !is_optimised) GTEST_SKIP() << "calls touch other pages";
  constexpr unsigned k_calls = 200;
  filch::cactus::pool pool({.workers = 1});
  pool.run([] { checks::has_slack(*r::this_member().stack) = false; });
  auto const before = pool.stats().give_backs;
  for (unsigned i = 0; i < k_calls; ++i) {
    pool.run([] { EXPECT_FALSE(checks::has_slack(*r::this_member().stack)); });
  }
  EXPECT_LT(pool.stats().give_backs - before, k_calls / 4);
}

}  // namespace
}  // namespace filch_test
