// Waits for futures, while halves that were split off run elsewhere.
#include "eventually.hpp"
#include "network.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>

namespace filch_test {
namespace {

template <class S> class cluster_waits : public ::testing::Test {};
TYPED_TEST_SUITE(cluster_waits, all_schedulers, scheduler_names);

// Long enough for a wait to begin before it ends. If it is too short, the tests show less, and do not fail.
constexpr std::chrono::milliseconds k_a_while{20};

gate* slow_has_begun = nullptr;
gate* slow_may_end = nullptr;

template <class S> long slow(filch::rank&) {
  slow_has_begun->open();
  if (steals<S>) {
    EXPECT_TRUE(slow_may_end->pass());
    work_for(k_a_while);
  }
  return 10;
}
long nothing(filch::rank&) { return 0; }

/// Runs tasks newer than those of now, and offers the others to waiting workers, until condition() holds.
template <class S, class Condition> void work_until(filch::rank& here, Condition condition) {
  EXPECT_TRUE(eventually([&] {
    auto newer = here.async<&nothing>();
    newer.get();
    filch::join<S>([] {}, [] {});
    return condition();
  }));
}

/// Receives messages, and answers requests, until the gate is open.
void answer_until(filch::rank& here, gate const& g) {
  EXPECT_TRUE(eventually([&] {
    here.poll();
    return g.is_open();
  }));
}

/// Calls then(the future of a task that another worker of the pool has begun).
template <class S, class Then> long with_half_split_off(filch::rank& here, Then then) {
  auto older = here.async<&slow<S>>();
  if (steals<S>) work_until<S>(here, [] { return slow_has_begun->is_open(); });
  return 1 + then(older);
}

template <class S> long gets_in_f_of_a_join(filch::rank& here) {
  return with_half_split_off<S>(here, [](auto& older) {
    auto const f = [&older] {
      slow_may_end->open();
      return older.get();
    };
    auto const [a, b] = filch::join<S>(f, [] { return 100L; });
    return a + b;
  });
}
template <class S> long gets_in_the_body_of_a_scope(filch::rank& here) {
  return with_half_split_off<S>(here, [](auto& older) {
    long b = 0;
    long const a = filch::scope<S>([&](auto& s) {
      s.spawn([&b] { b = 100; });
      slow_may_end->open();
      return older.get();
    });
    return a + b;
  });
}
template <class S> long gets_in_a_stolen_g(filch::rank& here) {
  return with_half_split_off<S>(here, [](auto& older) {
    gate g_has_begun;
    auto const f = [&] {
      // A worker without tasks steals it; if it has to request, joins answer.
      if (steals<S>) {
        EXPECT_TRUE(eventually([&] {
          filch::join<S>([] {}, [] {});
          return g_has_begun.is_open();
        }));
      }
      return 100L;
    };
    auto const g = [&] {
      g_has_begun.open();
      slow_may_end->open();
      return older.get();
    };
    auto const [a, b] = filch::join<S>(f, g);
    return a + b;
  });
}

template <class S, auto F> void expect_one_hundred_and_eleven() {
  gate begun;
  gate may_end;
  slow_has_begun = &begun;
  slow_may_end = &may_end;
  on_ranks<S>(1, 3, 1, [](auto& c) { EXPECT_EQ((c.template fold<F>(std::plus<>())), 111); });
}

TYPED_TEST(cluster_waits, for_a_half_that_has_begun_may_be_in_f_of_a_join) {
  expect_one_hundred_and_eleven<TypeParam, &gets_in_f_of_a_join<TypeParam>>();
}
TYPED_TEST(cluster_waits, for_a_half_that_has_begun_may_be_in_the_body_of_a_scope) {
  expect_one_hundred_and_eleven<TypeParam, &gets_in_the_body_of_a_scope<TypeParam>>();
}
TYPED_TEST(cluster_waits, for_a_half_that_has_begun_may_be_in_a_stolen_side_of_a_join) {
  expect_one_hundred_and_eleven<TypeParam, &gets_in_a_stolen_g<TypeParam>>();
}

// A part of a task waits for an older child, whose join waits for a part of its own. Under `channel` the first part
// could begin on top of that join.
struct gates {
  gate child_began;
  gate g_of_child_began;
  gate g_of_first_began;
};
gates* order = nullptr;

/// Answers thieves until the gate is open, for so long at most. Is it?
template <class S> bool join_until(gate const& g, std::chrono::milliseconds at_most = std::chrono::seconds(30)) {
  return eventually(
      [&] {
        filch::join<S>([] {}, [] {});
        return g.is_open();
      },
      at_most);
}
template <class S> long child(filch::rank&) {
  order->child_began.open();
  if (!steals<S>) return 1;
  filch::join<S>([] { EXPECT_TRUE(join_until<S>(order->g_of_child_began)); },
                 [] {
                   order->g_of_child_began.open();
                   EXPECT_TRUE(order->g_of_first_began.pass());
                 });
  return 1;
}
template <class S> long gets_in_a_part(filch::rank& here) {
  auto f = here.async<&child<S>>();
  if (!steals<S>) return f.get();
  work_until<S>(here, [] { return order->child_began.is_open(); });
  EXPECT_TRUE(order->g_of_child_began.pass());
  long result = 0;
  // A worker may take the second part meanwhile.
  filch::join<S>([] { static_cast<void>(join_until<S>(order->g_of_first_began, k_a_while)); },
                 [&] {
                   order->g_of_first_began.open();
                   result = f.get();
                 });
  return result;
}

TYPED_TEST(cluster_waits, in_a_part_of_a_task_may_be_for_a_child_in_a_join) {
  for (std::size_t round = 0; round < scaled(20) && !this->HasFailure(); ++round) {
    gates now;
    order = &now;
    on_ranks<TypeParam>(1, 3, 1,
                        [](auto& c) { EXPECT_EQ((c.template fold<&gets_in_a_part<TypeParam>>(std::plus<>())), 1); });
  }
}

long opens(filch::rank&, std::uintptr_t address) {
  reinterpret_cast<gate*>(address)->open();
  return 1;
}
// Polls, with a task that another rank worker has to take. That one sleeps between its looks by now, for longer than
// a late poll takes.
long has_one_taken(filch::rank& here) {
  slow_has_begun->open();
  work_for(k_a_while);
  gate taken;
  auto const address = reinterpret_cast<std::uintptr_t>(&taken);
  auto child = here.async<&opens>(address);
  answer_until(here, taken);
  return child.get() + 10;
}
template <class S> long waits_for_a_half(filch::rank& here) {
  auto older = here.async<&has_one_taken>();
  if (steals<S>) work_until<S>(here, [] { return slow_has_begun->is_open(); });
  return older.get() + 100;
}

TYPED_TEST(cluster_waits, take_tasks_of_the_ranks_other_workers) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  gate begun;
  slow_has_begun = &begun;
  on_ranks<TypeParam>(
      1, 2, 1, [](auto& c) { EXPECT_EQ((c.template fold<&waits_for_a_half<TypeParam>>(std::plus<>())), 111); });
}

std::function<void()> const* body_of_calls = nullptr;
long calls(filch::rank&) {
  (*body_of_calls)();
  return 1;
}
long gets_on_a_thief(filch::rank& here) {
  filch::channel::pool pool({.workers = 2, .amount = filch::steal_amount::half});
  long sum = 0;
  pool.run([&] {
    expect_given_back_before<filch::channel>([&](std::function<void()> const& body) {
      body_of_calls = &body;
      sum = here.async<&calls>().get();
    });
  });
  return sum;
}

TEST(cluster_waits_of_channel, leave_no_received_task_with_the_waiter) {
  on_ranks<filch::channel>(1, 1, 1,
                           [](auto& c) { EXPECT_EQ((c.template fold<&gets_on_a_thief>(std::plus<>())), 1); });
}

/// Calls f(cluster) on two ranks with so many workers. Each rank has a port of its own kind.
template <class S, class Port, class F> void on_two_ranks(unsigned workers_of_0, unsigned workers_of_1, F f) {
  network net(2, 1);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Port here(net, r);
      filch::cluster<S> ranks(here, {.workers = r == 0 ? workers_of_0 : workers_of_1, .patience = 0});
      f(ranks);
    });
  }
  for (auto& t : threads) t.join();
}

// Two ranks, the first with two workers. Each task but the last waits for its child, which another worker runs:
//   x  the second worker of rank 0
//   y  rank 1
//   d  the first worker of rank 0, on the stack of the rank worker that x was split off
//   c  one of the other workers
// Messages are held back until these workers get them.
struct chain {
  gate rank_0_asked, x_began, x_looks_no_more, y_began, d_began, c_began;
  std::thread::id of_y;
};
chain* links = nullptr;

class holding_port : public port {
 public:
  holding_port(network& net, int rank) noexcept : port(net, rank) {}
  std::optional<filch::message> receive() {
    if (auto m = port::receive()) {
      if (m->at(0) > k_tasks || is_own_request(*m)) return m;
      if (rank() == 1 && m->at(0) == k_request) links->rank_0_asked.open();
      held_.push_back(std::move(*m));
    }
    auto const found = std::find_if(held_.begin(), held_.end(), [this](auto const& m) { return may_go(m.at(0)); });
    if (found == held_.end()) return std::nullopt;
    filch::message m = std::move(*found);
    held_.erase(found);
    return m;
  }

 private:
  static constexpr std::byte k_request{0};
  static constexpr std::byte k_tasks{1};

  /// A refused request: the rank requests again when it has it back.
  bool is_own_request(filch::message const& m) const {
    std::int32_t thief = -1;
    if (m.at(0) == k_request) std::memcpy(&thief, &m.at(1), sizeof thief);
    return thief == rank();
  }
  bool may_go(std::byte kind) const {
    if (rank() == 0) return kind == k_request ? links->x_began.is_open() : links->x_looks_no_more.is_open();
    // Rank 0 sends one request. The watchdog has no tasks to give.
    return kind == k_tasks || (links->y_began.is_open() && std::this_thread::get_id() == links->of_y);
  }

  std::vector<filch::message> held_;
};

long c(filch::rank&) {
  links->c_began.open();
  work_for(k_a_while);
  return 1;
}
long d(filch::rank& here) {
  EXPECT_EQ(here.index(), 0);
  auto child = here.async<&c>();
  links->d_began.open();
  answer_until(here, links->c_began);
  return child.get() + 1;
}
long y(filch::rank& here) {
  EXPECT_EQ(here.index(), 1);
  auto child = here.async<&d>();
  links->of_y = std::this_thread::get_id();
  links->y_began.open();
  answer_until(here, links->d_began);
  return child.get() + 1;
}
long x(filch::rank& here) {
  EXPECT_EQ(here.index(), 0);
  auto child = here.async<&y>();
  links->x_began.open();
  answer_until(here, links->y_began);
  links->x_looks_no_more.open();
  EXPECT_TRUE(links->d_began.pass());
  return child.get() + 1;
}
template <class S> long first(filch::rank& here) {
  answer_until(here, links->rank_0_asked);  // it requests while it has one rank worker
  auto child = here.async<&x>();
  work_until<S>(here, [] { return links->x_began.is_open(); });
  EXPECT_TRUE(links->y_began.pass());
  work_until<S>(here, [] { return links->d_began.is_open(); });  // on top of this one
  return child.get() + 1;
}

TYPED_TEST(cluster_waits, for_a_child_ignore_halves_that_began_before) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  chain all;
  links = &all;
  on_two_ranks<TypeParam, holding_port>(
      2, 1, [](auto& ranks) { EXPECT_EQ((ranks.template fold<&first<TypeParam>>(std::plus<>())), 5); });
}

/// Rank 0 receives no requests of others before the gate is open.
class deaf_port : public port {
 public:
  using port::port;
  std::optional<filch::message> receive() {
    constexpr std::byte k_request{0};
    if (slow_has_begun->is_open() && !held_.empty()) {
      auto m = std::move(held_.back());
      held_.pop_back();
      return m;
    }
    auto m = port::receive();
    if (!m || m->at(0) != k_request || slow_has_begun->is_open() || rank() != 0) return m;
    held_.push_back(std::move(*m));
    return std::nullopt;
  }

 private:
  std::vector<filch::message> held_;
};

std::function<std::uint64_t()> const* requests_of_rank_0 = nullptr;
long polls_until_its_rank_asks(filch::rank& here) {
  EXPECT_EQ(here.index(), 0);
  auto const before = (*requests_of_rank_0)();
  slow_has_begun->open();
  EXPECT_TRUE(eventually([&] {
    here.poll();
    return (*requests_of_rank_0)() > before;
  }));
  return 1;
}
/// A task that ends at once: its rank worker then waits for the half that the other worker has begun.
template <class S> long leaves_its_last_task_to_another_worker(filch::rank& here) {
  here.spawn<&polls_until_its_rank_asks>();
  work_until<S>(here, [] { return slow_has_begun->is_open(); });
  return 10;
}

TYPED_TEST(cluster_waits, for_halves_let_the_last_task_request) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  gate begun;
  slow_has_begun = &begun;
  on_two_ranks<TypeParam, deaf_port>(2, 2, [](auto& ranks) {
    std::function<std::uint64_t()> const requests = [&ranks] { return ranks.stats().requests; };
    if (ranks.rank() == 0) requests_of_rank_0 = &requests;
    EXPECT_EQ((ranks.template fold<&leaves_its_last_task_to_another_worker<TypeParam>>(std::plus<>())), 11);
  });
}

struct beside {
  gate child_began, g_has_run;
};
beside* sides = nullptr;

long ends_after_g(filch::rank& here) {
  EXPECT_EQ(here.index(), 1);
  sides->child_began.open();
  EXPECT_TRUE(sides->g_has_run.pass());
  return 1;
}
template <class S> long gets_in_f_beside_a_g_that_nobody_wanted(filch::rank& here) {
  auto child = here.async<&ends_after_g>();
  answer_until(here, sides->child_began);
  long sum = 0;
  join_without_request<S>([&] { sum = child.get(); }, [] { sides->g_has_run.open(); });
  return sum + 10;
}

TYPED_TEST(cluster_waits, for_another_rank_leave_older_tasks_to_the_ranks_other_workers) {
  if (!steals<TypeParam>) GTEST_SKIP() << "it has one worker";
  beside all;
  sides = &all;
  on_ranks<TypeParam>(2, 2, 1, [](auto& c) {
    EXPECT_EQ((c.template fold<&gets_in_f_beside_a_g_that_nobody_wanted<TypeParam>>(std::plus<>())), 11);
  });
}

thread_local bool is_looked_after = false;
std::atomic<int> looks{0};
class counting_port : public port {
 public:
  using port::port;
  std::optional<filch::message> receive() {
    if (is_looked_after) ++looks;
    return port::receive();
  }
};
long polls_each_millisecond(filch::rank& here) {
  is_looked_after = true;
  long polls = 0;
  for (int const before = looks.load(); looks.load() == before && polls < 1000; ++polls) {
    work_for(std::chrono::milliseconds(1));
    here.poll();
  }
  is_looked_after = false;
  return polls;
}
long short_ones_before_a_long_one(filch::rank& here) {
  here.spawn<&polls_each_millisecond>();
  for (int i = 0; i < 100'000; ++i) here.spawn<&nothing>();
  return 0;
}

TEST(cluster_polls, look_at_once_in_a_long_task_after_short_ones) {
  network net(1, 1);
  counting_port here(net, 0);
  filch::cluster<filch::direct> ranks(here, {.workers = 1, .patience = 0});
  // More than one if the watchdog polls at that moment.
  EXPECT_LE((ranks.fold<&short_ones_before_a_long_one>(std::plus<>())), 5);
}

}  // namespace
}  // namespace filch_test
