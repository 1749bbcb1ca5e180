// How long a thief leaves workers alone, between looks and after tiny tasks, also after the clock was set back; and
// whether a worker searches.
#include "runtime/account.hpp"
#include "runtime/idle.hpp"
#include "runtime/steal_pace.hpp"
#include "runtime/stolen_task.hpp"
#include "runtime/wake_pace.hpp"

#include <gtest/gtest.h>

namespace filch_test {
namespace {

using filch::runtime::cycles;

constexpr cycles k_cost = 1'000;
constexpr filch::runtime::steal_cost k_steal{.least = k_cost, .for_search = 4, .most = 4 * k_cost};
constexpr cycles k_now = cycles{1} << 40;
constexpr cycles k_set_back = k_now - (cycles{1} << 39);

TEST(account, is_paid_again_after_the_clock_was_set_back) {
  using filch::runtime::account;
  account a;
  cycles const now = filch::runtime::time_stamp();
  a.charge(now + (cycles{1} << 42), account::k_steal, 0);
  ASSERT_GT(a.paid_at(), now + filch::runtime::k_longest_ahead);
  account thief;
  thief.inherit(a, now);
  EXPECT_LT(thief.paid_at(), now + 2 * account::k_part * account::k_steal);
  a.charge(now, account::k_steal, 0);
  EXPECT_LT(a.paid_at(), now + 2 * account::k_part * account::k_steal);
}

TEST(wake_pace, does_not_grow_after_the_clock_was_set_back) {
  constexpr cycles k_short = 30'000;
  filch::runtime::wake_pace pace;
  pace.ran_alone(k_now, k_short);
  EXPECT_FALSE(pace.pays(k_now, 0));
  EXPECT_FALSE(pace.pays(k_now - k_short, 0)) << "two processors' clocks may differ";
  pace.ran_alone(k_now, k_short);
  EXPECT_TRUE(pace.pays(k_now, 0));
  EXPECT_FALSE(pace.pays(k_set_back, 0)) << "it would pay for as long as the clock was set back";
  pace.ran_alone(k_set_back, k_short);
  EXPECT_FALSE(pace.pays(k_set_back, 0));
  pace.ran_alone(k_set_back, k_short);
  EXPECT_TRUE(pace.pays(k_set_back, 0));
  EXPECT_FALSE(pace.pays(k_set_back + 16 * k_short, 0));
}

TEST(idle, tells_loops_of_searching_workers_but_of_no_caller_that_sleeps) {
  constexpr unsigned k_caller = 1;
  constexpr unsigned k_thread = 2;
  filch::runtime::idle all(3);
  EXPECT_FALSE(all.somebody_looks());
  all.announce_for_root(k_caller);
  EXPECT_FALSE(all.somebody_looks()) << "it takes tasks of its own call only";
  EXPECT_TRUE(all.sleeps_for_root(k_caller));
  all.looks(k_thread);
  EXPECT_TRUE(all.somebody_looks());
  all.announce(k_thread);
  EXPECT_TRUE(all.somebody_looks()) << "asleep";
  EXPECT_TRUE(all.retract(k_thread));
  all.has_work(k_thread);
  EXPECT_FALSE(all.somebody_looks());
  EXPECT_TRUE(all.retract(k_caller));
}

TEST(steal_pace, waits_after_a_task_that_was_shorter_than_its_steal) {
  filch::runtime::steal_pace pace(k_steal, 2);
  EXPECT_FALSE(pace.waits(k_now));
  // Credit is for some of them.
  for (int i = 0; i < 1'000 && !pace.waits(k_now); ++i) pace.task_ran(k_now, 0);
  EXPECT_TRUE(pace.waits(k_now));
  EXPECT_FALSE(pace.waits(k_now + filch::runtime::account::k_part * k_cost));
}

TEST(steal_pace, goes_by_what_the_search_took) {
  auto const waits_after = [](cycles lasted, cycles search) {
    filch::runtime::steal_pace pace(k_steal, 2);
    for (int i = 0; i < 1'000; ++i) pace.task_ran(k_now, lasted, search);
    return pace.waits(k_now);
  };
  EXPECT_FALSE(waits_after(k_cost, 0));
  EXPECT_FALSE(waits_after(k_cost, k_cost / 4));
  EXPECT_TRUE(waits_after(k_cost, k_cost)) << "the workers are far from each other";
  EXPECT_FALSE(waits_after(4 * k_cost, 1'000 * k_cost)) << "the thief had no processor";
}

TEST(steal_pace, does_not_wait_after_a_long_task_however_dear_its_steal) {
  constexpr cycles k_dear = 100'000;
  for (bool const is_divided : {false, true}) {
    filch::runtime::steal_pace pace({.least = k_dear, .for_search = 4, .most = 4 * k_dear}, 256);
    for (int i = 0; i < 1'000; ++i) pace.task_ran(k_now, 100 * k_dear, k_dear, is_divided);
    EXPECT_FALSE(pace.waits(k_now)) << is_divided;
  }
}

TEST(steal_pace, may_lose_again_half_of_what_long_tasks_gained) {
  filch::runtime::steal_pace pace(k_steal, 2);
  for (int i = 0; i < 1'000; ++i) pace.task_ran(k_now, 0);  // no credit is left
  ASSERT_TRUE(pace.waits(k_now));
  constexpr int k_tiny = 20;
  constexpr int k_many = 2'000;
  auto const tiny_without_wait = [&pace] {
    int count = 0;
    for (pace.task_ran(k_now, 0); count < k_many && !pace.waits(k_now); ++count) pace.task_ran(k_now, 0);
    return count;
  };
  pace.task_ran(k_now, k_cost + 2 * k_tiny * k_cost);
  EXPECT_FALSE(pace.waits(k_now));
  EXPECT_EQ(tiny_without_wait(), k_tiny);
  EXPECT_EQ(tiny_without_wait(), 0) << "lost";
  pace.task_ran(k_now, k_cost * 1'000'000);
  EXPECT_LT(tiny_without_wait(), k_many) << "one task pays for so many at most";
}

TEST(steal_pace, counts_a_divided_task_as_dear) {
  auto const waits_for = [](bool is_divided, cycles time) {
    filch::runtime::steal_pace pace(k_steal, 2);
    for (int i = 0; i < 1'000; ++i) pace.task_ran(k_now, 0);  // no credit is left
    pace.task_ran(k_now, 0, 0, is_divided);
    return pace.waits(k_now + time);
  };
  constexpr cycles k_pause = filch::runtime::account::k_part * k_cost;
  EXPECT_FALSE(waits_for(false, k_pause));
  EXPECT_TRUE(waits_for(true, 4 * k_pause - 1));
  EXPECT_FALSE(waits_for(true, 4 * k_pause));
}

void spin(cycles lasts) {
  cycles const begin = filch::runtime::time_stamp();
  while (filch::runtime::time_stamp() - begin < lasts) {
  }
}

TEST(stolen_task, lasts_without_its_waits) {
  using filch::runtime::stolen_task;
  constexpr cycles k_short = 200'000;
  // Another process may have the processor meanwhile.
  constexpr int k_tries = 200;
  int right = 0;
  for (int i = 0; i < k_tries; ++i) {
    stolen_task task;
    cycles on_top = 0;
    {
      stolen_task::run const outer(task);
      spin(k_short);
      {
        stolen_task::wait const waits(task);
        spin(10 * k_short);
        {
          stolen_task::run const inner(task);
          spin(3 * k_short);
          stolen_task::wait const waits_too(task);
          spin(10 * k_short);
        }
        on_top = task.lasted();
      }
      spin(k_short);
    }
    right +=
        on_top >= 3 * k_short && on_top < 4 * k_short && task.lasted() >= 2 * k_short && task.lasted() < 3 * k_short;
  }
  EXPECT_GT(right, 0);
}

TEST(stolen_task, is_divided_if_others_ran_on_top_of_its_waits) {
  using filch::runtime::stolen_task;
  stolen_task task;
  cycles began = 0;
  for (unsigned on_top : {0u, 3u, 1u}) {
    {
      stolen_task::run const outer(task);
      EXPECT_GT(task.began(), began);
      began = task.began();
      for (unsigned i = 0; i < on_top; ++i) {
        stolen_task::wait const waits(task);
        stolen_task::run const inner(task);
      }
    }
    EXPECT_EQ(task.began(), began) << "the search for the task ended there";
    EXPECT_EQ(task.is_divided(), on_top != 0);
  }
  task.begins();
  EXPECT_FALSE(task.is_divided());
}

TEST(stolen_task, lasts_longer_if_others_came_with_it) {
  filch::runtime::stolen_task task;
  task.begins();
  spin(1'000);
  task.ends();
  cycles const lasted = task.lasted();
  task.was_one_of(1);
  EXPECT_EQ(task.lasted(), lasted);
  task.was_one_of(8);
  EXPECT_EQ(task.lasted(), 8 * lasted);
}

TEST(stolen_task, lasts_until_it_waits_on_its_stack) {
  filch::runtime::stolen_task task;
  constexpr cycles k_short = 200'000;
  task.begins();
  spin(k_short);
  task.ends();
  cycles const lasted = task.lasted();
  EXPECT_GE(lasted, k_short);
  spin(k_short);
  task.ends();
  EXPECT_EQ(task.lasted(), lasted) << "another stack is left";
}

TEST(steal_pace, does_not_wait_for_a_clock_that_was_set_back) {
  filch::runtime::steal_pace pace(k_steal, 2);
  for (int i = 0; i < 1'000 && !pace.waits(k_now); ++i) pace.task_ran(k_now, 0);
  ASSERT_TRUE(pace.waits(k_now));
  EXPECT_FALSE(pace.waits(k_set_back));
  // From then on it goes by the new time.
  pace.task_ran(k_set_back, 0);
  EXPECT_TRUE(pace.waits(k_set_back));
}

/// The time that a thief leaves workers alone after the task of no length that used up its credit.
cycles pause_of(unsigned workers) {
  filch::runtime::steal_pace pace(k_steal, workers);
  while (!pace.waits(k_now)) pace.task_ran(k_now, 0);
  cycles least = 0;
  cycles most = 1'000'000;
  while (most - least > 1) {
    cycles const middle = (least + most) / 2;
    (pace.waits(k_now + middle) ? least : most) = middle;
  }
  return most;
}
TEST(steal_pace, is_slower_for_each_of_many_thieves) {
  EXPECT_LE(pause_of(2), filch::runtime::account::k_part * k_cost);
  EXPECT_EQ(pause_of(2), pause_of(5));
  EXPECT_GT(pause_of(65), pause_of(17));
  EXPECT_GT(pause_of(17), pause_of(5));
}

TEST(thieves, pause_for_longer_if_they_are_many_and_all_run) {
  using filch::runtime::pauses_between_looks;
  EXPECT_EQ(pauses_between_looks(1, false), 1u);
  EXPECT_EQ(pauses_between_looks(5, false), 1u);
  EXPECT_EQ(pauses_between_looks(65, false), 16u);
  EXPECT_EQ(pauses_between_looks(65, true), 1u) << "they would yield to workers with tasks, and run again";
}

TEST(thieves, that_wait_for_a_processor_cost_nothing) {
  using filch::runtime::workers_at_once;
  EXPECT_EQ(workers_at_once(64, 2), 2u);
  EXPECT_EQ(workers_at_once(4, 16), 4u);
  EXPECT_EQ(workers_at_once(4, 0), 1u);
}

TEST(account, has_no_time_to_wait_after_the_clock_was_set_back) {
  cycles const now = filch::runtime::time_stamp();
  EXPECT_EQ(filch::runtime::time_until(now - 1), 0);
  EXPECT_GT(filch::runtime::time_until(now + (cycles{1} << 32)), 0);
  EXPECT_EQ(filch::runtime::time_until(now + (cycles{1} << 50)), 0);
}

}  // namespace
}  // namespace filch_test
