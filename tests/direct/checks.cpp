// Each invariant of filch::direct (src/schedulers/direct/checks.hpp) is broken once, in a worker with nothing else
// wrong, and the check names it.
#include "schedulers/direct/checks.hpp"

#include "broken.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace filch_test {
namespace {

using filch::detail::direct_member;
using filch::detail::direct_run_nothing;
using filch::detail::direct_state;
using filch::detail::direct_task;

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
};

TEST(direct_checks, find_nothing_in_a_requested_worker) {
  worker_with_tasks x;
  x.w.split.request();
  EXPECT_EQ(x.broken(), "");
}

TEST(direct_checks, name_each_broken_word_of_a_worker) {
  expect_named<worker_with_tasks>({
      {"base <= bot", [](auto& x) { x.w.bot.start_at(x.tasks - 1); }},
      {"bot <= public_end", [](auto& x) { x.w.bot.start_at(x.tasks + 3); }},
      {"public_end <= w.end", [](auto& x) { x.w.public_end.start_at(x.tasks + 9); }},
      {"bot <= top", [](auto& x) { x.w.top = x.tasks; }},
      {"top <= w.end", [](auto& x) { x.w.top = x.tasks + 9; }},
      {"w.split.is_at(public_end) || w.split.is_requested()",
       [](auto& x) {
         x.tasks[2].state.publish();
         x.w.public_end.raise(x.tasks + 3);
       }},
      {"bot == base || bot[-1].state.unordered() != direct_state::task",
       [](auto& x) { x.tasks[0].state.give_back(); }},
      {"public_end == w.end || public_end->state.unordered() == direct_state::empty",
       [](auto& x) { x.tasks[2].state.publish(); }},
      {"top == w.end || top->state.unordered() == direct_state::empty", [](auto& x) { x.tasks[4].state.pass(); }},
      {"w.inlined_in_a_row < k_inlined_until_private",
       [](auto& x) { x.w.inlined_in_a_row = filch::detail::k_inlined_until_private; }},
  });
}

TEST(direct_checks, name_each_broken_word_of_a_task) {
  worker_with_tasks x;
  worker_with_tasks const other;
  EXPECT_EQ(text(broken_task(x.w, x.tasks[1])), "");
  EXPECT_EQ(text(broken_task(x.w, other.tasks[1])), "w.first_task() <= &t && &t < w.end");
  EXPECT_EQ(text(broken_task(x.w, x.tasks[4])), "t.run != nullptr");
  EXPECT_EQ(text(broken_private(x.w, x.tasks[4])), "t.run != nullptr");
  x.tasks[2].state.publish();
  EXPECT_EQ(text(broken_private(x.w, x.tasks[2])), "t.state.unordered() == direct_state::empty");
}

TEST(direct_checks, name_a_stolen_task_that_another_worker_has) {
  worker_with_tasks x;
  direct_task& t = x.tasks[0];
  EXPECT_EQ(text(broken_stolen(t, k_thief)), "");
  EXPECT_NE(t.state.take_back(), direct_state::task);
  EXPECT_EQ(text(broken_stolen(t, k_thief)), "");
  static_cast<void>(t.state.wait());
  EXPECT_EQ(text(broken_stolen(t, k_thief)), "");
  t.state.give_back();
  EXPECT_EQ(text(broken_stolen(t, k_thief)),
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
  unsigned thief = k_thief;

  std::string broken() const { return text(broken_waiting(w, tasks[0], thief)); }
};

TEST(direct_checks, find_nothing_in_a_wait_that_goes_on) {
  waiting_worker x;
  EXPECT_NE(x.tasks[0].state.take_back(), direct_state::task);
  EXPECT_EQ(x.broken(), "");
  x.tasks[0].state.pass();
  EXPECT_EQ(x.broken(), "");
}

TEST(direct_checks, name_each_broken_word_of_a_wait) {
  expect_named<waiting_worker>({
      {"thief != w.index", [](auto& x) { x.w.index = k_thief; }},
      {"w.bot.look() <= &t + 1", [](auto& x) { x.w.bot.start_at(x.tasks + 2); }},
      {"&t < w.public_end.get()", [](auto& x) { x.w.public_end.start_at(x.tasks); }},
      {"state != direct_state::task && state != direct_state::taken", [](auto& x) { x.tasks[0].state.give_back(); }},
      {"!is_stolen(state) || state == stolen_by(thief)", [](auto& x) { ++x.thief; }},
  });
}

TEST(direct_checks, name_a_task_that_a_call_has_left) {
  worker_with_tasks x;
  EXPECT_EQ(text(broken_idle(x.w)), "w.top == w.first_task()");
  x.w.top = x.tasks;
  EXPECT_EQ(text(broken_idle(x.w)), "w.bot.look() == w.first_task()");
  x.w.bot.start_at(x.tasks);
  EXPECT_EQ(text(broken_idle(x.w)), "");
}

}  // namespace
}  // namespace filch_test
