// Each invariant of filch::direct (src/schedulers/direct/checks.hpp) is broken once, in a worker with nothing else
// wrong, and the check names it.
#include "schedulers/direct/checks.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace filch_test {
namespace {

using filch::detail::direct_member;
using filch::detail::direct_run_nothing;
using filch::detail::direct_state;
using filch::detail::direct_task;
using filch::runtime::broken_condition;

constexpr unsigned k_thief = 3;

/// A worker with four tasks, of which the oldest is stolen, the second is public, and two are private.
struct worker_with_tasks {
  struct layout {
    direct_member w;
    direct_task tasks[8];
  };
  std::unique_ptr<layout> const memory = std::make_unique<layout>();
  direct_member& w = memory->w;
  direct_task* const tasks = w.first_task();

  worker_with_tasks() {
    w.top = tasks + 4;
    w.end = tasks + 8;
    for (int i = 0; i < 4; ++i) tasks[i].run = &direct_run_nothing;
    tasks[0].state.steal(k_thief);
    tasks[1].state.publish();
    w.bot.start_at(tasks + 1);
    w.public_end.start_at(tasks + 2);
    w.split.answer(tasks + 2);
  }
  std::string broken() const { return text(filch::detail::broken_worker(w, w.top)); }
  static std::string text(broken_condition condition) { return condition ? condition : ""; }
};

TEST(direct_checks, find_nothing_in_a_worker_as_it_should_be) {
  worker_with_tasks x;
  EXPECT_EQ(x.broken(), "");
  x.w.split.request();
  EXPECT_EQ(x.broken(), "");
}

TEST(direct_checks, name_a_bot_below_the_array) {
  worker_with_tasks x;
  x.w.bot.start_at(x.tasks - 1);
  EXPECT_EQ(x.broken(), "base <= bot");
}

TEST(direct_checks, name_a_bot_above_public_tasks) {
  worker_with_tasks x;
  x.w.bot.start_at(x.tasks + 3);
  EXPECT_EQ(x.broken(), "bot <= public_end");
}

TEST(direct_checks, name_public_tasks_above_the_array) {
  worker_with_tasks x;
  x.w.public_end.start_at(x.tasks + 9);
  EXPECT_EQ(x.broken(), "public_end <= w.end");
}

TEST(direct_checks, name_a_top_below_stolen_tasks) {
  worker_with_tasks x;
  x.w.top = x.tasks;
  EXPECT_EQ(x.broken(), "bot <= top");
}

TEST(direct_checks, name_a_top_above_the_array) {
  worker_with_tasks x;
  x.w.top = x.tasks + 9;
  EXPECT_EQ(x.broken(), "top <= w.end");
}

TEST(direct_checks, name_a_split_that_stayed_when_public_end_moved) {
  worker_with_tasks x;
  x.tasks[2].state.publish();
  x.w.public_end.raise(x.tasks + 3);
  EXPECT_EQ(x.broken(), "w.split.is_at(public_end) || w.split.is_requested()");
}

TEST(direct_checks, name_a_task_that_thieves_have_passed_by) {
  worker_with_tasks x;
  x.tasks[0].state.give_back();
  EXPECT_EQ(x.broken(), "bot == base || bot[-1].state.unordered() != direct_state::task");
}

TEST(direct_checks, name_a_private_task_with_a_state) {
  worker_with_tasks x;
  x.tasks[2].state.publish();
  EXPECT_EQ(x.broken(), "public_end == w.end || public_end->state.unordered() == direct_state::empty");
  EXPECT_EQ(x.text(broken_private(x.w, x.tasks[2])), "t.state.unordered() == direct_state::empty");
}

TEST(direct_checks, name_a_free_descriptor_with_a_state) {
  worker_with_tasks x;
  x.tasks[4].state.pass();
  EXPECT_EQ(x.broken(), "top == w.end || top->state.unordered() == direct_state::empty");
}

TEST(direct_checks, name_places_that_should_be_private_again) {
  worker_with_tasks x;
  x.w.inlined_in_a_row = filch::detail::k_inlined_until_private;
  EXPECT_EQ(x.broken(), "w.inlined_in_a_row < k_inlined_until_private");
}

TEST(direct_checks, name_a_task_that_is_not_in_its_owner_s_array) {
  worker_with_tasks const x;
  worker_with_tasks const other;
  EXPECT_EQ(x.text(broken_task(x.w, x.tasks[1])), "");
  EXPECT_EQ(x.text(broken_task(x.w, other.tasks[1])), "w.first_task() <= &t && &t < w.end");
}

TEST(direct_checks, name_a_task_that_runs_nothing_known) {
  worker_with_tasks const x;
  EXPECT_EQ(x.text(broken_task(x.w, x.tasks[4])), "t.run != nullptr");
  EXPECT_EQ(x.text(broken_private(x.w, x.tasks[4])), "t.run != nullptr");
}

TEST(direct_checks, name_a_stolen_task_that_another_worker_has) {
  worker_with_tasks x;
  direct_task& t = x.tasks[0];
  EXPECT_EQ(x.text(broken_stolen(t, k_thief)), "");
  EXPECT_NE(t.state.take_back(), direct_state::task);
  EXPECT_EQ(x.text(broken_stolen(t, k_thief)), "");
  static_cast<void>(t.state.wait());
  EXPECT_EQ(x.text(broken_stolen(t, k_thief)), "");
  t.state.give_back();
  EXPECT_EQ(x.text(broken_stolen(t, k_thief)),
            "state == stolen_by(thief) || state == direct_state::empty || state == direct_state::waited");
}

/// The owner waits for its oldest task.
struct waiting_worker : worker_with_tasks {
  waiting_worker() {
    w.top = tasks + 1;
    w.public_end.start_at(tasks + 1);
    w.split.answer(tasks + 1);
    tasks[1].state.clear();
  }
  std::string broken_wait(unsigned thief = k_thief) const { return text(broken_waiting(w, tasks[0], thief)); }
};

TEST(direct_checks, find_nothing_in_a_wait_as_it_should_be) {
  waiting_worker x;
  EXPECT_EQ(x.broken_wait(), "");
  EXPECT_NE(x.tasks[0].state.take_back(), direct_state::task);
  EXPECT_EQ(x.broken_wait(), "");
  x.tasks[0].state.pass();
  EXPECT_EQ(x.broken_wait(), "");
}

TEST(direct_checks, name_a_worker_that_waits_for_itself) {
  waiting_worker x;
  x.w.index = k_thief;
  EXPECT_EQ(x.broken_wait(), "thief != w.index");
}

TEST(direct_checks, name_a_thief_above_the_task_that_is_waited_for) {
  waiting_worker x;
  x.w.bot.start_at(x.tasks + 2);
  EXPECT_EQ(x.broken_wait(), "w.bot.look() <= &t + 1");
}

TEST(direct_checks, name_a_wait_for_a_private_task) {
  waiting_worker x;
  x.w.public_end.start_at(x.tasks);
  EXPECT_EQ(x.broken_wait(), "&t < w.public_end.get()");
}

TEST(direct_checks, name_a_wait_for_a_task_without_a_thief) {
  waiting_worker x;
  x.tasks[0].state.give_back();
  EXPECT_EQ(x.broken_wait(), "state != direct_state::task && state != direct_state::taken");
}

TEST(direct_checks, name_a_wait_for_another_thief) {
  waiting_worker const x;
  EXPECT_EQ(x.broken_wait(k_thief + 1), "!is_stolen(state) || state == stolen_by(thief)");
}

TEST(direct_checks, name_a_task_that_a_call_has_left) {
  worker_with_tasks x;
  EXPECT_EQ(x.text(broken_idle(x.w)), "w.top == w.first_task()");
  x.w.top = x.tasks;
  EXPECT_EQ(x.text(broken_idle(x.w)), "w.bot.look() == w.first_task()");
  x.w.bot.start_at(x.tasks);
  EXPECT_EQ(x.text(broken_idle(x.w)), "");
}

}  // namespace
}  // namespace filch_test
