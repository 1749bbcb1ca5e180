// The invariants of filch::channel: each test breaks one, and sees just that one named.
#include "schedulers/channel/checks.hpp"

#include <gtest/gtest.h>

#include <array>

namespace filch_test {
namespace {

using namespace filch::detail;

constexpr unsigned k_me = 1;
constexpr unsigned k_other = 2;
constexpr unsigned k_places = 4;

constexpr task_root k_call = task_root::of_call(0, 1);
constexpr task_root k_other_call = task_root::of_call(0, 2);

/// A worker with its task array, between two steps.
struct worker_of_test {
  channel_member w;
  std::array<channel_task, 4> tasks{};
  place_channels own{k_places};
  channel_closure<void (*)()> detached{+[] {}};

  worker_of_test() {
    w.own = &own;
    w.index = k_me;
    w.top = w.bottom = w.floor = tasks.data();
    w.end = tasks.data() + tasks.size();
    w.doorbell.clear(w.bottom);
    EXPECT_EQ(w.tasks_begin(), tasks.data());
  }
  /// Forks so many tasks.
  void fork(std::size_t n) {
    w.root = k_call;
    w.top += n;
  }
  /// Sends the oldest private one away.
  void send_one() {
    w.bottom->future.expect_from(k_other);
    move_bottom(1);
  }
  void move_bottom(std::ptrdiff_t by) {
    channel_task* const before = w.bottom;
    w.bottom += by;
    w.doorbell.move(before, w.bottom);
  }
  void request_tasks() {
    w.is_requesting = true;
    w.mine.thief = k_me;
    w.wanted_root = w.root;
    own.tasks.open(w.wanted_root);
  }
};

TEST(checks_of_worker, hold_between_steps) {
  worker_of_test t;
  EXPECT_STREQ(broken(t.w), nullptr);
  t.fork(3);
  EXPECT_STREQ(broken(t.w), nullptr);
  t.send_one();
  EXPECT_STREQ(broken(t.w), nullptr);
  t.request_tasks();
  EXPECT_STREQ(broken(t.w), nullptr);
  t.w.detached.push(t.detached);
  t.w.is_counted = true;
  EXPECT_STREQ(broken(t.w), nullptr);
}

TEST(checks_of_worker, hold_while_a_request_is_answered) {
  worker_of_test t;
  t.fork(1);
  t.request_tasks();
  ASSERT_TRUE(t.own.tasks.claim(k_call));
  EXPECT_STREQ(broken(t.w), nullptr);
  t.own.tasks.send({.from = k_other, .root = k_call});
  EXPECT_STREQ(broken(t.w), nullptr);
}

TEST(checks_of_worker, hold_in_a_join_whose_task_was_sent_away) {
  worker_of_test t;
  t.fork(1);
  t.send_one();
  --t.w.top;
  EXPECT_STREQ(broken(t.w), nullptr);
}

TEST(checks_of_worker, find_a_floor_below_the_task_array) {
  worker_of_test t;
  --t.w.floor;
  EXPECT_STREQ(broken(t.w), "w.tasks_begin() <= w.floor");
}

TEST(checks_of_worker, find_a_bottom_below_the_floor) {
  worker_of_test t;
  t.fork(2);
  t.send_one();
  t.w.floor = t.w.bottom + 1;
  EXPECT_STREQ(broken(t.w), "w.floor <= w.bottom");
}

TEST(checks_of_worker, find_a_task_sent_away_that_was_not_forked) {
  worker_of_test t;
  t.move_bottom(2);
  EXPECT_STREQ(broken(t.w), "w.bottom <= w.top + 1");
}

TEST(checks_of_worker, find_a_task_behind_the_array) {
  worker_of_test t;
  t.fork(5);
  EXPECT_STREQ(broken(t.w), "w.top <= w.end");
}

TEST(checks_of_worker, find_a_doorbell_that_was_not_moved) {
  worker_of_test t;
  t.fork(2);
  t.w.bottom->future.expect_from(k_other);
  ++t.w.bottom;
  EXPECT_STREQ(broken(t.w), "w.doorbell.is_at(w.bottom)");
  t.w.doorbell.ring();
  EXPECT_STREQ(broken(t.w), nullptr) << "no place is kept while there are requests";
}

TEST(checks_of_worker, find_the_oldest_private_task_with_a_message) {
  worker_of_test t;
  t.fork(2);
  t.w.bottom->future.mark_returned();
  EXPECT_STREQ(broken(t.w), "w.bottom >= w.top || w.bottom->future.is_empty()");
}

TEST(checks_of_worker, find_the_newest_private_task_sent_away) {
  worker_of_test t;
  t.fork(2);
  t.w.top[-1].future.expect_from(k_other);
  EXPECT_STREQ(broken(t.w), "w.bottom >= w.top || w.top[-1].future.is_empty()");
}

TEST(checks_of_worker, find_a_private_task_among_those_sent_away) {
  worker_of_test t;
  t.fork(2);
  t.move_bottom(1);
  EXPECT_STREQ(broken(t.w), "w.bottom == w.floor || !w.bottom[-1].future.is_empty()");
}

TEST(checks_of_worker, find_received_tasks_that_end_before_they_begin) {
  worker_of_test t;
  std::array<channel_task, 2> others{};
  t.w.received.first = &others[1];
  t.w.received.last = &others[0];
  EXPECT_STREQ(broken(t.w), "w.received.first <= w.received.last");
}

TEST(checks_of_worker, find_detached_tasks_among_those_received) {
  worker_of_test t;
  t.w.received.detached.push(t.detached);
  EXPECT_STREQ(broken(t.w), "w.received.detached.is_empty()");
}

TEST(checks_of_worker, find_received_tasks_of_another_call) {
  worker_of_test t;
  std::array<channel_task, 1> others{};
  t.w.received = {.first = others.data(), .last = others.data() + 1, .owner = k_other, .root = k_other_call};
  t.w.root = k_call;
  EXPECT_STREQ(broken(t.w), "w.received.is_empty() || w.received.root == w.root");
}

TEST(checks_of_worker, find_tasks_without_a_root) {
  worker_of_test t;
  t.fork(1);
  t.w.root = task_root::any();
  EXPECT_STREQ(broken(t.w), "!w.root.is_any() || w.has_no_task()");
}

TEST(checks_of_worker, find_a_running_detached_task_without_a_root) {
  worker_of_test t;
  t.w.detached_running = 1;
  EXPECT_STREQ(broken(t.w), "!w.root.is_any() || w.detached_running == 0");
}

TEST(checks_of_worker, find_a_task_channel_that_is_open_without_a_request) {
  worker_of_test t;
  t.own.tasks.open(task_root::any());
  EXPECT_STREQ(broken(t.w), "w.is_requesting == !w.own->tasks.is_closed()");
}

TEST(checks_of_worker, find_a_request_whose_task_channel_is_closed) {
  worker_of_test t;
  t.request_tasks();
  ASSERT_TRUE(t.own.tasks.try_close());
  EXPECT_STREQ(broken(t.w), "w.is_requesting == !w.own->tasks.is_closed()");
}

TEST(checks_of_worker, find_a_request_in_the_name_of_another_thief) {
  worker_of_test t;
  t.request_tasks();
  t.w.mine.thief = k_other;
  EXPECT_STREQ(broken(t.w), "!w.is_requesting || w.mine.thief == w.index");
}

TEST(checks_of_worker, find_a_task_channel_that_is_open_for_another_root) {
  worker_of_test t;
  t.fork(1);
  t.request_tasks();
  ASSERT_TRUE(t.own.tasks.try_close());
  t.own.tasks.open(task_root::any());
  EXPECT_STREQ(broken(t.w), "!w.is_requesting || w.own->tasks.is_open_for(w.wanted_root)");
}

TEST(checks_of_worker, find_a_request_for_tasks_of_another_call) {
  worker_of_test t;
  t.request_tasks();  // for any
  t.fork(1);
  EXPECT_STREQ(broken(t.w), "!w.is_requesting || w.wanted_root == w.root || w.root.is_any()");
}

TEST(checks_of_worker, find_detached_tasks_that_are_not_counted) {
  char const* const condition =
      "w.is_counted == (counts_detached(w) && (!w.detached.is_empty() || w.detached_running != 0))";
  worker_of_test t;
  t.fork(1);
  t.w.detached_running = 1;
  EXPECT_STREQ(broken(t.w), condition);
  t.w.detached_running = 0;
  t.w.detached.push(t.detached);
  EXPECT_STREQ(broken(t.w), condition);
}

TEST(checks_of_worker, find_a_count_that_stayed_behind) {
  worker_of_test t;
  t.fork(1);
  t.w.is_counted = true;
  EXPECT_STREQ(broken(t.w),
               "w.is_counted == (counts_detached(w) && (!w.detached.is_empty() || w.detached_running != 0))");
}

// ---- messages ------------------------------------------------------------------------------------

/// A message to a thief that wants tasks of one call.
struct message_of_test {
  worker_of_test t;
  std::array<channel_task, 2> tasks{};
  batch m;

  message_of_test() {
    t.fork(0);
    t.request_tasks();
    m.first = tasks.data();
    m.last = m.first + tasks.size();
    m.owner = m.from = k_other;
    m.root = k_call;
  }
};

TEST(checks_of_message, hold_for_tasks_and_for_detached_tasks) {
  message_of_test s;
  EXPECT_STREQ(broken(s.m, s.t.w), nullptr);
  s.m.last = s.m.first;
  EXPECT_STREQ(broken(s.m, s.t.w), nullptr) << "taken back";
  s.m.detached.push(s.t.detached);
  EXPECT_STREQ(broken(s.m, s.t.w), nullptr);
}

TEST(checks_of_message, find_tasks_that_end_before_they_begin) {
  message_of_test s;
  std::swap(s.m.first, s.m.last);
  EXPECT_STREQ(broken(s.m, s.t.w), "message.first <= message.last");
}

TEST(checks_of_message, find_tasks_of_both_kinds) {
  message_of_test s;
  s.m.detached.push(s.t.detached);
  EXPECT_STREQ(broken(s.m, s.t.w), "message.is_empty() || message.detached.is_empty()");
}

TEST(checks_of_message, find_a_thief_that_sent_to_itself) {
  message_of_test s;
  s.m.from = k_me;
  EXPECT_STREQ(broken(s.m, s.t.w), "message.from != thief.index");
}

TEST(checks_of_message, find_tasks_without_a_root) {
  message_of_test s;
  s.m.root = task_root::any();
  EXPECT_STREQ(broken(s.m, s.t.w), "message.size() == 0 || !message.root.is_any()");
}

TEST(checks_of_message, find_tasks_of_a_call_that_the_thief_does_not_want) {
  message_of_test s;
  s.m.root = k_other_call;
  EXPECT_STREQ(broken(s.m, s.t.w), "message.size() == 0 || thief.wanted_root.admits(message.root)");
}

TEST(checks_of_message, find_a_sender_that_takes_the_thief_for_an_idle_one) {
  message_of_test s;
  s.m.is_for_any_root = true;
  EXPECT_STREQ(broken(s.m, s.t.w), "message.is_for_any_root == thief.wanted_root.is_any()");
}

// ---- requests ------------------------------------------------------------------------------------

TEST(checks_of_request, hold_for_each_request_of_a_thief) {
  worker_of_test t;
  EXPECT_STREQ(broken(request{.thief = k_other, .hops = 2}, k_other, t.w), nullptr);
  EXPECT_STREQ(broken(request{.thief = k_other, .is_broadcast = true}, k_other, t.w), nullptr);
}

TEST(checks_of_request, find_one_that_looks_like_an_empty_slot) {
  worker_of_test t;
  EXPECT_STREQ(broken(request{.thief = k_other, .is_there = 0}, k_other, t.w), "r.is_there == 1");
}

TEST(checks_of_request, find_one_in_the_slot_of_another_thief) {
  worker_of_test t;
  EXPECT_STREQ(broken(request{.thief = k_other}, k_other + 1, t.w), "r.thief == slot");
}

TEST(checks_of_request, find_one_that_the_victim_sent_itself) {
  worker_of_test t;
  EXPECT_STREQ(broken(request{.thief = k_me}, k_me, t.w), "r.thief != victim.index");
}

TEST(checks_of_request, find_a_broadcast_one_that_was_passed_on) {
  worker_of_test t;
  EXPECT_STREQ(broken(request{.thief = k_other, .hops = 1, .is_broadcast = true}, k_other, t.w),
               "!r.is_broadcast || r.hops == 0");
}

}  // namespace
}  // namespace filch_test
