// The watchdog's ticks, heartbeats and farewells, step by step in one thread.
#include "steps.hpp"

namespace filch_test {
/// Calls a function when it is packed and when it is unpacked.
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

/// A rank. The test is its watchdog.
struct watched {
  watched(network& net, int rank, unsigned silence, unsigned arrival = 0)
      : here(net, rank), carrier(here), endpoint_(carrier, silence, arrival) {}
  port here;
  filch::detail::transport_of<port> carrier;
  endpoint endpoint_;
};
constexpr unsigned k_silence = 20;

TEST(cluster_heartbeats, name_a_rank_that_falls_silent_early) {
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

TEST(cluster_heartbeats, name_a_rank_that_never_comes) {
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

TEST(cluster_heartbeats, do_not_count_absence_as_silence) {
  network net(2, 1);
  watched one(net, 1, k_silence, 600);
  for (int i = 0; i < 500; ++i) one.endpoint_.tick();
  watched zero(net, 0, k_silence, 600);
  one.endpoint_.all_are_here();  // before a heartbeat of the other rank
  for (unsigned i = 0; i < k_silence; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) zero.endpoint_.tick(), one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
  for (int i = 0; i < 100; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 0 has not answered for 2 s");
}

TEST(cluster_heartbeats, count_ticks_without_overflow) {
  EXPECT_EQ(endpoint::ticks_in(0), 0u);
  EXPECT_EQ(endpoint::ticks_in(5), 5 * endpoint::k_ticks_per_second);
  constexpr unsigned k_most = std::numeric_limits<unsigned>::max();
  constexpr unsigned k_fit = k_most / endpoint::k_ticks_per_second;
  for (unsigned const seconds : {k_fit + 1, 1u << 30, 1u << 31, k_most}) {
    EXPECT_EQ(endpoint::ticks_in(seconds), endpoint::ticks_in(k_fit)) << seconds;
  }
}

TEST(cluster_heartbeats, name_a_silent_rank) {
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

/// Calls tick() on another thread, while the caller has the rank's mutex.
void tick_elsewhere(ordered_rank& r) {
  std::thread watchdog([&r] {
    for (int i = 0; i < 5; ++i) r.endpoint_.tick();
  });
  watchdog.join();
}

calls_on_its_way same(filch::rank&, calls_on_its_way c) { return c; }

TEST(cluster_heartbeats, continue_while_tasks_and_results_are_packed) {
  network net(2, 1);
  ordered_rank victim(net, 0);
  ordered_rank thief(net, 1);
  ordered_rank* packs = &victim;
  int calls = 0;
  // A heartbeat is due in each call, and has been sent before the next one.
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

TEST(cluster_heartbeats, are_found_behind_many_messages) {
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
  // More messages than the watchdog receives in the ticks that a rank may be silent.
  send(400'000);
  for (unsigned i = 0; i < 2 * k_few; ++i) one.endpoint_.tick();
  ASSERT_EQ(net.last_words(), "");
  for (unsigned i = 0; i <= 2 * k_few; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "rank 0 has not answered for 1 s");
}

TEST(cluster_heartbeats, are_complete_at_the_number_of_the_farewell) {
  two_ordered_ranks both;
  auto& [net, zero, one, none] = both;
  one.here.newest_first = true;
  for (int i = 0; i < 20; ++i) zero.endpoint_.tick();
  EXPECT_EQ(zero.here.heartbeats, 4);
  EXPECT_FALSE(one.endpoint_.has_farewell());
  zero.endpoint_.tick();
  zero.endpoint_.say_farewell();
  EXPECT_TRUE(one.endpoint_.has_farewell());

  // The farewell arrives before the heartbeat.
  two_ordered_ranks others;
  auto& [another, leaves, stays, nothing] = others;
  leaves.endpoint_.tick();
  leaves.endpoint_.say_farewell();
  stays.here.newest_first = true;
  stays.here.most = 1;
  EXPECT_FALSE(stays.endpoint_.has_farewell());
  EXPECT_TRUE(stays.endpoint_.has_farewell());
}

TEST(cluster_heartbeats, never_follow_the_farewell) {
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
  EXPECT_FALSE(zero.endpoint_.has_farewell());  // receives messages
  EXPECT_EQ(zero.here.heartbeats, 0);
}

TEST(cluster_heartbeats, do_not_name_a_rank_that_said_farewell) {
  network net(3, 1);
  ordered_rank zero(net, 0, k_silence);
  ordered_rank one(net, 1, k_silence);
  for (ordered_rank* r : {&zero, &one}) r->endpoint_.all_are_here();
  zero.endpoint_.say_farewell();
  for (int i = 0; i < 100; ++i) one.endpoint_.tick();
  EXPECT_EQ(net.last_words(), "");
}

TEST(cluster_heartbeats, name_a_rank_that_leaves_the_others) {
  // The number of runs of rank 1, and the way it leaves.
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

TEST(cluster_heartbeats, name_a_rank_that_is_in_another_function) {
  enum call { run, reduction };
  struct programs {
    std::vector<call> of_one;
    std::vector<call> of_two;
    std::string end;
  };
  std::string const k_why = ": all ranks call the same functions of a cluster in the same order";
  for (programs const& p :
       {programs{{run, reduction}, {run, run}, "rank 1 is in a reduction, and this rank in a run" + k_why},
        programs{{run}, {reduction}, "rank 1 is in a run, and this rank in a reduction" + k_why},
        programs{{run, reduction}, {run, reduction}, ""}, programs{{run, reduction}, {run}, ""},
        programs{{run}, {run, reduction}, ""}, programs{{}, {run}, ""}}) {
    network net(3, 1);
    ordered_rank one(net, 1);
    ordered_rank two(net, 2);
    auto const begin = [](ordered_rank& r, call c) {
      if (c == run) r.endpoint_.begin_run();
      if (c == reduction) r.endpoint_.contribute({});
    };
    for (call const c : p.of_one) begin(one, c);
    for (call const c : p.of_two) begin(two, c);
    for (int i = 0; i < 20; ++i) one.endpoint_.tick(), two.endpoint_.tick();
    EXPECT_EQ(net.last_words(), p.end);
  }
}

}  // namespace
}  // namespace filch_test
