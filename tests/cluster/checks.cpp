// Each condition of the endpoint's parts is broken once, by a message or a call that no right rank sends or makes,
// and the part names it.
#include "network.hpp"

#include <gtest/gtest.h>

#include <string>

namespace filch_test {
namespace {

using filch::message;
using filch::unpacker;
using filch::detail::message_kind;
using filch::detail::message_of;

/// Sends nothing.
class silent_port {
 public:
  silent_port(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }
  void send(int, message) {}
  std::optional<message> receive() { return std::exchange(arriving, std::nullopt); }
  void end_all(std::string_view) {}

  std::optional<message> arriving;

 private:
  int const rank_;
  int const ranks_;
};

/// The parts of an endpoint, without one.
struct parts {
  explicit parts(int rank = 0, int ranks = 4) : here(rank, ranks) {}

  silent_port here;
  filch::detail::transport_of<silent_port> carrier{here};
  filch::detail::messenger messenger{carrier};
  filch::detail::bound_values values;
  filch::detail::bounds bounds{messenger, values};
  filch::detail::termination termination{messenger, bounds};
  filch::detail::heartbeats heartbeats{messenger, 20, 0};
  filch::detail::results results{messenger};
  filch::detail::endpoint_hints hints;
  filch::detail::requests requests{messenger, results, heartbeats, hints};
  filch::detail::reduction reduction{messenger};

  void take_request(std::int32_t thief, std::int32_t hops, std::int32_t stride) {
    message const m = message_of(thief, hops, stride);
    unpacker u(m);
    requests.take_request(u);
  }
  void take_counts() {
    message const m = message_of(std::uint64_t{0}, std::uint64_t{0});
    unpacker u(m);
    termination.take_counts(u);
  }
  void take_heartbeat() {
    message const m = message_of(std::uint64_t{0}, false);
    unpacker u(m);
    heartbeats.take_heartbeat(u);
  }
};

template <class Part> std::string broken(Part const& part) {
  auto const condition = part.broken();
  return condition ? condition : "";
}

TEST(cluster_checks, find_nothing_in_a_new_endpoint) {
  parts x;
  EXPECT_EQ(broken(x.messenger), "");
  EXPECT_EQ(broken(x.bounds), "");
  EXPECT_EQ(broken(x.termination), "");
  EXPECT_EQ(broken(x.heartbeats), "");
  EXPECT_EQ(broken(x.requests), "");
  EXPECT_EQ(broken(x.reduction), "");
}

// Messages

TEST(cluster_checks, name_a_basic_message_that_is_not_counted) {
  parts x;
  x.messenger.send_basic(1, message_of(message_kind::up));
  EXPECT_EQ(broken(x.messenger), "basic_.sent <= counted_.sent");
}

TEST(cluster_checks, name_a_basic_message_that_never_arrived) {
  parts x;
  x.messenger.count_received_basic();
  EXPECT_EQ(broken(x.messenger), "basic_.received <= counted_.received");
}

TEST(cluster_checks, name_statistics_behind_the_counters) {
  parts x;
  x.messenger.send(1, message_of(message_kind::probe));
  EXPECT_EQ(broken(x.messenger), "");
  x.messenger.stats = {};
  EXPECT_EQ(broken(x.messenger), "counted_.sent <= stats.messages");
}

// Requests

TEST(cluster_checks, name_two_requests_of_this_rank) {
  parts x;
  x.take_request(0, 3, 1);
  EXPECT_EQ(broken(x.requests), "");
  x.requests.send_request();  // before a look has taken note of the first one
  EXPECT_EQ(broken(x.requests), "!under_way_ || !was_refused_");
}

long nothing(filch::rank&) { return 0; }

TEST(cluster_checks, name_tasks_that_no_worker_would_find) {
  parts x;
  silent_port nowhere(0, 4);
  filch::detail::transport_of<silent_port> carrier(nowhere);
  filch::detail::endpoint owner(carrier, 0);
  filch::detail::rank_worker worker(owner, nullptr);
  for (int i = 0; i < 2; ++i) worker.spawn<&nothing>(nullptr);
  x.hints.worker_waits.write(true);
  static_cast<void>(x.requests.look(worker.tasks, 1, false, filch::detail::look_weight::working));
  EXPECT_EQ(worker.tasks.size(), 1u);
  EXPECT_EQ(broken(x.requests), "");
  x.hints.has_arrived.write(false);
  EXPECT_EQ(broken(x.requests), "inbox_.empty() || hints_.has_arrived.read()");
}

TEST(cluster_checks, name_more_requests_than_thieves) {
  parts x;
  for (int i = 0; i < 3; ++i) x.take_request(i + 1, 0, 1);
  EXPECT_EQ(broken(x.requests), "");
  x.take_request(1, 0, 1);
  EXPECT_EQ(broken(x.requests), "list_.size() < static_cast<std::size_t>(messenger_.ranks())");
}

TEST(cluster_checks, name_a_thief_that_is_no_rank) {
  for (std::int32_t const thief : {-1, 4}) {
    parts x;
    x.take_request(thief, 0, 1);
    EXPECT_EQ(broken(x.requests), "0 <= request.thief && request.thief < messenger_.ranks()");
  }
}

TEST(cluster_checks, name_a_request_that_met_all_ranks_and_did_not_go_back) {
  for (std::int32_t const hops : {-1, 3}) {
    parts x;
    x.take_request(1, hops, 1);
    EXPECT_EQ(broken(x.requests), "0 <= request.hops && request.hops < messenger_.ranks() - 1");
  }
}

TEST(cluster_checks, name_a_stride_that_misses_ranks) {
  parts x;
  x.take_request(1, 0, 2);
  EXPECT_EQ(broken(x.requests), "std::gcd(request.stride, messenger_.ranks()) == 1");
}

// Termination

TEST(cluster_checks, name_the_end_of_no_run) {
  parts x;
  x.termination.begin_run();
  x.termination.take_end();
  EXPECT_EQ(broken(x.termination), "");
  x.termination.take_end();
  EXPECT_EQ(broken(x.termination), "runs_ended_ <= runs_begun_");
}

TEST(cluster_checks, name_a_helper_that_ends_twice) {
  parts x;
  x.termination.helper_begins();
  x.termination.helper_ends();
  EXPECT_EQ(broken(x.termination), "");
  x.termination.helper_ends();
  EXPECT_EQ(broken(x.termination), "helpers_ <= k_helpers_most");
}

TEST(cluster_checks, name_a_child_that_answers_a_wave_twice) {
  parts x;
  x.termination.take_probe();
  for (int i = 0; i < 2; ++i) x.take_counts();
  EXPECT_EQ(broken(x.termination), "");
  x.take_counts();
  EXPECT_EQ(broken(x.termination), "wave_answers_ <= messenger_.children()");
}

TEST(cluster_checks, name_an_answer_to_no_wave) {
  parts x;
  x.take_counts();
  EXPECT_EQ(broken(x.termination), "wave_is_here_ || wave_answers_ == 0");
}

// Bounds

TEST(cluster_checks, name_a_bound_that_fell) {
  parts x;
  x.values.raise(3, 5);
  x.bounds.settle();
  x.values.raise(3, 6);
  EXPECT_EQ(broken(x.bounds), "");
  x.values.reset(3, 4);
  EXPECT_EQ(broken(x.bounds), "settled_[id] <= values_.value(id)");
}

// Reductions

TEST(cluster_checks, name_a_child_that_contributes_twice) {
  for (bool const closing : {false, true}) {
    parts x;
    message const part = message_of(message_kind::up, closing, filch::detail::reduction_part::holds::nothing);
    for (int i = 0; i < 2; ++i) x.reduction.take_up(part);
    EXPECT_EQ(broken(x.reduction), "");
    x.reduction.take_up(part);
    EXPECT_EQ(broken(x.reduction),
              closing ? "ups_[1].size() <= messenger_.children()" : "ups_[0].size() <= messenger_.children()");
  }
}

TEST(cluster_checks, name_a_result_without_this_ranks_part) {
  parts x(1);
  x.reduction.contribute({});
  EXPECT_EQ(broken(x.reduction), "");
  x.reduction.take_down(message_of(message_kind::down, false, filch::detail::reduction_part::holds::nothing));
  EXPECT_EQ(broken(x.reduction), "!result_ || !contribution_");
}

// Heartbeats

TEST(cluster_checks, name_a_heartbeat_of_a_lonely_rank) {
  parts x(0, 1);
  x.take_heartbeat();
  EXPECT_EQ(broken(x.heartbeats), "messenger_.ranks() > 1 || received_ == 0");
}

TEST(cluster_checks, name_a_heartbeat_more_than_the_farewell_says) {
  parts x;
  x.take_heartbeat();
  message const one = message_of(std::uint64_t{1});
  unpacker u(one);
  x.heartbeats.take_farewell(u);
  EXPECT_EQ(broken(x.heartbeats), "");
  x.take_heartbeat();
  EXPECT_EQ(broken(x.heartbeats), "!farewell_ || received_ <= *farewell_");
}

#if defined(FILCH_CHECK)

TEST(cluster_checks, end_the_program_at_the_next_look) {
  silent_port here(0, 4);
  filch::detail::transport_of<silent_port> carrier(here);
  filch::detail::endpoint endpoint(carrier, 0);
  filch::detail::task_deque none;
  here.arriving = message_of(message_kind::counts, std::uint64_t{0}, std::uint64_t{0});
  endpoint.poll(none, 0);
  EXPECT_DEATH(endpoint.poll(none, 0),
               "an invariant of a rank's termination does not hold: wave_is_here_ [|][|] wave_answers_ == 0");
}

#endif

}  // namespace
}  // namespace filch_test
