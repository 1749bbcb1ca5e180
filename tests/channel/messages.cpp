// The task channel: which worker may claim it, send, and take a message back. The call counter.
#include "schedulers/channel/words.hpp"

#include <gtest/gtest.h>

#include <array>

namespace filch_test {
namespace {

using namespace filch::detail;

constexpr unsigned k_sender = 2;
constexpr unsigned k_other = 1;

constexpr task_root call = task_root::of_call(0, 1);
constexpr task_root same_place = task_root::of_call(0, 2);

struct sent {
  std::array<channel_task, 3> tasks{};
  task_channel to_thief;

  sent() {
    to_thief.open(task_root::any());
    EXPECT_TRUE(to_thief.claim(call));
    to_thief.send({.first = tasks.data(),
                   .last = tasks.data() + tasks.size(),
                   .owner = k_sender,
                   .from = k_sender,
                   .root = call});
  }
};

TEST(messages, are_taken_back_whole) {
  sent s;
  EXPECT_EQ(s.to_thief.take_back(s.tasks.back(), k_sender), s.tasks.data());
  auto const rest = s.to_thief.receive();
  ASSERT_TRUE(rest.has_value()) << "the thief was told of a message";
  EXPECT_TRUE(rest->is_empty());
}

TEST(messages, are_sent_anew_where_a_task_was_taken_back) {
  sent s;
  EXPECT_EQ(s.to_thief.wanted(), std::nullopt);
  EXPECT_NE(s.to_thief.take_back(s.tasks.back(), k_sender), nullptr);
  EXPECT_FALSE(s.to_thief.is_unanswered()) << "the thief would sleep, and not request anew";
  EXPECT_FALSE(s.to_thief.try_close());
  ASSERT_EQ(s.to_thief.wanted(), call);
  EXPECT_FALSE(s.to_thief.claim(same_place));
  ASSERT_TRUE(s.to_thief.claim(call));
  s.to_thief.send(
      {.first = s.tasks.data(), .last = s.tasks.data() + 1, .owner = k_other, .from = k_other, .root = call});
  EXPECT_EQ(s.to_thief.receive().value().size(), 1u);
}

TEST(messages, are_sent_anew_to_thieves_that_take_any) {
  std::array<channel_task, 1> tasks{};
  task_channel to_thief;
  to_thief.open(task_root::any());
  ASSERT_TRUE(to_thief.claim(call));
  to_thief.send({.first = tasks.data(),
                 .last = tasks.data() + 1,
                 .owner = k_sender,
                 .from = k_sender,
                 .is_for_any_root = true,
                 .root = call});
  EXPECT_EQ(to_thief.take_back(tasks.back(), k_sender), tasks.data());
  EXPECT_TRUE(to_thief.claim(same_place));
}

TEST(messages, are_taken_back_by_their_sender) {
  sent s;
  EXPECT_EQ(s.to_thief.take_back(s.tasks.back(), k_other), nullptr);
  EXPECT_EQ(s.to_thief.receive().value().size(), s.tasks.size());
}

TEST(messages, are_taken_back_at_their_last_task) {
  sent s;
  EXPECT_EQ(s.to_thief.take_back(s.tasks.front(), k_sender), nullptr);
  EXPECT_EQ(s.to_thief.receive().value().size(), s.tasks.size());
}

TEST(messages, are_not_taken_back_once_the_thief_has_looked) {
  sent s;
  EXPECT_TRUE(s.to_thief.receive().has_value());
  EXPECT_EQ(s.to_thief.take_back(s.tasks.back(), k_sender), nullptr);
}

TEST(messages, are_of_the_call_of_the_thief_s_request) {
  task_channel to_thief;
  to_thief.open(call);
  ASSERT_EQ(to_thief.wanted(), call);
  EXPECT_FALSE(to_thief.claim(same_place)) << "its caller has left";
  EXPECT_FALSE(to_thief.claim(task_root::of_call(1, 1)));
  EXPECT_FALSE(to_thief.claim(task_root::left_behind()));
  EXPECT_TRUE(to_thief.claim(call));
  EXPECT_FALSE(to_thief.claim(call)) << "twice";
}

TEST(messages, are_for_the_root_that_is_claimed) {
  task_channel to_thief;
  to_thief.open(task_root::any());
  EXPECT_EQ(to_thief.wanted(), task_root::any());
  // Another victim answers, and the thief asks anew before the first one claims.
  EXPECT_TRUE(to_thief.try_close());
  to_thief.open(call);
  EXPECT_EQ(to_thief.claim(call), call) << "a message that is taken back would leave the channel open for any root";
}

TEST(messages, are_not_sent_after_the_thief_withdrew) {
  task_channel to_thief;
  to_thief.open(call);
  EXPECT_TRUE(to_thief.try_close());
  EXPECT_EQ(to_thief.wanted(), std::nullopt);
  EXPECT_FALSE(to_thief.claim(call));
}

TEST(messages, on_their_way_cannot_be_withdrawn) {
  task_channel to_thief;
  to_thief.open(call);
  EXPECT_TRUE(to_thief.claim(call));
  EXPECT_FALSE(to_thief.try_close());
}

TEST(call_counter, is_over_when_no_other_worker_has_tasks) {
  call_counter c;
  c.begin(call);
  EXPECT_TRUE(c.is_over(call, 0));
  c.add(call);
  c.add(call);
  EXPECT_FALSE(c.subtract(call));
  EXPECT_FALSE(c.is_over(call, 0));
  EXPECT_TRUE(c.is_over(call, 1)) << "except the asking worker";
  EXPECT_TRUE(c.subtract(call));
  EXPECT_TRUE(c.is_over(call, 0));
}

TEST(call_counter, ignores_tasks_of_earlier_calls) {
  call_counter c;
  c.begin(call);
  c.add(call);
  c.begin(same_place);
  c.add(call);
  EXPECT_FALSE(c.subtract(call));
  EXPECT_TRUE(c.is_over(same_place, 0));
}

}  // namespace
}  // namespace filch_test
