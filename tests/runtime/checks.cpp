// Each invariant of a team (src/runtime/checks.hpp) is broken once, with nothing else wrong, and the check names it.
#include "runtime/checks.hpp"

#include "broken.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace filch_test {
namespace {

namespace r = filch::runtime;
using checks = r::team_checks;

/// A pool of two workers: a caller is at place 0, which has memory.
struct a_place {
  r::places p{2};
  unsigned place = p.enter();

  a_place() { p.make(place); }
  std::string broken() const { return text(checks::of_worker(p, place)); }
};

TEST(broken_places, are_named) {
  expect_named<a_place>({
      {"p.is_made(place)", [](a_place& x) { x.place = x.p.enter(); }},
      {"place < p.all()",
       [](a_place& x) {
         x.place = x.p.all();
         x.p.make(x.place);
       }},
      {"p.is_in_use(place)", [](a_place& x) { x.p.leave(x.place); }},
      {"(in_use & ~p.all_bits()) == 0", [](a_place& x) { x.p.enter_as_stand_in(x.p.all()); }},
      {"(made & ~p.all_bits()) == 0", [](a_place& x) { x.p.make(x.p.all()); }},
  });
}

TEST(places_of_threads_and_stand_ins, are_as_they_should_be) {
  r::places p(2);
  EXPECT_EQ(text(checks::of_worker(p, 1)), "");
  unsigned const last = p.stand_in(1);
  EXPECT_EQ(last, p.all() - 1);
  EXPECT_EQ(p.in_use(), 1u);
  p.enter_as_stand_in(last);
  EXPECT_EQ(p.in_use(), 2u);
  EXPECT_EQ(p.awake_most(), 1u) << "a stand-in works while another worker waits";
  EXPECT_EQ(text(checks::of_entered(p, last)), "");
  EXPECT_EQ(text(checks::of_end(p)), "");
}

TEST(a_pool_that_ends_before_its_callers, is_named) {
  a_place x;
  EXPECT_EQ(text(checks::of_end(x.p)), "(p.bits_in_use() & p.callers_bits()) == 0");
  x.p.leave(x.place);
  EXPECT_EQ(text(checks::of_end(x.p)), "");
}

TEST(a_caller_that_is_not_counted, is_named) {
  r::caller_count callers;
  callers.enter();
  EXPECT_EQ(text(checks::of_callers(callers)), "");
  EXPECT_FALSE(callers.wait_for_none(false));
  EXPECT_EQ(text(checks::of_callers(callers)), "");
  callers.leave();
  EXPECT_TRUE(callers.wait_for_none(false));
  EXPECT_EQ(text(checks::of_callers(callers)), "callers.has_any()");
}

TEST(a_call_that_has_not_begun, is_named) {
  r::worker_space stack(std::size_t{1} << 20, 0);
  ASSERT_TRUE(stack.valid());
  auto const leave = [&] {
    static_cast<void>(
        stack.give_back(stack.middle(), nullptr, filch::give_back_policy::madvise, r::worker_space::when::leaves));
  };
  EXPECT_EQ(text(checks::of_left_stack(stack)), "s.call_began_ != 0");
  stack.begin_call();
  EXPECT_EQ(text(checks::of_left_stack(stack)), "");
  leave();
  EXPECT_EQ(text(checks::of_left_stack(stack)), "s.call_began_ != 0") << "each call begins anew";
}

/// Place 1 of three is announced.
struct a_sleeper {
  r::idle i{3};

  a_sleeper() { i.announce(1); }
  std::string broken() const { return text(checks::of_sleeper(i, 1)); }
};

TEST(a_broken_sleeper, is_named) {
  expect_named<a_sleeper>({
      {"i.places_[me].waits.own() < sleep_word::k_for_one + i.number_of_places_",
       [](a_sleeper& x) { checks::word_of(x.i, 1).announce(r::sleep_word::k_for_one + 3); }},
      {"i.places_[me].looks", [](a_sleeper& x) { checks::searches(x.i, 1) = false; }},
      {"i.searchers_.get() != 0", [](a_sleeper& x) { checks::searchers_of(x.i).take_one_off(); }},
      {"i.sleepers_.get() <= i.number_of_places_ + wakers_most",
       [](a_sleeper& x) {
         checks::sleepers_of(x.i).take_one_off();
         checks::sleepers_of(x.i).take_one_off();
       }},
      {"i.callers_asleep_.get() <= i.number_of_places_ + wakers_most",
       [](a_sleeper& x) { checks::callers_asleep_of(x.i).take_one_off(); }},
      {"i.searchers_.get() <= i.number_of_places_",
       [](a_sleeper& x) {
         for (int n = 0; n < 3; ++n) checks::searchers_of(x.i).add_one();
       }},
  });
}

TEST(a_worker_that_is_announced_already, is_named) {
  a_sleeper x;
  EXPECT_EQ(text(checks::of_awake(x.i, 0)), "");
  EXPECT_EQ(text(checks::of_awake(x.i, 1)), "i.places_[me].waits.own() == sleep_word::k_awake");
  EXPECT_TRUE(x.i.wake(1));
  EXPECT_EQ(text(checks::of_awake(x.i, 1)), "");
}

/// Two threads of stand-ins: both are busy, the second was told to leave.
struct some_stand_ins {
  r::stand_ins s;

  some_stand_ins() {
    s.threads.resize(2);
    s.working = 1;
    s.busy = 2;
    s.each[0].works = s.each[1].works = true;
    s.each[1].leaves.set();
  }
  std::string broken() const { return text(checks::of_stand_ins(s)); }
};

TEST(broken_stand_ins, are_named) {
  expect_named<some_stand_ins>({
      {"s.threads.size() <= s.each.size()",
       [](some_stand_ins& x) { x.s.threads.resize(r::places::k_stand_ins_most + 1); }},
      {"s.busy <= s.threads.size()", [](some_stand_ins& x) { x.s.threads.resize(1); }},
      {"s.working <= s.busy", [](some_stand_ins& x) { x.s.working = 3; }},
      {"s.busy == number_of([](auto const& each) { return each.works; })",
       [](some_stand_ins& x) { x.s.each[1].works = false; }},
      {"s.working == number_of([](auto const& each) { return each.works && !each.leaves.is_set(); })",
       [](some_stand_ins& x) { x.s.each[1].leaves.clear(); }},
  });
}

}  // namespace
}  // namespace filch_test
