// Steal requests: which victims they go to, when they are sent, how they come back. An early request stays with its
// first victim while the thief runs the last received task; the tests look for it there.
#include "schedulers/channel/worker.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <vector>

namespace filch_test {
namespace {

using S = filch::channel;
using filch::steal_amount;
using filch::victim_order;

enum class order { none, poll, forget, look, leave };

/// Workers that follow orders. Detached tasks hold all but worker 0: no early requests are sent before these, and
/// their workers' request channels are open.
class obedient {
 public:
  static constexpr unsigned k_most_workers = 5;

  explicit obedient(filch::channel_options const& options) : pool(options) {}

  /// Worker 0: puts each of the others into a task. No request is out then.
  void hold_others() {
    for (unsigned i = 1; i < pool.workers(); ++i) {
      unsigned const before = held_;
      S::detach([this] {
        ++held_;
        obey();
      });
      EXPECT_TRUE(eventually([&] {
        S::poll();
        return held_ > before;
      }));
    }
  }
  /// Follows orders until it may leave.
  void obey() {
    unsigned const me = S::worker_index();
    for (order what = order::none; what != order::leave; told_[me] = order::none) {
      EXPECT_TRUE(eventually([&] { return (what = told_[me]) != order::none; })) << "nothing to do for " << me;
      if (what == order::none) return;
      if (what == order::poll) S::poll();
      if (what == order::forget) forget_old_requests();
      if (what == order::look) sees_request_[me] = S::wanted();
    }
  }
  void tell(unsigned worker, order what) {
    told_[worker] = what;
    EXPECT_TRUE(eventually([&] { return told_[worker] == order::none; })) << worker << " does nothing";
  }
  void tell_others(order what) {
    for (unsigned i = 0; i < pool.workers(); ++i) {
      if (i != S::worker_index()) tell(i, what);
    }
  }
  /// The workers, other than the calling one, that have a request to answer.
  std::vector<unsigned> asked_others() {
    tell_others(order::look);
    std::vector<unsigned> asked;
    for (unsigned i = 0; i < pool.workers(); ++i) {
      if (i != S::worker_index() && sees_request_[i]) asked.push_back(i);
    }
    return asked;
  }
  /// While no thief waits: a worker with a task to give takes out the requests that it holds, and drops old ones.
  static void forget_old_requests() {
    filch::join<S>([] { S::poll(); }, [] {});
  }
  /// Polls until it has sent a message.
  void give() {
    auto const before = pool.stats().publications;
    EXPECT_TRUE(eventually([&] {
      S::poll();
      return pool.stats().publications > before;
    })) << "no thief takes anything";
  }

  S::pool pool;

 private:
  std::atomic<unsigned> held_{0};
  std::array<std::atomic<order>, k_most_workers> told_{};
  std::array<std::atomic<bool>, k_most_workers> sees_request_{};
};

using victims = std::vector<unsigned>;

/// In a task: no early request follows one that was shorter than a steal.
void last_longer_than_a_steal() { work_for(std::chrono::microseconds(50)); }

/// Calls meanwhile() on the thief while it runs the second of two tasks that worker 0 gave it, in a pool of five
/// workers that request half. Returns how many requests the thief sent before that task.
std::uint64_t while_asking(unsigned thief, obedient& all, auto const& meanwhile) {
  std::uint64_t sent = 0;
  all.pool.run([&] {
    all.hold_others();
    std::uint64_t requests = 0;
    filch::scope<S>([&](auto& s) {
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), thief);
        all.tell_others(order::forget);  // requests that it left with others before it got this task
        last_longer_than_a_steal();
        requests = all.pool.stats().requests;
      });
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), thief);
        sent = all.pool.stats().requests - requests;
        meanwhile();
        all.tell_others(order::leave);
      });
      s.spawn([] {});
      all.tell(thief, order::leave);
      all.give();
      all.obey();
    });
  });
  return sent;
}

/// The victims of the thief's early request.
victims asked_by(unsigned thief, obedient& all) {
  victims asked;
  while_asking(thief, all, [&] { asked = all.asked_others(); });
  return asked;
}

TEST(requests, go_to_the_nearest_worker_in_nearest_order) {
  obedient all(
      {.workers = 5, .amount = steal_amount::half, .victims = victim_order::nearest, .early_requests = true});
  for (unsigned thief : {1u, 2u, 3u, 4u}) EXPECT_EQ(asked_by(thief, all), victims{thief - 1}) << "by " << thief;
}

TEST(requests, are_passed_on_by_the_distance_from_the_thief) {
  obedient all(
      {.workers = 5, .amount = steal_amount::half, .victims = victim_order::nearest, .early_requests = true});
  while_asking(3, all, [&] {
    for (unsigned nearest : {2u, 4u, 1u}) {
      EXPECT_EQ(all.asked_others(), victims{nearest});
      all.tell(nearest, order::poll);
    }
    EXPECT_EQ(all.asked_others(), victims{0});
  });
}

TEST(requests, go_to_the_sender_of_the_last_tasks) {
  obedient all({.workers = 5, .amount = steal_amount::half, .victims = victim_order::last, .early_requests = true});
  for (int round = 0; round < 5; ++round) {
    for (unsigned thief : {1u, 2u, 3u, 4u}) EXPECT_EQ(asked_by(thief, all), victims{0}) << "by " << thief;
  }
}

TEST(requests, go_to_the_sender_of_the_last_tasks_and_not_to_their_owner) {
  obedient all({.workers = 5, .amount = steal_amount::half, .victims = victim_order::last, .early_requests = true});
  constexpr unsigned k_giver = 2;
  constexpr unsigned k_thief = 4;
  victims asked;
  all.pool.run([&] {
    all.hold_others();
    filch::scope<S>([&](auto& s) {
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), k_giver);
        all.tell(k_thief, order::leave);
        all.give();
        all.obey();
      });
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), k_thief);
        all.tell_others(order::forget);
        last_longer_than_a_steal();
      });
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), k_thief);
        asked = all.asked_others();
        all.tell_others(order::leave);
      });
      for (int i = 3; i < 8; ++i) s.spawn([] {});
      all.tell(k_giver, order::leave);
      all.give();  // four
      all.obey();
    });
  });
  EXPECT_EQ(asked, victims{k_giver});
}

TEST(requests, go_to_any_worker_in_random_order) {
  // One pool for all rounds: each pool begins with the same random numbers.
  obedient all({.workers = 5, .amount = steal_amount::half, .victims = victim_order::random, .early_requests = true});
  std::array<bool, 4> went_to{};
  EXPECT_TRUE(eventually([&] {
    victims const asked = asked_by(4, all);
    EXPECT_EQ(asked.size(), 1u);
    for (unsigned i : asked) went_to.at(i) = true;
    return went_to == std::array{true, true, true, true} || testing::Test::HasFailure();
  }));
}

TEST(requests, are_sent_before_the_last_task_only_as_early_requests) {
  obedient early({.workers = 5, .amount = steal_amount::half, .early_requests = true});
  EXPECT_EQ(while_asking(2, early, [&] { EXPECT_EQ(early.asked_others().size(), 1u); }), 1u);
  obedient late({.workers = 5, .amount = steal_amount::half, .early_requests = false});
  EXPECT_EQ(while_asking(2, late, [&] { EXPECT_EQ(late.asked_others().size(), 0u); }), 0u);
}

TEST(requests, come_back_if_no_worker_has_tasks) {
  obedient all({.workers = 2, .amount = steal_amount::half, .early_requests = true});
  all.pool.run([&] {
    all.hold_others();
    std::uint64_t returns = 0;
    std::uint64_t forwards = 0;
    filch::scope<S>([&](auto& s) {
      s.spawn([&] {
        all.tell(0, order::poll);
        last_longer_than_a_steal();
      });
      s.spawn([&] {
        returns = all.pool.stats().returns;
        forwards = all.pool.stats().forwards;
        all.tell(0,
                 order::poll);  // it has sent its tasks and runs the last one: passes the request back to the thief
        EXPECT_EQ(all.pool.stats().forwards, forwards + 1);
        EXPECT_EQ(all.pool.stats().returns, returns) << "before the thief looked";
        all.tell(0, order::leave);
      });
      s.spawn([&] {
        EXPECT_EQ(S::worker_index(), 0u);
        all.obey();
        EXPECT_TRUE(eventually([&] { return all.pool.stats().returns > returns; })) << "it did not come back";
        EXPECT_EQ(all.pool.stats().returns, returns + 1);
      });
      all.tell(1, order::leave);
      all.give();
    });
  });
}

TEST(requests, stay_with_their_doorbell_when_a_loop_looks_at_them) {
  S::pool pool({.workers = 2});
  pool.run([] {
    auto& w = static_cast<filch::detail::channel_member&>(*filch::detail::channel_self);
    EXPECT_TRUE(eventually([&] {
      w.has_deferred = false;
      return S::wanted() && !w.has_deferred;
    })) << "each look clears the doorbell and rings it again";
  });
}

}  // namespace
}  // namespace filch_test
