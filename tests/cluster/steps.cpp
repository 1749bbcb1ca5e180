// The protocol step by step, in one thread. A seed draws the rank that moves next and the message that arrives, so a
// failure can be repeated: FILCH_TEST_SEED=n repeats one run, FILCH_TEST_TREES=n sets the number of runs.
#include "steps.hpp"

#include <filch/detail/cluster_pace.hpp>

#include <chrono>

namespace filch_test {
namespace {

void one_run(std::uint64_t seed) {
  SCOPED_TRACE("FILCH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int const ranks = static_cast<int>(random() % 8) + 1;
  network net(ranks, random());
  long found = 0;
  std::vector<std::unique_ptr<stepped_rank>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(std::make_unique<stepped_rank>(net, r, found));
  tree_node const root{random(), 7};
  long const nodes = root.nodes();
  all[0]->mine.spawn<&count_nodes>(nullptr, root);

  long const steps_most = 200'000 + 1000 * nodes;
  int left = ranks;
  for (long steps = 0; left > 0; ++steps) {
    ASSERT_LT(steps, steps_most) << "the end is missed";
    auto& r = *all[random() % all.size()];
    if (r.has_ended) {
      if (random() % 8 == 0) r.endpoint_.reduce();  // continues to receive
      continue;
    }
    r.step(random);
    if (!r.has_ended) continue;
    --left;
    ASSERT_EQ(found, nodes) << "the end was announced early";
  }
}

TEST(cluster_steps, count_random_trees_and_end_in_time) {
  bool const is_one = std::getenv("FILCH_TEST_SEED") != nullptr;
  std::uint64_t const first = number_from("FILCH_TEST_SEED", std::random_device{}());
  auto const count = is_one ? 1 : number_from("FILCH_TEST_TREES", scaled(10'000));
  for (std::uint64_t i = 0; i < count && !HasFailure(); ++i) one_run(first + i);
}

long same_number(filch::rank&, long n) { return n; }

TEST(cluster_steps, a_rank_begins_with_the_oldest_task_that_arrived) {
  victim_and_thief both;
  constexpr long k_tasks = 8;
  for (long i = 0, digit = 1; i < k_tasks; ++i, digit *= 10) both.victim.mine.spawn<&same_number>(nullptr, digit);
  both.steal(k_tasks);
  ASSERT_EQ(both.thief.mine.tasks.size(), 4u);
  both.thief.mine.run_newest();
  EXPECT_EQ(both.found, 1);
  while (!both.victim.mine.tasks.empty()) both.victim.mine.run_newest();
  EXPECT_EQ(both.found, 11'110'001);
  while (both.victim.mine.tasks.empty()) {
    both.victim.endpoint_.idle(both.victim.mine.tasks, true);
    both.thief.endpoint_.poll(both.thief.mine.tasks, 2);
  }
  EXPECT_EQ(both.victim.mine.tasks.size(), 1u);
  both.victim.mine.run_newest();
  EXPECT_EQ(both.found, 11'110'011);
  while (!both.thief.mine.tasks.empty()) both.thief.mine.run_newest();
  EXPECT_EQ(both.found, 11'111'111);
}

std::size_t length(filch::rank&, std::string const& text) { return text.size(); }

TEST(cluster_steps, an_answer_ends_after_some_megabytes) {
  victim_and_thief both;
  auto& victim = both.victim;
  auto& thief = both.thief;
  // The number of tasks in the next answer, of eight that may go.
  auto const given = [&](std::size_t bytes) {
    for (int i = 0; i < 8; ++i) victim.mine.spawn<&length>(nullptr, std::string(bytes, 'x'));
    auto const before = victim.endpoint_.stats();
    both.steal(8);
    EXPECT_EQ(victim.endpoint_.stats().answers, before.answers + 1);
    auto const count = victim.endpoint_.stats().tasks_given - before.tasks_given;
    EXPECT_EQ(thief.mine.tasks.size(), count);
    EXPECT_EQ(victim.mine.tasks.size(), 8 - count);
    for (task_deque* const tasks : {&thief.mine.tasks, &victim.mine.tasks}) {
      while (!tasks->empty()) {
        auto& t = tasks->take_newest();
        t.kind->drop(t);
      }
    }
    return count;
  };
  EXPECT_EQ(given(100), 4u);
  EXPECT_EQ(given(std::size_t{3} << 20), 2u);
  EXPECT_EQ(given(std::size_t{30} << 20), 1u);
}

long number_of(filch::rank&, brittle const& b) { return b.number; }

TEST(cluster_steps, arguments_that_throw_spoil_no_others) {
  using when = brittle::when;
  for (when breaks : {when::packed, when::unpacked}) {
    victim_and_thief both;
    auto& victim = both.victim;
    auto& thief = both.thief;
    filch::detail::future_value<long> broken;
    filch::detail::future_value<long> whole;
    for (int i = 0; i < 2; ++i) {
      victim.mine.spawn<&number_of>(nullptr, brittle(1, i == 0 ? breaks : when::never));
      victim.mine.spawn<&number_of>(i == 0 ? &broken : &whole, brittle(10, i == 0 ? breaks : when::never));
    }
    both.steal(8);
    EXPECT_EQ(thief.mine.tasks.size() + victim.mine.tasks.size(), 2u);
    for (stepped_rank* r : {&thief, &victim}) {
      while (!r->mine.tasks.empty()) r->mine.run_newest();
    }
    while (!broken.ready || !whole.ready) victim.endpoint_.poll(victim.mine.tasks, 0);
    EXPECT_EQ(both.found, 1);
    EXPECT_STREQ(filch::task_error::from(broken.failure.value_or("none")).what(), "broken");
    EXPECT_EQ(whole.value, 10);
    auto const failure = (breaks == when::packed ? victim : thief).endpoint_.take_failure();
    EXPECT_STREQ(filch::task_error::from(failure.value_or("none")).what(), "broken");
  }
}

brittle breaks_on_the_way_home(filch::rank&) { return {1, brittle::when::unpacked}; }

/// A library may be loaded and unloaded again and again.
TEST(cluster_steps, kinds_come_and_go_while_others_are_found) {
  using filch::detail::find_kind;
  using filch::detail::task_kind;
  task_kind const stays("a task that stays", nullptr, nullptr, nullptr, nullptr);
  std::atomic<bool> is_over{false};
  std::thread libraries([&] {
    for (int i = 0; i < 2000; ++i) {
      std::deque<task_kind> loaded;
      for (int k = 0; k < 20; ++k) {
        loaded.emplace_back("a task of a library " + std::to_string(k), nullptr, nullptr, nullptr, nullptr);
      }
      EXPECT_EQ(find_kind(loaded.back().id), &loaded.back());
    }
    is_over = true;
  });
  while (!is_over) EXPECT_EQ(find_kind(stays.id), &stays);
  libraries.join();
  std::uint64_t const gone = task_kind("a task of a library", nullptr, nullptr, nullptr, nullptr).id;
  EXPECT_EQ(find_kind(gone), nullptr);
}

TEST(cluster_steps, two_kinds_of_one_name_are_found) {
  using filch::detail::ambiguous_kind;
  using filch::detail::task_kind;
  task_kind const one("twice", nullptr, nullptr, nullptr, nullptr);
  {
    task_kind const other("twice", nullptr, nullptr, nullptr, nullptr);
    ASSERT_NE(ambiguous_kind(), nullptr);
    EXPECT_EQ(ambiguous_kind()->name, "twice");
  }
  EXPECT_EQ(ambiguous_kind(), nullptr);
  EXPECT_EQ(filch::detail::find_kind(one.id), &one);
}

TEST(cluster_steps, a_result_that_throws_fails_its_future) {
  victim_and_thief both;
  auto& victim = both.victim;
  auto& thief = both.thief;
  filch::detail::future_value<brittle> result;
  victim.mine.spawn<&breaks_on_the_way_home>(&result);
  both.steal(1);
  thief.mine.run_newest();
  while (!result.ready) victim.endpoint_.poll(victim.mine.tasks, 0);
  EXPECT_STREQ(filch::task_error::from(result.failure.value_or("none")).what(), "broken");
}

/// The port of rank 0. Rank 1 has no tasks: each request comes back at once. Ends a wait after some looks.
class mirror {
 public:
  static constexpr int k_looks = 64;
  int rank() const noexcept { return 0; }
  int ranks() const noexcept { return 2; }
  void send(int, filch::message m) {
    if (m.at(0) == k_request) last_ = std::move(m);
  }
  std::optional<filch::message> receive() {
    if (last_) return std::exchange(last_, std::nullopt);
    if (++looks_ == k_looks && waited_for) waited_for->set_ready();
    return std::nullopt;
  }
  void end_all(std::string_view text) { ADD_FAILURE() << text; }

  filch::detail::cluster_future* waited_for = nullptr;

 private:
  static constexpr auto k_request = static_cast<std::byte>(filch::detail::message_kind::request);
  std::optional<filch::message> last_;
  int looks_ = 0;
};

struct refused_rank {
  refused_rank() {
    endpoint_.begin_run();
    endpoint_.worker_begins();
  }
  mirror here;
  filch::detail::transport_of<mirror> carrier{here};
  endpoint endpoint_{carrier, 0};
  rank_worker mine{endpoint_, nullptr};
};

TEST(cluster_steps, a_wait_pauses_after_a_refused_request) {
  namespace pace = filch::detail::pace;
  using clock = std::chrono::steady_clock;
  refused_rank r;
  filch::detail::future_value<void> future;
  r.here.waited_for = &future;
  auto const begin = clock::now();
  r.mine.wait_for(future);
  auto const took = clock::now() - begin;
  // One request at first, then one after each pause. If a look and its pause take more than a millisecond, the test
  // shows less.
  std::uint64_t most = 1;
  clock::duration paused = pace::silence_after(0);
  for (unsigned i = 1; paused <= took; ++i, ++most) paused += pace::silence_after(i);
  EXPECT_GE(r.endpoint_.stats().requests, 1u);
  EXPECT_LE(r.endpoint_.stats().requests, most);
}

TEST(cluster_steps, one_look_takes_note_of_a_refused_request) {
  refused_rank r;
  auto& tasks = r.mine.tasks;
  auto const requests = [&r] { return r.endpoint_.stats().requests; };
  EXPECT_EQ(r.endpoint_.poll_waiting(tasks, true, true), look_result::idle);
  EXPECT_EQ(requests(), 1u);
  EXPECT_EQ(r.endpoint_.poll_waiting(tasks, true, true), look_result::refused);
  EXPECT_EQ(requests(), 1u);
  EXPECT_EQ(r.endpoint_.poll_waiting(tasks, true, true), look_result::idle);
  EXPECT_EQ(requests(), 2u);
  r.endpoint_.poll(tasks, 0);
  EXPECT_EQ(requests(), 2u);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::idle_outcome::nothing);
  EXPECT_EQ(requests(), 3u);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::idle_outcome::refused);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::idle_outcome::nothing);
  EXPECT_EQ(requests(), 4u);
  for (int i = 0; i < 2; ++i) r.endpoint_.tick();  // finds it, and sends no request
  EXPECT_EQ(r.endpoint_.stats().returns, 4u);
  r.endpoint_.begin_run();
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::idle_outcome::nothing);
  EXPECT_EQ(requests(), 5u);
}

TEST(cluster_steps, several_workers_request_tasks_once_all_are_drained) {
  refused_rank r;
  r.endpoint_.worker_begins();
  auto& tasks = r.mine.tasks;
  auto const requests = [&r] { return r.endpoint_.stats().requests; };
  r.endpoint_.poll(tasks, 0);
  r.endpoint_.poll(tasks, 1);
  r.endpoint_.poll(tasks, 0);
  EXPECT_EQ(requests(), 0u);
  r.endpoint_.poll(tasks, 0);
  EXPECT_EQ(requests(), 1u);
}

TEST(cluster_steps, a_waiting_worker_requests_tasks_after_many_looks) {
  refused_rank r;
  r.endpoint_.worker_begins();
  int looks = 0;
  for (; r.endpoint_.stats().requests == 0 && looks < 1000; ++looks)
    r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(looks, 32);
}

TEST(cluster_steps, tasks_left_for_a_waiting_worker_stay_there) {
  refused_rank r;
  r.endpoint_.worker_begins();
  rank_worker other(r.endpoint_, nullptr);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  for (long i = 0; i < 4; ++i) other.spawn<&same_number>(nullptr, i);
  for (int looks = 0; looks < 3; ++looks) r.endpoint_.poll(other.tasks, other.tasks.size());
  EXPECT_EQ(other.tasks.size(), 2u);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 2u);
  // A task that polls: the other worker's last one.
  for (; !r.mine.tasks.empty(); r.mine.run_newest()) r.endpoint_.poll(r.mine.tasks, 0);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  other.run_newest();
  for (int looks = 0; looks < 8; ++looks) {
    r.endpoint_.poll(other.tasks, other.tasks.size());
    EXPECT_TRUE(other.tasks.empty());
  }
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 1u);
  // This comes before the last task, which stays.
  r.mine.run_newest();
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  for (long i = 0; i < 2; ++i) other.spawn<&same_number>(nullptr, i);
  for (int looks = 0; looks < 8; ++looks) {
    r.endpoint_.poll(other.tasks, other.tasks.size() - 1);
    EXPECT_EQ(other.tasks.size(), 1u);
  }
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 1u);
  // No worker waits when a run begins.
  r.endpoint_.begin_run();
  r.mine.spawn<&same_number>(nullptr, 0);
  r.endpoint_.poll(r.mine.tasks, 1);
  EXPECT_EQ(r.mine.tasks.size(), 2u);
  while (!r.mine.tasks.empty()) r.mine.run_newest();
  while (!other.tasks.empty()) other.run_newest();
}

TEST(cluster_steps, a_closing_rank_is_in_no_other_reduction) {
  network net(2, 1);
  long none = 0;
  stepped_rank above(net, 0, none);
  stepped_rank below(net, 1, none);
  below.endpoint_.begin_closing();
  below.endpoint_.contribute({});
  below.endpoint_.hand_on({});
  above.endpoint_.contribute({});
  for (int i = 0; i < 100; ++i) above.endpoint_.reduce();
  EXPECT_TRUE(above.endpoint_.parts_to_fold().empty());
  above.endpoint_.begin_closing();
  EXPECT_EQ(above.endpoint_.parts_to_fold().size(), 2u);
}

TEST(cluster_steps, a_tick_forwards_all_requests) {
  network net(3, 1);
  ordered_rank zero(net, 0);
  ordered_rank one(net, 1);
  ordered_rank two(net, 2);
  zero.endpoint_.begin_run();
  zero.endpoint_.idle(zero.mine.tasks, true);
  for (ordered_rank* r : {&one, &two}) {
    for (int i = 0; i < 16; ++i) r->endpoint_.worker_begins();
    r->endpoint_.tick();
  }
  EXPECT_GE(one.endpoint_.stats().forwards + two.endpoint_.stats().forwards, 1u);
  EXPECT_TRUE(one.endpoint_.wanted() || two.endpoint_.wanted());
}

TEST(cluster_steps, a_rank_in_a_reduction_forwards_requests) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  zero.endpoint_.poll(none, 0);
  one.endpoint_.reduce();
  EXPECT_EQ(one.endpoint_.stats().forwards, 1u);
}

TEST(cluster_steps, a_request_meets_all_others_once_and_comes_back) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    network net(ranks, 1);
    std::deque<ordered_rank> all;
    for (int r = 0; r < ranks; ++r) all.emplace_back(net, r);
    ordered_rank& thief = all[0];
    for (unsigned round = 1; round <= 20; ++round) {
      auto found = thief.endpoint_.poll_waiting(thief.mine.tasks, true, true);
      for (int looks = 0; found != look_result::refused && looks < ranks; ++looks) {
        for (auto& r : all) {
          if (&r != &thief) r.endpoint_.poll(r.mine.tasks, 0, false);
        }
        found = thief.endpoint_.poll_waiting(thief.mine.tasks, false, true);
      }
      ASSERT_EQ(found, look_result::refused);
      for (auto& r : all) ASSERT_EQ(r.endpoint_.stats().forwards, &r == &thief ? 0 : round);
    }
  }
}

TEST(cluster_steps, bounds_are_sent_by_a_look_and_by_a_tick) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  zero.endpoint_.raise(0, 5);
  zero.endpoint_.poll(none, 0);
  one.endpoint_.poll(none, 0);
  EXPECT_EQ(one.endpoint_.bound(0), 5);
  zero.endpoint_.tick();  // a worker has looked since the last one
  zero.endpoint_.raise(0, 6);
  zero.endpoint_.tick();
  one.endpoint_.poll(none, 0);
  EXPECT_EQ(one.endpoint_.bound(0), 6);
}

TEST(cluster_steps, messages_under_way_are_counted) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  zero.endpoint_.raise(0, 5);
  zero.endpoint_.poll(none, 0, false);
  EXPECT_EQ(zero.endpoint_.under_way(), 1);
  EXPECT_EQ(one.endpoint_.under_way(), -1);
}

}  // namespace
}  // namespace filch_test
