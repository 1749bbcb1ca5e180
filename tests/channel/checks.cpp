// Each invariant of filch::channel (src/schedulers/channel/checks.hpp) is broken once, with nothing else wrong, and
// the check names it.
#include "schedulers/channel/checks.hpp"

#include "broken.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

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
  std::array<channel_task, 2> others{};  // another worker's
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
  std::string broken() const { return text(filch::detail::broken(w)); }
};

TEST(checks_of_worker, hold_between_steps) {
  worker_of_test t;
  EXPECT_EQ(t.broken(), "");
  t.fork(3);
  EXPECT_EQ(t.broken(), "");
  t.send_one();
  EXPECT_EQ(t.broken(), "");
  t.request_tasks();
  EXPECT_EQ(t.broken(), "");
  t.w.detached.push(t.detached);
  t.w.is_counted = true;
  EXPECT_EQ(t.broken(), "");
}

TEST(checks_of_worker, hold_while_a_request_is_answered) {
  worker_of_test t;
  t.fork(1);
  t.request_tasks();
  ASSERT_TRUE(t.own.tasks.claim(k_call));
  EXPECT_EQ(t.broken(), "");
  t.own.tasks.send({.from = k_other, .root = k_call});
  EXPECT_EQ(t.broken(), "");
}

TEST(checks_of_worker, hold_in_a_join_whose_task_was_sent_away) {
  worker_of_test t;
  t.fork(1);
  t.send_one();
  --t.w.top;
  EXPECT_EQ(t.broken(), "");
}

TEST(checks_of_worker, name_each_broken_word_of_the_task_array) {
  expect_named<worker_of_test>({
      {"w.tasks_begin() <= w.floor", [](auto& t) { --t.w.floor; }},
      {"w.floor <= w.bottom", [](auto& t) { t.w.floor = t.w.bottom + 1; },
       [](auto& t) {
         t.fork(2);
         t.send_one();
       }},
      {"w.bottom <= w.top + 1", [](auto& t) { t.move_bottom(2); }},
      {"w.top <= w.end", [](auto& t) { t.fork(5); }},
      {"w.doorbell.is_at(w.bottom)",
       [](auto& t) {
         t.w.bottom->future.expect_from(k_other);
         ++t.w.bottom;
       },
       [](auto& t) { t.fork(2); }},
      {"w.bottom >= w.top || w.bottom->future.is_empty()", [](auto& t) { t.w.bottom->future.mark_returned(); },
       [](auto& t) { t.fork(2); }},
      {"w.bottom >= w.top || w.top[-1].future.is_empty()", [](auto& t) { t.w.top[-1].future.expect_from(k_other); },
       [](auto& t) { t.fork(2); }},
      {"w.bottom == w.floor || !w.bottom[-1].future.is_empty()", [](auto& t) { t.move_bottom(1); },
       [](auto& t) { t.fork(2); }},
  });
}

TEST(checks_of_worker, hold_without_a_place_in_the_doorbell_while_there_are_requests) {
  worker_of_test t;
  t.fork(2);
  t.w.bottom->future.expect_from(k_other);
  ++t.w.bottom;
  t.w.doorbell.ring();
  EXPECT_EQ(t.broken(), "");
}

TEST(checks_of_worker, name_each_broken_word_of_received_and_detached_tasks) {
  char const* const counted =
      "w.is_counted == (counts_detached(w) && (!w.detached.is_empty() || w.detached_running != 0))";
  expect_named<worker_of_test>({
      {"w.received.first <= w.received.last",
       [](auto& t) {
         t.w.received.first = &t.others[1];
         t.w.received.last = &t.others[0];
       }},
      {"w.received.detached.is_empty()", [](auto& t) { t.w.received.detached.push(t.detached); }},
      {"w.received.is_empty() || w.received.root == w.root", [](auto& t) { t.w.received.root = k_other_call; },
       [](auto& t) {
         t.w.root = k_call;
         t.w.received = {.first = &t.others[0], .last = &t.others[1], .owner = k_other, .root = k_call};
       }},
      {"!w.root.is_any() || w.has_no_task()", [](auto& t) { t.w.root = task_root::any(); },
       [](auto& t) { t.fork(1); }},
      {"!w.root.is_any() || w.detached_running == 0", [](auto& t) { t.w.detached_running = 1; }},
      {counted, [](auto& t) { t.w.detached_running = 1; }, [](auto& t) { t.fork(1); }},
      {counted, [](auto& t) { t.w.detached.push(t.detached); }, [](auto& t) { t.fork(1); }},
      {counted, [](auto& t) { t.w.is_counted = true; }, [](auto& t) { t.fork(1); }},
  });
}

TEST(checks_of_worker, name_each_broken_word_of_its_request) {
  expect_named<worker_of_test>({
      {"w.is_requesting == !w.own->tasks.is_closed()", [](auto& t) { t.own.tasks.open(task_root::any()); }},
      {"w.is_requesting == !w.own->tasks.is_closed()", [](auto& t) { EXPECT_TRUE(t.own.tasks.try_close()); },
       [](auto& t) { t.request_tasks(); }},
      {"!w.is_requesting || w.mine.thief == w.index", [](auto& t) { t.w.mine.thief = k_other; },
       [](auto& t) { t.request_tasks(); }},
      {"!w.is_requesting || w.own->tasks.is_open_for(w.wanted_root)",
       [](auto& t) {
         EXPECT_TRUE(t.own.tasks.try_close());
         t.own.tasks.open(task_root::any());
       },
       [](auto& t) {
         t.fork(1);
         t.request_tasks();
       }},
      {"!w.is_requesting || w.wanted_root == w.root || w.root.is_any()", [](auto& t) { t.fork(1); },
       [](auto& t) { t.request_tasks(); }},  // for any root
  });
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
  std::string broken() const { return text(filch::detail::broken(m, t.w)); }
};

TEST(checks_of_message, hold_for_tasks_and_for_detached_tasks) {
  message_of_test s;
  EXPECT_EQ(s.broken(), "");
  s.m.last = s.m.first;
  EXPECT_EQ(s.broken(), "") << "taken back";
  s.m.detached.push(s.t.detached);
  EXPECT_EQ(s.broken(), "");
}

TEST(checks_of_message, name_each_broken_word) {
  expect_named<message_of_test>({
      {"message.first <= message.last", [](auto& s) { std::swap(s.m.first, s.m.last); }},
      {"message.is_empty() || message.detached.is_empty()", [](auto& s) { s.m.detached.push(s.t.detached); }},
      {"!message.is_lone || (message.size() <= 1 && message.detached.is_empty())",
       [](auto& s) { s.m.is_lone = true; }},
      {"message.from != thief.index", [](auto& s) { s.m.from = k_me; }},
      {"message.size() == 0 || !message.root.is_any()", [](auto& s) { s.m.root = task_root::any(); }},
      {"message.size() == 0 || thief.wanted_root.admits(message.root)", [](auto& s) { s.m.root = k_other_call; }},
      {"message.is_for_any_root == thief.wanted_root.is_any()", [](auto& s) { s.m.is_for_any_root = true; }},
  });
}

// ---- requests ------------------------------------------------------------------------------------

/// A request of another worker, in its slot.
struct request_of_test {
  worker_of_test t;
  request r{.thief = k_other, .hops = 2};
  unsigned slot = k_other;

  std::string broken() const { return text(filch::detail::broken(r, slot, t.w)); }
};

TEST(checks_of_request, hold_for_each_request_of_a_thief) {
  request_of_test s;
  s.r = {.thief = k_other, .is_broadcast = true};
  EXPECT_EQ(s.broken(), "");
}

TEST(checks_of_request, name_each_broken_word) {
  expect_named<request_of_test>({
      {"r.is_there == 1", [](auto& s) { s.r.is_there = 0; }},
      {"r.thief == slot", [](auto& s) { ++s.slot; }},
      {"r.thief != victim.index",
       [](auto& s) {
         s.r.thief = k_me;
         s.slot = k_me;
       }},
      {"!r.is_broadcast || r.hops == 0", [](auto& s) { s.r.is_broadcast = true; }},
  });
}

}  // namespace
}  // namespace filch_test
