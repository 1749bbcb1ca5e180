// How often a rank worker polls.
#include "network.hpp"

#include <filch/detail/cluster_pace.hpp>

#include <chrono>

namespace filch_test {
namespace {

namespace pace = filch::detail::pace;
using filch::detail::endpoint;
using filch::detail::task_deque;
using namespace std::chrono_literals;

TEST(cluster_pace, is_quick_while_others_request_and_some_polls_longer) {
  pace::gap g;
  EXPECT_EQ(g.length(), pace::k_between_polls);
  g.looked(100ns, true);
  for (unsigned looks = 1; looks < pace::k_polls_after_request; ++looks) {
    EXPECT_EQ(g.length(), pace::k_while_requested);
    g.looked(100ns, false);
  }
  EXPECT_EQ(g.length(), pace::k_while_requested);
  g.looked(100ns, false);
  EXPECT_EQ(g.length(), pace::k_between_polls);
}

TEST(cluster_pace, costs_a_few_per_cent_for_any_length_of_a_poll) {
  pace::gap g;
  for (auto const look : {50ns, 500ns, 1000ns, 1900ns, 5000ns}) {
    g.looked(look, true);
    EXPECT_GE(g.length(), std::min<std::chrono::nanoseconds>(pace::k_times_a_poll * look, pace::k_between_polls));
    EXPECT_LE(g.length(), pace::k_between_polls);
  }
}

TEST(cluster_pace, is_slow_after_another_process_had_the_processor) {
  pace::gap g;
  for (bool const asked : {false, true}) {
    g.looked(pace::k_own_processor + 1us, asked);
    EXPECT_EQ(g.length(), pace::k_between_turns);
  }
}

TEST(cluster_pace, hears_of_each_request_once) {
  using filch::detail::look_result;
  network net(2, 1);
  port here_of_one(net, 0), here_of_two(net, 1);
  filch::detail::transport_of<port> carrier_of_one(here_of_one), carrier_of_two(here_of_two);
  endpoint one(carrier_of_one, 0), two(carrier_of_two, 0);
  one.begin_run();
  two.begin_run();
  task_deque none;
  EXPECT_EQ(one.poll(none, 0, false), look_result::idle);
  two.idle(none, true);  // asks
  int heard = 0;
  for (int looks = 0; looks < 100; ++looks) heard += one.poll(none, 0, false) == look_result::requested;
  EXPECT_EQ(heard, 1);
  // The watchdog's looks count, too: the worker's next poll reports them.
  while (two.stats().returns == 0) two.poll(none, 0, false);
  two.idle(none, true);
  for (int ticks = 0; ticks < 100; ++ticks) one.tick();
  EXPECT_EQ(one.poll(none, 0, false), look_result::requested);
  EXPECT_EQ(one.poll(none, 0, false), look_result::idle);
}

}  // namespace
}  // namespace filch_test
