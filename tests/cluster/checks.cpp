// Each condition of the endpoint's parts is broken once, by a message or a call that no right rank sends or makes,
// and the part names it.
#include "broken.hpp"
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
    message const m = message_of(std::uint64_t{0}, filch::detail::call_kind::run, false);
    unpacker u(m);
    heartbeats.take_heartbeat(u);
  }
  void take_up(bool closing) {
    reduction.take_up(message_of(message_kind::up, closing, filch::detail::reduction_part::holds::nothing));
  }
  std::string broken() const {
    for (auto const condition : {messenger.broken(), bounds.broken(), termination.broken(), heartbeats.broken(),
                                 requests.broken(), reduction.broken()}) {
      if (condition) return condition;
    }
    return "";
  }
};
struct parts_of_rank_1 : parts {
  parts_of_rank_1() : parts(1) {}
};
struct parts_of_a_lonely_rank : parts {
  parts_of_a_lonely_rank() : parts(0, 1) {}
};

TEST(cluster_checks, name_each_broken_count_of_messages) {
  expect_named<parts>({
      {"basic_.sent <= counted_.sent", [](auto& x) { x.messenger.send_basic(1, message_of(message_kind::up)); }},
      {"basic_.received <= counted_.received", [](auto& x) { x.messenger.count_received_basic(); }},
      {"counted_.sent <= stats.messages", [](auto& x) { x.messenger.stats = {}; },
       [](auto& x) { x.messenger.send(1, message_of(message_kind::probe)); }},
  });
}

long nothing(filch::rank&) { return 0; }

/// Leaves a task in the inbox for a waiting worker.
void leave_a_task(parts& x) {
  silent_port nowhere(0, 4);
  filch::detail::transport_of<silent_port> carrier(nowhere);
  filch::detail::endpoint owner(carrier, 0);
  filch::detail::rank_worker worker(owner, nullptr);
  for (int i = 0; i < 2; ++i) worker.spawn<&nothing>(nullptr);
  x.hints.worker_waits.write(true);
  static_cast<void>(
      x.requests.look(worker.tasks, 1, false, filch::detail::look_weight::working, filch::detail::arrivals::come));
  EXPECT_EQ(worker.tasks.size(), 1u);
}

TEST(cluster_checks, name_each_broken_word_of_requests) {
  expect_named<parts>({
      // A look has not taken note of the first one.
      {"!under_way_ || !was_refused_", [](auto& x) { x.requests.send_request(); },
       [](auto& x) { x.take_request(0, 3, 1); }},
      {"inbox_.empty() || hints_.has_arrived.read()", [](auto& x) { x.hints.has_arrived.write(false); },
       [](auto& x) { leave_a_task(x); }},
      {"list_.size() < static_cast<std::size_t>(messenger_.ranks())", [](auto& x) { x.take_request(1, 0, 1); },
       [](auto& x) {
         for (int i = 0; i < 3; ++i) x.take_request(i + 1, 0, 1);
       }},
      {"0 <= request.thief && request.thief < messenger_.ranks()", [](auto& x) { x.take_request(-1, 0, 1); }},
      {"0 <= request.thief && request.thief < messenger_.ranks()", [](auto& x) { x.take_request(4, 0, 1); }},
      {"0 <= request.hops && request.hops < messenger_.ranks() - 1", [](auto& x) { x.take_request(1, -1, 1); }},
      {"0 <= request.hops && request.hops < messenger_.ranks() - 1", [](auto& x) { x.take_request(1, 3, 1); }},
      {"std::gcd(request.stride, messenger_.ranks()) == 1", [](auto& x) { x.take_request(1, 0, 2); }},
  });
}

TEST(cluster_checks, name_each_broken_word_of_termination) {
  expect_named<parts>({
      {"runs_ended_ <= runs_begun_", [](auto& x) { x.termination.take_end(); },
       [](auto& x) {
         x.termination.begin_run();
         x.termination.take_end();
       }},
      {"helpers_ <= k_helpers_most", [](auto& x) { x.termination.helper_ends(); },
       [](auto& x) {
         x.termination.helper_begins();
         x.termination.helper_ends();
       }},
      {"wave_answers_ <= messenger_.children()", [](auto& x) { x.take_counts(); },
       [](auto& x) {
         x.termination.take_probe();
         for (int i = 0; i < 2; ++i) x.take_counts();
       }},
      {"wave_is_here_ || wave_answers_ == 0", [](auto& x) { x.take_counts(); }},
  });
}

TEST(cluster_checks, name_each_broken_word_of_bounds_and_reductions) {
  expect_named<parts>({
      {"settled_[id] <= values_.value(id)", [](auto& x) { x.values.reset(3, 4); },
       [](auto& x) {
         x.values.raise(3, 5);
         x.bounds.settle();
         x.values.raise(3, 6);
       }},
      {"ups_[0].size() <= messenger_.children()", [](auto& x) { x.take_up(false); },
       [](auto& x) {
         for (int i = 0; i < 2; ++i) x.take_up(false);
       }},
      {"ups_[1].size() <= messenger_.children()", [](auto& x) { x.take_up(true); },
       [](auto& x) {
         for (int i = 0; i < 2; ++i) x.take_up(true);
       }},
  });
  expect_named<parts_of_rank_1>({
      {"!result_ || !contribution_",
       [](auto& x) {
         x.reduction.take_down(message_of(message_kind::down, false, filch::detail::reduction_part::holds::nothing));
       },
       [](auto& x) { x.reduction.contribute({}); }},
  });
}

TEST(cluster_checks, name_each_broken_word_of_heartbeats) {
  expect_named<parts>({
      {"!farewell_ || received_ <= *farewell_", [](auto& x) { x.take_heartbeat(); },
       [](auto& x) {
         x.take_heartbeat();
         message const one = message_of(std::uint64_t{1});
         unpacker u(one);
         x.heartbeats.take_farewell(u);
       }},
  });
  expect_named<parts_of_a_lonely_rank>({
      {"messenger_.ranks() > 1 || received_ == 0", [](auto& x) { x.take_heartbeat(); }},
  });
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
