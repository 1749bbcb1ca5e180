// The protocol step by step, in one thread: who moves next, and which message arrives, is drawn from a seed, so a
// failure can be repeated. FILCH_TEST_SEED=n repeats one, FILCH_TEST_TREES=n sets how many.
#include "network.hpp"

#include <filch/detail/cluster_pace.hpp>

#include <functional>

namespace filch_test {
/// Calls a function as it is packed and as it is unpacked.
struct calls_on_its_way {
  static inline std::function<void()> function;
  long number;
};
}  // namespace filch_test

template <> struct filch::packing<filch_test::calls_on_its_way> {
  static void pack(packer& p, filch_test::calls_on_its_way const& c) {
    c.function();
    packing<long>::pack(p, c.number);
  }
  static filch_test::calls_on_its_way unpack(unpacker& u) {
    filch_test::calls_on_its_way::function();
    return {packing<long>::unpack(u)};
  }
};

namespace filch_test {
namespace {

using filch::detail::endpoint;
using filch::detail::rank_worker;
using filch::detail::task_deque;

// Sums, on the rank that stands at the front.
class counting final : public filch::detail::partial_of<long> {
 public:
  explicit counting(long& sum) noexcept : sum_(sum) {}
  std::unique_ptr<partial> another() const override { return std::make_unique<counting>(sum_); }
  void merge() override {}
  void add(long&& value) override { sum_ += value; }

 private:
  long& sum_;
};

struct stepped_rank {
  stepped_rank(network& net, int rank, long& sum)
      : here(net, rank), carrier(here), endpoint_(carrier, 0), mine(endpoint_, std::make_unique<counting>(sum)) {}
  port here;
  filch::detail::transport_of<port> carrier;
  endpoint endpoint_;
  rank_worker mine;
  bool works = false;
  bool has_begun = false;
  bool has_ended = false;

  void step(std::mt19937_64& random) {
    if (random() % 64 == 0) endpoint_.tick();
    if (!has_begun) {
      if (random() % 16 == 0) endpoint_.begin_run(), has_begun = true;
    } else if (!mine.tasks.empty()) {
      if (!std::exchange(works, true)) endpoint_.worker_begins();
      if (random() % 2 == 0) mine.poll(mine.tasks.size() - 1);
      mine.run_newest();
    } else if (!endpoint_.take_arrived(mine.tasks)) {
      if (std::exchange(works, false)) endpoint_.worker_ends();
      has_ended = endpoint_.idle(mine.tasks, random() % 2 == 0) == endpoint::outcome::ended;
    }
  }
};

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
      if (random() % 8 == 0) r.endpoint_.reduction();  // goes on receiving
      continue;
    }
    r.step(random);
    if (!r.has_ended) continue;
    --left;
    ASSERT_EQ(found, nodes) << "the end was announced early";
  }
}

TEST(cluster_steps, count_the_nodes_of_random_trees_and_end_neither_early_nor_late) {
  bool const is_one = std::getenv("FILCH_TEST_SEED") != nullptr;
  std::uint64_t const first = number_from("FILCH_TEST_SEED", std::random_device{}());
  auto const count = is_one ? 1 : number_from("FILCH_TEST_TREES", scaled(10'000));
  for (std::uint64_t i = 0; i < count && !HasFailure(); ++i) one_run(first + i);
}

/// A rank that has tasks, and one that asks for them until it is given some.
struct victim_and_thief {
  long found = 0;
  network net{2, 1};
  stepped_rank victim{net, 0, found};
  stepped_rank thief{net, 1, found};

  victim_and_thief() {
    victim.endpoint_.begin_run();
    thief.endpoint_.begin_run();
  }
  void steal(std::size_t spare) {
    while (thief.mine.tasks.empty()) {
      thief.endpoint_.idle(thief.mine.tasks, true);
      victim.endpoint_.poll(victim.mine.tasks, spare);
    }
  }
};

long same_number(filch::rank&, long n) { return n; }

TEST(cluster_steps, a_rank_begins_with_the_oldest_of_what_arrived_and_gives_the_next_one_away) {
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

TEST(cluster_steps, an_answer_ends_with_the_task_that_makes_it_some_megabytes_long) {
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

TEST(cluster_steps, arguments_that_throw_as_they_travel_spoil_no_others) {
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

/// As one library is loaded and unloaded again and again.
TEST(cluster_steps, kinds_come_and_go_while_others_are_looked_for) {
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

TEST(cluster_steps, two_kinds_of_one_name_are_told_until_one_is_gone) {
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

TEST(cluster_steps, a_result_that_throws_as_it_is_unpacked_fails_its_future) {
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

/// What rank 0 of two hears if rank 1 has no tasks: its requests come back at once. Ends a wait after some looks.
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
  static constexpr std::byte k_request{0};
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

TEST(cluster_steps, who_waits_for_a_future_pauses_after_each_request_that_comes_back) {
  namespace pace = filch::detail::pace;
  using clock = std::chrono::steady_clock;
  refused_rank r;
  filch::detail::future_value<void> future;
  r.here.waited_for = &future;
  auto const begin = clock::now();
  r.mine.wait_for(future);
  auto const took = clock::now() - begin;
  // One to begin with, then one after each pause. A look and its pause take less than a millisecond, or this shows
  // less.
  std::uint64_t most = 1;
  clock::duration paused = pace::silence_after(0);
  for (unsigned i = 1; paused <= took; ++i, ++most) paused += pace::silence_after(i);
  EXPECT_GE(r.endpoint_.stats().requests, 1u);
  EXPECT_LE(r.endpoint_.stats().requests, most);
}

TEST(cluster_steps, a_request_that_came_back_is_noted_by_one_look_which_does_not_send_it_again) {
  refused_rank r;
  auto& tasks = r.mine.tasks;
  auto const requests = [&r] { return r.endpoint_.stats().requests; };
  EXPECT_FALSE(r.endpoint_.poll_waiting(tasks, true, true));
  EXPECT_EQ(requests(), 1u);
  EXPECT_TRUE(r.endpoint_.poll_waiting(tasks, true, true));
  EXPECT_EQ(requests(), 1u);
  EXPECT_FALSE(r.endpoint_.poll_waiting(tasks, true, true));
  EXPECT_EQ(requests(), 2u);
  r.endpoint_.poll(tasks, 0);
  EXPECT_EQ(requests(), 2u);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::outcome::nothing);
  EXPECT_EQ(requests(), 3u);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::outcome::refused);
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::outcome::nothing);
  EXPECT_EQ(requests(), 4u);
  for (int i = 0; i < 2; ++i) r.endpoint_.tick();  // finds it, and is nobody who asks
  EXPECT_EQ(r.endpoint_.stats().returns, 4u);
  r.endpoint_.begin_run();
  EXPECT_EQ(r.endpoint_.idle(tasks, true), endpoint::outcome::nothing);
  EXPECT_EQ(requests(), 5u);
}

TEST(cluster_steps, a_rank_of_several_shares_asks_once_none_of_them_has_shown_tasks_that_may_go) {
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

TEST(cluster_steps, who_waits_beside_another_share_asks_if_that_one_says_nothing_for_many_looks) {
  refused_rank r;
  r.endpoint_.worker_begins();
  int looks = 0;
  for (; r.endpoint_.stats().requests == 0 && looks < 1000; ++looks)
    r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(looks, 32);
}

TEST(cluster_steps, what_is_left_for_a_share_that_waits_is_there_when_it_looks_however_often_others_do) {
  refused_rank r;
  r.endpoint_.worker_begins();
  rank_worker other(r.endpoint_, nullptr);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  for (long i = 0; i < 4; ++i) other.spawn<&same_number>(nullptr, i);
  for (int looks = 0; looks < 3; ++looks) r.endpoint_.poll(other.tasks, other.tasks.size());
  EXPECT_EQ(other.tasks.size(), 2u);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 2u);
  // In a task that polls, which is the other share's last one.
  for (; !r.mine.tasks.empty(); r.mine.run_newest()) r.endpoint_.poll(r.mine.tasks, 0);
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  other.run_newest();
  for (int looks = 0; looks < 8; ++looks) {
    r.endpoint_.poll(other.tasks, other.tasks.size());
    EXPECT_TRUE(other.tasks.empty());
  }
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 1u);
  // Before the last task, which stays.
  r.mine.run_newest();
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  for (long i = 0; i < 2; ++i) other.spawn<&same_number>(nullptr, i);
  for (int looks = 0; looks < 8; ++looks) {
    r.endpoint_.poll(other.tasks, other.tasks.size() - 1);
    EXPECT_EQ(other.tasks.size(), 1u);
  }
  r.endpoint_.poll_waiting(r.mine.tasks, true, true);
  EXPECT_EQ(r.mine.tasks.size(), 1u);
  // A run begins without one that waits.
  r.endpoint_.begin_run();
  r.mine.spawn<&same_number>(nullptr, 0);
  r.endpoint_.poll(r.mine.tasks, 1);
  EXPECT_EQ(r.mine.tasks.size(), 2u);
  while (!r.mine.tasks.empty()) r.mine.run_newest();
  while (!other.tasks.empty()) other.run_newest();
}

TEST(cluster_steps, a_rank_that_closes_takes_no_part_in_the_reductions_of_others) {
  network net(2, 1);
  long none = 0;
  stepped_rank above(net, 0, none);
  stepped_rank below(net, 1, none);
  below.endpoint_.begin_closing();
  below.endpoint_.contribute({});
  below.endpoint_.hand_on({});
  above.endpoint_.contribute({});
  for (int i = 0; i < 100; ++i) above.endpoint_.reduction();
  EXPECT_TRUE(above.endpoint_.parts_to_fold().empty());
  above.endpoint_.begin_closing();
  EXPECT_EQ(above.endpoint_.parts_to_fold().size(), 2u);
}

/// A rank whose watchdog is the test.
struct watched {
  watched(network& net, int rank, unsigned silence, unsigned arrival = 0)
      : here(net, rank), carrier(here), endpoint_(carrier, silence, arrival) {}
  port here;
  filch::detail::transport_of<port> carrier;
  endpoint endpoint_;
};
constexpr unsigned k_silence = 20;

TEST(cluster_steps, a_rank_that_falls_silent_while_others_come_is_named_by_the_next_one) {
  network net(2, 1);
  watched zero(net, 0, k_silence);
  watched one(net, 1, k_silence);
  for (int i = 0; i < 100; ++i) zero.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) zero.endpoint_.tick(), one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 0 has not answered for 2 s");
}

TEST(cluster_steps, a_rank_that_never_comes_is_named_by_the_next_one) {
  constexpr unsigned k_arrival = 600;
  for (unsigned const silence : {k_silence, 0u}) {
    network net(3, 1);
    watched zero(net, 0, silence, k_arrival);
    watched two(net, 2, silence, k_arrival);
    for (unsigned i = 0; i < k_arrival; ++i) zero.endpoint_.tick(), two.endpoint_.tick();
    EXPECT_EQ(net.last_words(), "");
    for (unsigned i = 0; i < 100; ++i) zero.endpoint_.tick(), two.endpoint_.tick();
    EXPECT_EQ(net.last_words(),
              silence == 0 ? "" : "rank 1 has not made its cluster 60 s after this rank (cluster_options::arrival)");
  }
}

TEST(cluster_steps, a_rank_that_comes_late_is_silent_from_then_on_only) {
  network net(2, 1);
  watched one(net, 1, k_silence, 600);
  for (int i = 0; i < 500; ++i) one.endpoint_.tick();
  watched zero(net, 0, k_silence, 600);
  one.endpoint_.all_are_here();  // before a heartbeat of the other
  for (unsigned i = 0; i < k_silence; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) zero.endpoint_.tick(), one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 0 has not answered for 2 s");
}

TEST(cluster_steps, no_number_of_seconds_is_shorter_than_a_smaller_one) {
  EXPECT_EQ(endpoint::ticks_in(0), 0u);
  EXPECT_EQ(endpoint::ticks_in(5), 5 * endpoint::k_ticks_per_second);
  constexpr unsigned k_most = std::numeric_limits<unsigned>::max();
  constexpr unsigned k_fit = k_most / endpoint::k_ticks_per_second;
  for (unsigned const seconds : {k_fit + 1, 1u << 30, 1u << 31, k_most}) {
    EXPECT_EQ(endpoint::ticks_in(seconds), endpoint::ticks_in(k_fit)) << seconds;
  }
}

TEST(cluster_steps, a_rank_that_falls_silent_is_named_by_the_next_one) {
  network net(3, 1);
  watched zero(net, 0, k_silence);
  watched one(net, 1, k_silence);
  watched two(net, 2, k_silence);
  for (watched* rank : {&zero, &one, &two}) rank->endpoint_.all_are_here();
  for (int i = 0; i < 100; ++i) zero.endpoint_.tick(), one.endpoint_.tick(), two.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100 && net.last_words().empty(); ++i) zero.endpoint_.tick(), two.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 1 has not answered for 2 s");
}

/// A rank's place in a network that keeps the order of messages, or turns it round; counts its heartbeats.
class ordered_port {
 public:
  ordered_port(network& net, int rank) : net_(net), threads_(net.threads(), rank) {}
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void send(int to, filch::message m) {
    constexpr std::byte k_heartbeat{9};
    heartbeats += m.at(0) == k_heartbeat;
    if (while_sending) while_sending();
    threads_.send(to, std::move(m));
  }
  std::optional<filch::message> receive() {
    if (received_++ % (most + 1) == most) return std::nullopt;
    if (!newest_first) return threads_.receive();
    while (auto m = threads_.receive()) waiting_.push_back(std::move(*m));
    if (waiting_.empty()) return std::nullopt;
    filch::message m = std::move(waiting_.back());
    waiting_.pop_back();
    return m;
  }
  void end_all(std::string_view text) { net_.end_all(text); }

  std::function<void()> while_sending;
  int heartbeats = 0;  // that it sent
  bool newest_first = false;
  unsigned most = ~0u - 1;  // messages at a look

 private:
  unsigned received_ = 0;
  network& net_;
  filch::thread_transport threads_;
  std::vector<filch::message> waiting_;
};

struct ordered_rank {
  ordered_rank(network& net, int rank, unsigned silence = 0)
      : here(net, rank), carrier(here), endpoint_(carrier, silence), mine(endpoint_, nullptr) {}
  ordered_port here;
  filch::detail::transport_of<ordered_port> carrier;
  endpoint endpoint_;
  rank_worker mine;
};

struct two_ordered_ranks {
  network net{2, 1};
  ordered_rank zero{net, 0};
  ordered_rank one{net, 1};
  task_deque none;
};

/// The watchdog of a rank, whose mutex the caller has.
void tick_elsewhere(ordered_rank& r) {
  std::thread watchdog([&r] {
    for (int i = 0; i < 5; ++i) r.endpoint_.tick();
  });
  watchdog.join();
}

calls_on_its_way same(filch::rank&, calls_on_its_way c) { return c; }

TEST(cluster_steps, heartbeats_go_on_while_tasks_and_results_are_packed_and_unpacked) {
  network net(2, 1);
  ordered_rank victim(net, 0);
  ordered_rank thief(net, 1);
  ordered_rank* packs = &victim;
  int calls = 0;
  // A heartbeat is due in each: before the next one it has been sent.
  auto const begin = [&](ordered_rank& r) {
    packs = &r;
    calls = 0;
    r.here.heartbeats = 0;
  };
  auto const ticks_meanwhile = [&] {
    EXPECT_GE(packs->here.heartbeats, calls);
    ++calls;
    tick_elsewhere(*packs);
  };
  calls_on_its_way::function = ticks_meanwhile;
  constexpr int k_tasks = 4;
  std::deque<filch::detail::future_value<calls_on_its_way>> futures(2 * k_tasks);
  for (auto& f : futures) victim.mine.spawn<&same>(&f, calls_on_its_way{1});
  thief.endpoint_.begin_run();
  thief.endpoint_.idle(thief.mine.tasks, true);
  begin(victim);
  victim.endpoint_.poll(victim.mine.tasks, 2 * k_tasks);
  EXPECT_EQ(calls, k_tasks);
  begin(thief);
  thief.endpoint_.idle(thief.mine.tasks, false);
  EXPECT_EQ(calls, k_tasks);
  ASSERT_EQ(thief.mine.tasks.size(), std::size_t{k_tasks});
  calls_on_its_way::function = [] {};
  while (!thief.mine.tasks.empty()) thief.mine.run_newest();
  calls_on_its_way::function = ticks_meanwhile;
  begin(victim);
  victim.endpoint_.poll(victim.mine.tasks, 0);
  EXPECT_EQ(calls, k_tasks);
  calls_on_its_way::function = nullptr;
  while (!victim.mine.tasks.empty()) {
    auto& t = victim.mine.tasks.take_newest();
    t.kind->drop(t);
  }
}

TEST(cluster_steps, a_heartbeat_is_found_behind_many_messages) {
  network net(2, 1);
  constexpr unsigned k_few = 10;
  ordered_rank zero(net, 0, k_few);
  ordered_rank one(net, 1, k_few);
  zero.endpoint_.all_are_here();
  one.endpoint_.all_are_here();
  task_deque none;
  std::int64_t value = 0;
  auto const send = [&](int messages) {
    for (int i = 0; i < messages; ++i) {
      zero.endpoint_.raise(0, ++value);
      zero.endpoint_.poll(none, 0);
    }
  };
  for (int tick = 0; tick < 50; ++tick) {
    send(12'000);
    zero.endpoint_.tick();
    one.endpoint_.tick();
    ASSERT_EQ(net.last_words(), "") << "after " << tick << " ticks";
  }
  // More at once than are taken in the ticks that it may be silent.
  send(400'000);
  for (unsigned i = 0; i < 2 * k_few; ++i) one.endpoint_.tick();
  ASSERT_EQ(net.last_words(), "");
  for (unsigned i = 0; i <= 2 * k_few; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 0 has not answered for 1 s");
}

TEST(cluster_steps, a_tick_passes_requests_on_however_many_shares_there_are) {
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

TEST(cluster_steps, a_rank_in_a_reduction_passes_requests_on) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  zero.endpoint_.poll(none, 0);
  one.endpoint_.reduction();
  EXPECT_EQ(one.endpoint_.stats().forwards, 1u);
}

TEST(cluster_steps, a_request_meets_all_others_once_and_comes_back) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    network net(ranks, 1);
    std::deque<ordered_rank> all;
    for (int r = 0; r < ranks; ++r) all.emplace_back(net, r);
    ordered_rank& thief = all[0];
    for (unsigned round = 1; round <= 20; ++round) {
      bool is_back = thief.endpoint_.poll_waiting(thief.mine.tasks, true, true);
      for (int looks = 0; !is_back && looks < ranks; ++looks) {
        for (auto& r : all) {
          if (&r != &thief) r.endpoint_.poll(r.mine.tasks, 0, false);
        }
        is_back = thief.endpoint_.poll_waiting(thief.mine.tasks, false, true);
      }
      ASSERT_TRUE(is_back);
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
  zero.endpoint_.tick();  // somebody has looked since the last one
  zero.endpoint_.raise(0, 6);
  zero.endpoint_.tick();
  one.endpoint_.poll(none, 0);
  EXPECT_EQ(one.endpoint_.bound(0), 6);
}

TEST(cluster_steps, what_is_under_way_is_counted) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  zero.endpoint_.raise(0, 5);
  zero.endpoint_.poll(none, 0, false);
  EXPECT_EQ(zero.endpoint_.under_way(), 1);
  EXPECT_EQ(one.endpoint_.under_way(), -1);
}

TEST(cluster_steps, a_rank_is_silent_once_all_of_its_heartbeats_have_come) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  one.here.newest_first = true;
  for (int i = 0; i < 20; ++i) zero.endpoint_.tick();
  EXPECT_EQ(zero.here.heartbeats, 4);
  EXPECT_FALSE(one.endpoint_.silent());
  zero.endpoint_.tick();
  zero.endpoint_.say_farewell();
  EXPECT_TRUE(one.endpoint_.silent());

  // The farewell alone, before the heartbeat.
  two_ordered_ranks others;
  auto& [another, leaves, stays, nothing] = others;
  leaves.endpoint_.tick();
  leaves.endpoint_.say_farewell();
  stays.here.newest_first = true;
  stays.here.most = 1;
  EXPECT_FALSE(stays.endpoint_.silent());
  EXPECT_TRUE(stays.endpoint_.silent());
}

TEST(cluster_steps, no_heartbeat_follows_the_farewell) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  ordered_rank* const ticks = &zero;
  zero.here.while_sending = [ticks] { tick_elsewhere(*ticks); };
  zero.endpoint_.raise(0, 5);
  zero.endpoint_.poll(none, 0, false);  // a heartbeat is due
  zero.here.while_sending = nullptr;
  one.endpoint_.raise(0, 6);
  one.endpoint_.poll(none, 0, false);
  zero.endpoint_.say_farewell();
  EXPECT_FALSE(zero.endpoint_.silent());  // looks for messages
  EXPECT_EQ(zero.here.heartbeats, 0);
}

TEST(cluster_steps, a_rank_that_said_farewell_is_not_named) {
  network net(3, 1);
  ordered_rank zero(net, 0, k_silence);
  ordered_rank one(net, 1, k_silence);
  for (ordered_rank* r : {&zero, &one}) r->endpoint_.all_are_here();
  zero.endpoint_.say_farewell();
  for (int i = 0; i < 100; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
}

TEST(cluster_steps, a_rank_that_leaves_while_others_go_on_is_named_by_the_next_one) {
  // In rank 1: how many runs it was in, and how it goes.
  struct way {
    int runs;
    bool is_thrown;
    bool is_named;
  };
  for (way const w : {way{1, false, true}, way{2, false, false}, way{1, true, false}, way{3, false, false}}) {
    network net(3, 1);
    ordered_rank one(net, 1);
    ordered_rank two(net, 2);
    for (int i = 0; i < 2; ++i) two.endpoint_.begin_run();
    for (int i = 0; i < w.runs; ++i) one.endpoint_.begin_run();
    one.endpoint_.begin_closing(w.is_thrown);
    one.endpoint_.contribute({});
    for (int i = 0; i < 20; ++i) one.endpoint_.tick(), two.endpoint_.tick();
    EXPECT_EQ(net.last_words(), w.is_named
                                    ? "rank 1 has left the cluster, and this rank waits for it in another run or "
                                      "reduction"
                                    : "");
    if (w.is_named) continue;
    two.endpoint_.begin_closing();
    for (int i = 0; i < 20; ++i) two.endpoint_.tick();
    EXPECT_EQ(net.last_words(), "");
  }
}

}  // namespace
}  // namespace filch_test
