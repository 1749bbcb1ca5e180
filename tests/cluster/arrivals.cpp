// Tasks that arrive while a stolen side of a join uses its rank. The rank's worker may run another one's task on top
// of that join, so what is in the deque then has to wait for that task.
#include "eventually.hpp"
#include "schedulers.hpp"
#include "steps.hpp"
#include "this_thread.hpp"

#include <algorithm>
#include <cstring>

namespace filch_test {
namespace {

using filch::detail::message_kind;

// Two ranks; the first has three workers, under channel.
//   first  begins on rank 0, and forks g, which its second worker steals
//   over   rank 0, split off the third worker: on top of first's wait for g; waits for y
//   y      rank 1; waits for z
//   z      comes to rank 0 while only g looks
struct scene {
  bool g_waits = false;  // for `small`, which rank 1 runs on top of y; its result comes in the look that takes z
  gate other_began, g_began, over_began, y_began, over_looks_no_more, z_left, small_began, z_came, g_ended;
  // threads
  std::atomic<long> of_first{0};
  std::atomic<long> of_over{0};
  std::atomic<long> of_g{0};
};
scene* now = nullptr;

/// Rank 0 gets rank 1's requests where the right task is to give: in polls of `over`, then of g. It gets z in g's
/// looks.
class directing_port {
 public:
  directing_port(network& net, int rank) : net_(net), threads_(net.threads(), rank) {}
  int rank() const noexcept { return threads_.rank(); }
  int ranks() const noexcept { return threads_.ranks(); }
  void send(int to, filch::message m) {
    bool const has_z = rank() == 1 && is(m, message_kind::tasks);
    threads_.send(to, std::move(m));
    if (has_z) now->z_left.open();
  }
  std::optional<filch::message> receive() {
    while (auto m = threads_.receive()) held_.push_back(std::move(*m));
    auto const found = std::find_if(held_.begin(), held_.end(), [this](auto const& m) { return may_go(m); });
    if (found == held_.end()) return std::nullopt;
    filch::message m = std::move(*found);
    held_.erase(found);
    if (rank() == 0 && is(m, message_kind::tasks)) now->z_came.open();
    return m;
  }
  void end_all(std::string_view text) { net_.end_all(text); }

 private:
  static bool is(filch::message const& m, message_kind kind) { return m.at(0) == static_cast<std::byte>(kind); }
  bool has(message_kind kind) const {
    return std::any_of(held_.begin(), held_.end(), [kind](auto const& m) { return is(m, kind); });
  }
  bool may_go(filch::message const& m) const {
    if (rank() == 1 || now->g_ended.is_open()) return true;
    long const here = this_thread();
    if (is(m, message_kind::request)) {
      std::int32_t thief = -1;
      std::memcpy(&thief, &m.at(1), sizeof thief);
      if (thief == 0) return true;  // its own, refused
      return now->over_looks_no_more.is_open() ? now->g_waits && here == now->of_g : here == now->of_over;
    }
    if (is(m, message_kind::tasks)) return here == now->of_g && (!now->g_waits || has(message_kind::result));
    // After `tasks`, in the same look.
    return !is(m, message_kind::result) || (here == now->of_g && now->z_came.is_open());
  }

  network& net_;
  filch::thread_transport threads_;
  std::vector<filch::message> held_;
};

void answer_until(filch::rank& here, gate const& g) {
  EXPECT_TRUE(eventually([&] {
    here.poll();
    return g.is_open();
  }));
}

long z(filch::rank&) { return 1; }
long small(filch::rank& here) {
  EXPECT_EQ(here.index(), 1);
  now->small_began.open();
  return 1;
}
long y(filch::rank& here) {
  EXPECT_EQ(here.index(), 1);
  now->y_began.open();
  EXPECT_TRUE(now->over_looks_no_more.pass());
  auto child = here.async<&z>();
  answer_until(here, now->z_left);
  return child.get() + 1;
}
long over(filch::rank& here) {
  EXPECT_EQ(this_thread(), now->of_first) << "it is not on top of the join";
  now->of_over = this_thread();
  now->over_began.open();
  auto child = here.async<&y>();
  answer_until(here, now->y_began);
  now->over_looks_no_more.open();
  EXPECT_TRUE(now->g_ended.pass());
  return child.get() + 1;
}
/// Newer than `over`, so that its rank worker splits that one off.
long beside_over(filch::rank& here) {
  if (now->over_began.is_open()) return 0;
  filch::join<filch::channel>([] {}, [] {});
  here.spawn<&beside_over>();
  return 0;
}
long other(filch::rank& here) {
  now->other_began.open();
  here.spawn<&over>();
  here.spawn<&beside_over>();
  EXPECT_TRUE(now->g_began.pass());
  return 0;
}
long nothing(filch::rank&) { return 0; }

long g(filch::rank& here) {
  now->of_g = this_thread();
  now->g_began.open();
  EXPECT_TRUE(now->over_looks_no_more.pass());
  answer_until(here, now->z_left);
  if (now->g_waits) {
    auto child = here.async<&small>();
    answer_until(here, now->small_began);
    EXPECT_EQ(child.get(), 1);
  } else {
    answer_until(here, now->z_came);
  }
  now->g_ended.open();
  return 10;
}
long first(filch::rank& here) {
  here.spawn<&other>();
  EXPECT_TRUE(eventually([&] {
    here.async<&nothing>().get();
    filch::join<filch::channel>([] {}, [] {});
    return now->other_began.is_open();
  }));
  now->of_first = this_thread();
  auto const f = [] {
    EXPECT_TRUE(eventually([] {
      filch::join<filch::channel>([] {}, [] {});
      return now->g_began.is_open();
    }));
    return 100L;
  };
  auto const [a, b] = filch::join<filch::channel>(f, [&here] { return g(here); });
  return a + b;
}

void expect_all_to_end(bool g_waits) {
  scene all;
  all.g_waits = g_waits;
  now = &all;
  network net(2, 1);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&net, r] {
      directing_port here(net, r);
      filch::cluster<filch::channel> ranks(here, {.workers = r == 0 ? 3u : 1u, .patience = 0});
      EXPECT_EQ((ranks.fold<&first>(std::plus<>())), 113);
    });
  }
  for (auto& t : threads) t.join();
}

TEST(cluster_arrivals, of_a_poll_in_a_stolen_side_stay_within_reach) { expect_all_to_end(false); }
TEST(cluster_arrivals, of_a_wait_in_a_stolen_side_stay_within_reach) { expect_all_to_end(true); }

TEST(cluster_arrivals, of_a_poll_in_a_task_go_to_other_ranks) {
  victim_and_thief both;
  for (int i = 0; i < 4; ++i) both.victim.mine.spawn<&z>(nullptr);
  EXPECT_TRUE(eventually([&] {
    both.thief.endpoint_.poll_in_task(both.thief.mine.tasks, 0);
    both.victim.endpoint_.poll(both.victim.mine.tasks, 4);
    return both.victim.mine.tasks.size() == 2;
  }));
  while (!both.victim.mine.tasks.empty()) both.victim.mine.run_newest();
  EXPECT_TRUE(eventually([&] {
    both.thief.endpoint_.poll_in_task(both.thief.mine.tasks, 0);
    static_cast<void>(both.victim.endpoint_.idle(both.victim.mine.tasks, true));
    return !both.victim.mine.tasks.empty();
  }));
  EXPECT_TRUE(both.thief.mine.tasks.empty());
  EXPECT_EQ(both.victim.mine.tasks.size(), 1u);
  EXPECT_TRUE(both.thief.endpoint_.take_arrived(both.thief.mine.tasks)) << "half of them";
  EXPECT_EQ(both.thief.mine.tasks.size(), 1u);
}

}  // namespace
}  // namespace filch_test
