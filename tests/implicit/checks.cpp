// Each invariant of filch::implicit, broken in turn: one word of a real worker, stack, record or scope is wrong for a
// moment, and the check names the condition.
#include <filch/filch.hpp>

#include "scale.hpp"
#include "schedulers/implicit/checks.hpp"
#include "stealing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace filch_test {
namespace {

namespace d = filch::detail;
using checks = d::implicit_checks;
using S = filch::implicit;

/// Puts another value into a word as long as it exists.
template <class T> class broken_word {
 public:
  broken_word(T& word, std::type_identity_t<T> wrong) : word_(word), right_(std::exchange(word, wrong)) {}
  broken_word(broken_word const&) = delete;
  broken_word& operator=(broken_word const&) = delete;
  ~broken_word() { word_ = right_; }

 private:
  T& word_;
  T right_;
};

/// The condition that a check names while the word is wrong. Afterwards nothing is broken any more.
template <class T, class Check> std::string named(Check const& check, T& word, std::type_identity_t<T> wrong) {
  EXPECT_EQ(check(), nullptr) << "before";
  char const* broken = nullptr;
  {
    broken_word<T> const now(word, wrong);
    broken = check();
  }
  EXPECT_EQ(check(), nullptr) << "after";
  return broken ? broken : "nothing";
}

/// Runs `look` on a pool's only worker, which no thief disturbs.
template <class Look> void on_worker(Look const& look) {
  S::pool pool({.workers = 1});
  pool.run([&] { look(d::this_member()); });
}

/// The next fork offers.
void request(d::implicit_member& w) { w.request().request(); }

struct offered {
  d::implicit_member& w;
  d::implicit_stack& s;
  checks::pool_words pool;

  explicit offered(d::implicit_member& worker)
      : w(worker), s(*w.offers.own()), pool{d::team_of(w).places(), d::team_of(w).barrier()} {}
  auto check() const {
    return [this] { return checks::of_stack(s, d::bounds_of(w), pool); };
  }
  /// Record number i from the newest.
  d::implicit_record& record(std::uint32_t i = 0) const { return s.record(s.number_of_records() - 1 - i); }
};

TEST(a_broken_worker, is_named) {
  on_worker([](d::implicit_member& w) {
    auto const check = [&w] { return checks::of_worker(w); };
    EXPECT_EQ(named(check, w.kind, d::fiber_kind::outside), "w.kind == k_implicit_tag");
    EXPECT_EQ(named(check, w.walk_cost, 0), "w.walk_cost > 0");
    EXPECT_EQ(named(check, w.stack->root, 4711), "w.offers.own()->open.peek().root == w.stack->root");
    d::implicit_stack& own = *w.offers.own();
    d::implicit_stack other{};
    w.offers.publish(other);
    EXPECT_STREQ(check(), "w.offers.own() == reinterpret_cast<implicit_stack*>(w.stack->memory().lower())");
    w.offers.publish(own);
    auto const poll = w.poll.exchange(17, std::memory_order_relaxed);
    EXPECT_STREQ(check(), "w.request().is_valid()");
    w.poll.store(poll, std::memory_order_relaxed);
    for (int i = 0; i < 40; ++i) w.pause.lengthen();
    EXPECT_EQ(check(), nullptr);
    w.pause = d::interrupt_pause::of(d::interrupt_pause::k_longest_in_vain / 2);
    w.pause.was_in_vain();
    EXPECT_EQ(w.pause.next(), d::interrupt_pause::k_longest_in_vain);
    EXPECT_EQ(check(), nullptr);
    w.pause.lengthen();
    EXPECT_EQ(w.pause.next(), d::interrupt_pause::k_longest) << "something may be hidden";
    w.pause.reset();
    EXPECT_EQ(check(), nullptr);
  });
}

TEST(a_pause, doubles_each_time_that_there_is_nothing_to_offer_after_it) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, thieves come at any pace";
  on_worker([](d::implicit_member& w) {
    constexpr auto k_first = d::interrupt_pause::k_first;
    auto const is_over = [&w] { return filch::runtime::time_stamp() >= w.pause.until(); };
    w.pause.reset();
    auto const begin = filch::runtime::time_stamp();
    request(w);
    for (int i = 0; i < 40; ++i) S::poll();
    EXPECT_GT(w.pause.until(), begin);
    EXPECT_LE(w.pause.next(), 2 * (k_first + filch::runtime::time_stamp() - begin)) << "polls during a pause count";
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(eventually(is_over));
      auto const before = w.pause.next();
      d::frame_registers here;
      filch_implicit_registers(&here);
      d::team_of(w).publish_interrupted(w, here);
      EXPECT_EQ(w.pause.next(), 2 * before);
      EXPECT_TRUE(w.request().is_requested()) << "its next fork offers";
    }
    filch::join<S>([] { S::poll(); }, [] {});
    EXPECT_EQ(w.pause.next(), k_first);
    EXPECT_LT(w.pause.until(), filch::runtime::time_stamp())
        << "what it did not offer can be interrupted for at once";
  });
}

void expect_that_a_long_walk_is_put_off_until_it_is_paid(d::implicit_member& w) {
  constexpr filch::runtime::cycles k_first_delay = 1 << 21;
  constexpr filch::runtime::cycles k_much_later = filch::runtime::cycles{1} << 33;
  char far_from_the_first_frame[1 << 16];
  auto const keep = [&] { asm volatile("" : : "r"(far_from_the_first_frame) : "memory"); };
  keep();
  auto const fork = [] { filch::join<S>([] {}, [] {}); };
  constexpr std::uint64_t k_more_than_any_credit = 1 << 16;
  auto const usual = std::exchange(w.walk_cost, k_more_than_any_credit);
  w.account.pay(filch::runtime::cycles{1} << 40);  // nothing was charged for long
  w.pays_since = 0;
  auto const before = w.walks.read();
  request(w);
  fork();
  EXPECT_EQ(w.walks.read(), before);
  auto const now = filch::runtime::time_stamp();
  EXPECT_GT(w.put_off_until.get(), now);
  EXPECT_LE(w.put_off_until.get(), now + k_first_delay) << "the stack may be short by then";
  EXPECT_FALSE(w.request().is_requested()) << "thieves come again";
  request(w);
  fork();
  EXPECT_EQ(w.walks.read(), before) << "it is not paid yet";
  w.pays_since -= k_much_later;
  request(w);
  fork();
  EXPECT_EQ(w.walks.read(), before + 1) << "it has waited for this walk";
  w.walk_cost = k_more_than_any_credit;  // the walk measured it
  request(w);
  fork();
  EXPECT_EQ(w.walks.read(), before + 1) << "the next walk is paid anew";
  w.walk_cost = usual;
  request(w);
  fork();
  EXPECT_EQ(w.walks.read(), before + 2) << "of a short stack the costs alone are paid";
  keep();
}

TEST(a_long_walk, is_paid_for_before_it_begins) {
  if (is_thread_sanitized) GTEST_SKIP() << "no interrupts, so nothing is put off";
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, thieves come at any pace";
  S::pool pool({.workers = 2});
  // The other worker requests nothing meanwhile.
  gate begun;
  gate done;
  pool.run([&] {
    filch::join<S>(
        [&] {
          answer_until_open<S>(begun);
          expect_that_a_long_walk_is_put_off_until_it_is_paid(d::this_member());
          done.open();
        },
        [&] {
          begun.open();
          EXPECT_TRUE(done.pass());
        });
  });
}

TEST(a_loop, is_split_before_its_first_iteration_beside_a_thief_that_may_not_request_yet) {
  if (is_thread_sanitized) GTEST_SKIP() << "no interrupts, so nothing is put off";
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, thieves come at any pace";
  S::pool pool({.workers = 2});
  pool.run([] {
    EXPECT_TRUE(eventually([] { return S::somebody_looks(); }));
    constexpr filch::runtime::cycles k_some_milliseconds = 1 << 24;
    d::implicit_member& w = d::this_member();
    w.put_off_until.set(filch::runtime::time_stamp() + k_some_milliseconds);
    static_cast<void>(w.request().take_away());
    gate second;
    filch::for_index<S>(0, 2, [&](int i) {
      if (i == 1) return second.open();
      EXPECT_TRUE(second.pass()) << "it waits behind the first one";
    });
  });
}

TEST(a_broken_pause, is_named) {
  on_worker([](d::implicit_member& w) {
    auto const check = [&w] { return checks::of_worker(w); };
    EXPECT_EQ(named(check, w.pause, d::interrupt_pause::of(1)), "w.pause.next() >= interrupt_pause::k_first");
    EXPECT_EQ(named(check, w.pause, d::interrupt_pause::of(2 * d::interrupt_pause::k_longest_in_vain)),
              "w.pause.next() <= interrupt_pause::k_longest_in_vain");
  });
}

TEST(a_broken_stack, is_named) {
  on_worker([](d::implicit_member& w) {
    request(w);
    filch::join<S>(
        [&] {
          offered const o(w);
          ASSERT_EQ(o.s.number_of_records(), 1u);
          EXPECT_EQ(named(o.check(), o.s.barrier, 1), "s.barrier == pool.barrier");
          EXPECT_EQ(named(o.check(), o.s.known_end, nullptr), "open.end == 0 || s.known_end >= &s.record(open.end)");
          EXPECT_EQ(named(o.check(), o.s.barrier_slot, nullptr), "s.barrier_slot == newest_join->return_slot");
          EXPECT_EQ(named(o.check(), o.s.hidden_return, 1), "s.hidden_return == newest_join->hidden_return");
          checks::pool_words const none{0, o.pool.barrier};
          EXPECT_STREQ(checks::of_stack(o.s, d::bounds_of(w), none), "open.end <= pool.places");
          auto const barrier = [&o] { return checks::of_barrier(o.s); };
          EXPECT_EQ(named(barrier, *o.s.barrier_slot, 1),
                    "s.barrier_slot == nullptr || *s.barrier_slot == s.barrier");
          // A thief that takes more than there is.
          ASSERT_TRUE(o.s.open.steal(o.s.open.peek()));
          ASSERT_TRUE(o.s.open.steal(o.s.open.peek()));
          EXPECT_STREQ(o.check()(), "open.tail <= open.end");
          o.s.open.forget_stolen(1);
          o.s.open.offer_to(1);
          EXPECT_EQ(o.check()(), nullptr);
        },
        [] {});
  });
}

TEST(a_broken_stack, without_a_barrier_or_with_half_a_list_is_named) {
  on_worker([](d::implicit_member& w) {
    offered const o(w);
    std::uint64_t somewhere = 0;
    EXPECT_EQ(named(o.check(), o.s.barrier_slot, &somewhere), "s.barrier_slot == nullptr");
    S::frame scope;
    EXPECT_EQ(named(o.check(), o.s.newest_scope, &scope),
              "(s.newest_scope == nullptr) == (s.oldest_scope == nullptr)");
  });
}

TEST(a_broken_record, of_a_join_is_named) {
  on_worker([](d::implicit_member& w) {
    request(w);
    filch::join<S>(
        [&] {
          offered const o(w);
          ASSERT_EQ(o.s.number_of_records(), 1u);
          d::implicit_record& r = o.record();
          EXPECT_EQ(named(o.check(), r.stack, nullptr), "record.stack == &s");
          EXPECT_EQ(named(o.check(), r.rank, 8),
                    "record.rank == reinterpret_cast<std::uint64_t>(record.return_slot + 1)");
          EXPECT_EQ(named(o.check(), r.what, d::implicit_record::kind::outside),
                    "record.what != implicit_record::kind::outside");
          EXPECT_EQ(named(o.check(), r.hidden_return, o.s.barrier), "record.hidden_return != s.barrier");
          std::uint64_t elsewhere = 0;
          d::stack_bounds const other{reinterpret_cast<std::uint64_t>(&elsewhere), 0};
          EXPECT_STREQ(checks::of_stack(o.s, other, o.pool),
                       "bounds.hold_word(reinterpret_cast<std::uint64_t>(record.return_slot))");
        },
        [] {});
  });
}

TEST(a_broken_order, of_two_joins_is_named) {
  on_worker([](d::implicit_member& w) {
    request(w);
    filch::join<S>(
        [&] {
          request(w);
          filch::join<S>(
              [&] {
                offered const o(w);
                ASSERT_EQ(o.s.number_of_records(), 2u);
                d::implicit_record& older = o.record(1);
                d::implicit_record& newer = o.record(0);
                auto const slot = newer.return_slot;
                std::uint64_t const rank = newer.rank;
                auto* const barrier_slot = o.s.barrier_slot;
                newer.return_slot = o.s.barrier_slot = older.return_slot;
                newer.rank = older.rank;
                EXPECT_STREQ(o.check()(),
                             "older.rank > newer.rank || (!older.is_join() && older.rank == newer.rank)");
                newer.return_slot = slot;
                newer.rank = rank;
                o.s.barrier_slot = barrier_slot;
                EXPECT_EQ(o.check()(), nullptr);
              },
              [] {});
        },
        [] {});
  });
}

TEST(a_broken_record, of_a_task_is_named) {
  on_worker([](d::implicit_member& w) {
    S::frame older;
    S::frame newer;
    request(w);
    older.spawn([] {});
    request(w);
    newer.spawn([] {});
    offered const o(w);
    ASSERT_EQ(o.s.number_of_records(), 2u);
    d::implicit_record& r = o.record();
    d::implicit_stack other{};
    EXPECT_EQ(named(o.check(), r.scope, nullptr), "record.scope != nullptr");
    EXPECT_EQ(named(o.check(), checks::stack_of(newer), &other), "record.scope->stack_ == &s");
    EXPECT_EQ(named(o.check(), r.scope, &older), "nothing");  // as old as itself
    d::implicit_record& first = o.record(1);
    std::swap(first.scope, r.scope);
    EXPECT_STREQ(o.check()(), "newer.scope->sequence_ >= older.scope->sequence_");
    std::swap(first.scope, r.scope);
  });
}

TEST(a_broken_order, of_a_join_and_a_task_is_named) {
  on_worker([](d::implicit_member& w) {
    request(w);
    filch::join<S>(
        [&] {
          S::frame scope;
          request(w);
          scope.spawn([] {});
          offered const o(w);
          ASSERT_EQ(o.s.number_of_records(), 2u);
          EXPECT_EQ(named(o.check(), o.record().rank, o.record(1).rank), "newer.rank < older.rank");
        },
        [] {});
  });
}

TEST(a_broken_scope, is_named) {
  if (FILCH_TEST_FORCED) GTEST_SKIP() << "where steals are forced, spawned tasks are handed over at once";
  on_worker([](d::implicit_member&) {
    S::frame outer;
    S::frame scope;
    outer.spawn([] {});
    scope.spawn([] {});
    auto const check = [&scope] { return checks::of_scope(scope); };
    checks::scope_words const words = checks::words_of(scope);
    EXPECT_EQ(named(check, words.oldest, nullptr), "(scope.waiting_ == 0) == (scope.oldest_ == nullptr)");
    EXPECT_EQ(named(check, words.newest, nullptr), "(scope.waiting_ == 0) == (scope.newest_ == nullptr)");
    EXPECT_EQ(named(check, words.offered, 4097), "scope.waiting_ + scope.offered_ <= implicit_frame::k_pending_most");
    EXPECT_EQ(named(check, words.sequence, 1000), "scope.sequence_ < scope.stack_->scopes");
    EXPECT_EQ(named(check, words.rank, 0), "scope.rank_ > scope.position_");
    EXPECT_EQ(named(check, words.sequence, 0),
              "scope.older_ == nullptr || scope.older_->sequence_ < scope.sequence_");
  });
}

TEST(a_change_within_a_change, ends_the_program) {
  if (!filch::runtime::k_checks) GTEST_SKIP() << "the library does not execute its invariants";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(on_worker([](d::implicit_member& w) {
                 d::begin_change(w);
                 d::begin_change(w);
               }),
               "!w.change.is_set\\(\\)");
}

}  // namespace
}  // namespace filch_test
