// Answers to steal requests: tasks that are too long for one message together.
#include "network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace filch_test {
namespace {

using filch::message;
using filch::unpacker;
using filch::detail::message_kind;
using filch::detail::message_of;

/// Keeps the messages that this rank sends.
class keeping_port {
 public:
  explicit keeping_port(int rank) : rank_(rank) {}
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return 2; }
  void send(int, message m) { sent.push_back(std::move(m)); }
  std::optional<message> receive() { return std::nullopt; }
  void end_all(std::string_view text) { ADD_FAILURE() << text; }

  std::deque<message> sent;

 private:
  int const rank_;
};

constexpr std::size_t k_longest = 1'000;

/// The parts of an endpoint that answer requests.
struct parts {
  explicit parts(int rank) : here(rank) {}
  keeping_port here;
  filch::detail::transport_of<keeping_port> carrier{here};
  filch::detail::messenger messenger{carrier};
  filch::detail::heartbeats heartbeats{messenger, 0, 0};
  filch::detail::results results{messenger};
  filch::detail::endpoint_hints hints;
  filch::detail::requests requests{messenger, results, heartbeats, hints, k_longest};
};

std::size_t length(filch::rank&, std::string const& text) { return text.size(); }

/// Rank 0 has tasks with strings of these lengths, and all may go. Rank 1 gets half of them, the oldest.
struct answered {
  parts victim{0};
  parts thief{1};
  filch::detail::endpoint owner{victim.carrier, 0};
  filch::detail::rank_worker worker{owner, nullptr};

  explicit answered(std::initializer_list<std::size_t> lengths) {
    for (std::size_t const n : lengths) worker.spawn<&length>(nullptr, std::string(n, 'x'));
    thief.requests.send_request();
    message const request = thief.here.sent.at(0);
    unpacker u(request);
    EXPECT_EQ(filch::detail::get<message_kind>(u), message_kind::request);
    victim.requests.take_request(u);
    EXPECT_EQ(victim.requests.serve(worker.tasks, lengths.size(), 1), lengths.size() / 2);
  }
  std::deque<message>& sent() { return victim.here.sent; }
  /// Returns how many tasks have come.
  std::size_t receive(message const& m) {
    thief.requests.take_tasks(m);
    filch::detail::task_deque came;
    return thief.requests.move_inbox(came);
  }
};

TEST(cluster_answers, hold_several_tasks) {
  answered all{100, 100, 1, 1};
  ASSERT_EQ(all.sent().size(), 1u);
  EXPECT_EQ(all.receive(all.sent().front()), 2u);
  EXPECT_FALSE(all.thief.requests.is_under_way());
}

TEST(cluster_answers, that_would_be_too_long_are_two) {
  for (bool const in_order : {true, false}) {
    answered all{100, 100, 900, 1, 1, 1};
    ASSERT_EQ(all.sent().size(), 2u);
    for (message const& m : all.sent()) EXPECT_LE(m.size(), k_longest + 100) << "with its headers";
    if (!in_order) std::swap(all.sent().front(), all.sent().back());
    EXPECT_EQ(all.receive(all.sent().front()), in_order ? 2u : 1u);
    EXPECT_EQ(all.thief.requests.is_under_way(), in_order) << "the message with the long task ends the request";
    EXPECT_EQ(all.receive(all.sent().back()), in_order ? 1u : 2u);
    EXPECT_FALSE(all.thief.requests.is_under_way());
    EXPECT_EQ(all.victim.messenger.basic().sent, 2u);
    EXPECT_EQ(all.thief.messenger.basic().received, 2u);
  }
}

TEST(cluster_answers, of_one_task_are_one_however_long) {
  answered all{2 * k_longest, 1};
  ASSERT_EQ(all.sent().size(), 1u);
  EXPECT_EQ(all.receive(all.sent().front()), 1u);
}

}  // namespace
}  // namespace filch_test
