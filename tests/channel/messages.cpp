// The channel to a thief: who may take a message back, and what becomes of it.
#include "schedulers/channel/channels.hpp"

#include <gtest/gtest.h>

#include <array>

namespace filch_test {
namespace {

using namespace filch::detail;

constexpr unsigned k_sender = 2;
constexpr unsigned k_other = 1;

struct sent {
  std::array<channel_task, 3> tasks{};
  task_channel to_thief;

  sent() {
    to_thief.open();
    EXPECT_EQ(to_thief.claim(), claim_result::of_busy);
    to_thief.send({tasks.data(), tasks.data() + tasks.size(), k_sender, k_sender, {}});
  }
};

TEST(messages, are_taken_back_whole) {
  sent s;
  EXPECT_EQ(s.to_thief.take_back(s.tasks.back(), k_sender), s.tasks.data());
  auto const rest = s.to_thief.receive();
  ASSERT_TRUE(rest.has_value()) << "the thief was told of a message";
  EXPECT_TRUE(rest->is_empty());
}

TEST(messages, are_taken_back_by_who_sent_them) {
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

}  // namespace
}  // namespace filch_test
