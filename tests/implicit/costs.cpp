// The limits of protocol.md, "What a thief may cost its victim". The steps are counted, not timed.
#include "blind.hpp"
#include "scale.hpp"
#include "schedulers/implicit/worker.hpp"
#include "stealing.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace filch_test {
namespace {

using S = filch::implicit;

long deep(long n) {
  if (n == 0) return 0;
  auto const [a, b] = filch::join<S>([=] { return deep(n - 1); }, [] { return 1L; });
  return a + b;
}

long deep_in_g(long n) {
  if (n == 0) return 0;
  auto const [a, b] = filch::join<S>([] { return 1L; }, [=] { return deep_in_g(n - 1); });
  return a + b;
}

std::atomic<long> sink{0};

void tiny_joins(long n) {
  for (long i = 0; i < n; ++i)
    filch::join<S>([] { sink.store(1, std::memory_order_relaxed); },
                   [] { sink.store(2, std::memory_order_relaxed); });
}

std::uint64_t microseconds_of(auto const& call) {
  auto const begin = std::chrono::steady_clock::now();
  call();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count());
}

/// A join whose g has to be stolen.
void expect_steal() {
  gate stolen;
  filch::join<S>([&] { EXPECT_TRUE(stolen.pass()); }, [&] { stolen.open(); });
}

TEST(costs, of_walks_over_a_deep_recursion_are_few) {
  long const depth = static_cast<long>(scaled(300'000));
  S::pool pool({.workers = 2, .stack_size = std::size_t{1} << 28});
  EXPECT_EQ(pool.run([&] { return deep(depth); }), depth);
  auto const before = pool.stats();
  EXPECT_EQ(pool.run([&] { return deep(depth); }), depth);
  // Each walk may pass over the whole recursion.
  EXPECT_LE(pool.stats().walks - before.walks, 20u);
}

TEST(costs, of_tiny_joins_in_series_are_a_part_of_their_time) {
  long const joins = static_cast<long>(scaled(10'000'000));
  S::pool pool({.workers = 2});
  pool.run([&] { tiny_joins(joins); });
  auto const before = pool.stats();
  std::uint64_t const time = microseconds_of([&] { pool.run([&] { tiny_joins(joins); }); });
  EXPECT_LE(pool.stats().publications - before.publications, 1'000 + time / 4);
  EXPECT_LE(pool.stats().suspensions - before.suspensions, 300 + time / 16);
}

TEST(costs, go_with_work_from_thief_to_thief) {
  long const depth = static_cast<long>(scaled(100'000));
  constexpr long k_times = 50;
  S::pool pool({.workers = 2, .stack_size = std::size_t{1} << 27});
  std::uint64_t const time = microseconds_of([&] {
    for (long i = 0; i < k_times; ++i) EXPECT_EQ(pool.run([&] { return deep_in_g(depth); }), depth);
  });
  EXPECT_LE(pool.stats().steals, 300 + time / 16);
}

TEST(costs, do_not_keep_thieves_away_for_good) {
  for (unsigned workers : {2u, 4u}) {
    S::pool pool({.workers = workers, .stack_size = std::size_t{1} << 27});
    pool.run([&] {
      for (std::size_t i = 0; i < scaled(20); ++i) {
        tiny_joins(10'000);
        expect_steal();
        // The joins of deep() have ended when the next join begins.
        filch::join<S>([] { static_cast<void>(deep(20'000)); }, [] {});
        expect_steal();
      }
    });
  }
}

/// The next caller has the same place, and with it the account.
TEST(costs, of_the_caller_before_do_not_let_workers_sleep) {
  constexpr filch::runtime::cycles k_debt = 50'000'000;  // some 20 ms
  S::pool pool({.workers = 2});
  for (int i = 0; i < 10; ++i) {
    std::uint64_t sleeps = 0;
    pool.run([&] {
      wait_for_thief<S>();
      sleeps = pool.stats().sleeps;
      auto& me = filch::detail::this_member();
      using filch::runtime::account;
      me.account.charge(filch::runtime::time_stamp(), (account::k_credit + k_debt) / account::k_part, 0);
      filch::join<S>([] {}, [] {});  // puts the request off
    });
    EXPECT_TRUE(eventually([&] { return pool.stats().sleeps > sleeps; }));
    pool.run([] { wait_for_thief<S>(); });
  }
}

TEST(costs, are_no_looks_at_a_worker_that_may_not_be_requested) {
  if (is_thread_sanitized || steals_are_forced<S>) GTEST_SKIP() << "a request is always allowed, or stands";
  constexpr filch::runtime::cycles k_debt = 50'000'000;  // some 20 ms
  constexpr int k_looks = 6;
  using filch::detail::implicit_member;
  filch::runtime::cycles last = 0;
  S::pool pool({.workers = 2});
  bool const rests = eventually([&] {
    int different = 0;
    pool.run([&] {
      implicit_member* thief = nullptr;
      gate begun;
      filch::join<S>([&] { answer_until_open<S>(begun); },
                     [&] {
                       thief = &filch::detail::this_member();
                       begun.open();
                     });
      if (&filch::detail::this_member() == thief) return;
      auto& me = filch::detail::this_member();
      auto const begin = filch::runtime::time_stamp();
      me.account.charge(begin, (filch::runtime::account::k_credit + k_debt) / filch::runtime::account::k_part, 0);
      filch::join<S>([] {}, [] {});  // puts the request off
      last = 0;
      auto const looks = [&, before = pool.stats().failed_steals] { return pool.stats().failed_steals - before; };
      // A thief that finds nothing sleeps soon.
      while (different < k_looks && filch::runtime::time_stamp() - begin < k_debt / 2) {
        auto const again = thief->looks_again_at.get();
        if (again < begin || again == last) continue;
        if (last != 0) {
          EXPECT_GE(again - last, implicit_member::k_longest_rest);
        }
        last = again;
        ++different;
      }
      auto const lasted = static_cast<std::uint64_t>(filch::runtime::time_stamp() - begin);
      EXPECT_LE(looks(), 2 * lasted / implicit_member::k_longest_rest + 8) << "it looks at the pool all the time";
    });
    return different == k_looks;
  });
  EXPECT_TRUE(rests);
}

/// No interrupt would find what a fork that was requested did not offer.
TEST(costs, keep_no_fork_from_thieves_without_interrupts) {
  S::pool pool({.workers = 2, .interrupts = false});
  pool.run([&] {
    wait_for_thief<S>();
    using filch::runtime::account;
    filch::detail::this_member().account.charge(filch::runtime::time_stamp(),
                                                (account::k_credit + 50'000'000) / account::k_part, 0);
    expect_steal();
  });
}

TEST(costs, let_all_sleepers_begin_without_interrupts) {
  for (unsigned workers : {3u, 4u}) {
    S::pool pool({.workers = workers, .interrupts = false});
    ASSERT_TRUE(eventually([&] { return pool.stats().sleeps == workers - 1; }));
    std::atomic<unsigned> begun{0};
    pool.run([&] {
      filch::scope<S>([&](auto& s) {
        for (unsigned i = 0; i < workers; ++i) {
          s.spawn([&] {
            ++begun;
            EXPECT_TRUE(eventually([&] { return begun == workers; })) << begun << " of " << workers;
          });
        }
      });
    });
  }
}

TEST(costs, of_a_worker_that_cannot_answer_are_small) {
  S::pool pool({.workers = 2});
  gate inner;
  auto const before = pool.stats();
  pool.run([&] {
    filch::join<S>(
        [&] {
          filch::join<S>(
              [&] {
                call_blindly([](void*) { work_for(std::chrono::milliseconds(300)); }, nullptr);
                auto const then = pool.stats();
                EXPECT_LE(then.failed_steals - before.failed_steals, 5'000u);
                EXPECT_LE(then.sleeps - before.sleeps, 30u);
                EXPECT_TRUE(inner.pass());
              },
              [&] { inner.open(); });
        },
        [] {});
  });
}

}  // namespace
}  // namespace filch_test
