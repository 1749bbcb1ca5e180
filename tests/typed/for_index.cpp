// for_index: every index once, over every integer type, split on demand only.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"
#include "stop_source.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace filch_test {
namespace {

template <class S> class for_index : public ::testing::Test {};
TYPED_TEST_SUITE(for_index, all_schedulers, scheduler_names);

template <class S, class Body> void on_several_pools(Body body) {
  for (unsigned workers : {1u, 2u, 4u}) {
    SCOPED_TRACE(workers);
    typename S::pool pool({.workers = workers});
    pool.run(body);
  }
}

/// Visits [first, last) and expects each index once.
template <class S, class I> void visits_each_once(I first, I last) {
  auto const offset = [first](I i) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(first));
  };
  std::size_t const count = first < last ? offset(last) : 0;
  std::vector<std::atomic<unsigned char>> visits(count + 1);
  filch::for_index<S>(first, last, [&](I i) {
    ASSERT_TRUE(first <= i && i < last);
    visits[offset(i)].fetch_add(1, std::memory_order_relaxed);
  });
  for (std::size_t n = 0; n < count; ++n) {
    ASSERT_EQ(visits[n].load(), 1) << n << " of " << count << (std::is_signed_v<I> ? ", signed, " : ", unsigned, ")
                                   << sizeof(I) << " bytes";
  }
}

template <class S, class I> void visits_ranges_of() {
  using limits = std::numeric_limits<I>;
  I const zero{};
  visits_each_once<S, I>(zero, zero);
  visits_each_once<S, I>(limits::max(), limits::min());
  visits_each_once<S, I>(zero, I{1});
  visits_each_once<S, I>(I{3}, I{100});
  visits_each_once<S, I>(static_cast<I>(limits::max() - I{100}), limits::max());
  visits_each_once<S, I>(limits::min(), static_cast<I>(limits::min() + I{100}));
  visits_each_once<S, I>(limits::max(), limits::max());
  if constexpr (std::is_signed_v<I>) visits_each_once<S, I>(I{-100}, I{100});
  if constexpr (sizeof(I) <= 2) visits_each_once<S, I>(limits::min(), limits::max());
}

TYPED_TEST(for_index, visits_every_index_once_in_every_integer_type) {
  on_several_pools<TypeParam>([] {
    using S = TypeParam;
    visits_ranges_of<S, signed char>();
    visits_ranges_of<S, unsigned char>();
    visits_ranges_of<S, char>();
    visits_ranges_of<S, short>();
    visits_ranges_of<S, unsigned short>();
    visits_ranges_of<S, int>();
    visits_ranges_of<S, unsigned>();
    visits_ranges_of<S, long>();
    visits_ranges_of<S, unsigned long>();
    visits_ranges_of<S, long long>();
    visits_ranges_of<S, unsigned long long>();
    visits_ranges_of<S, char16_t>();
    visits_ranges_of<S, wchar_t>();
  });
}

TYPED_TEST(for_index, visits_every_index_once_when_there_are_many) {
  on_several_pools<TypeParam>([] {
    auto const count = static_cast<int>(scaled(3'000'000));
    visits_each_once<TypeParam>(-count, count);
    visits_each_once<TypeParam, std::uint64_t>(std::numeric_limits<std::uint64_t>::max() - scaled(1'000'000),
                                               std::numeric_limits<std::uint64_t>::max());
  });
}

TYPED_TEST(for_index, begins_at_the_lowest_index_of_the_longest_ranges) {
  // On one worker the first body throws. On several a higher one may throw before it, and then it need not run.
  typename TypeParam::pool pool({.workers = 1});
  pool.run([] {
    auto const thrown_from = []<class I>(I first, I last) {
      I thrown{};
      try {
        filch::for_index<TypeParam>(first, last, [](I i) { throw i; });
        ADD_FAILURE() << "nothing was thrown";
      } catch (I i) {
        thrown = i;
      }
      EXPECT_EQ(thrown, first);
    };
    thrown_from(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    thrown_from(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
    thrown_from(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    thrown_from(0u, std::numeric_limits<unsigned>::max());
  });
}

TYPED_TEST(for_index, is_a_plain_loop_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  std::vector<int> order;
  pool.run([&] { filch::for_index<TypeParam>(-500, 10'000, [&](int i) { order.push_back(i); }); });
  ASSERT_EQ(order.size(), 10'500u);
  for (std::size_t n = 0; n < order.size(); ++n) ASSERT_EQ(order[n], static_cast<int>(n) - 500);
}

TYPED_TEST(for_index, skips_the_rest_of_a_piece_that_throws) {
  typename TypeParam::pool pool({.workers = 1});
  int visited = 0;
  EXPECT_THROW(pool.run([&] {
    filch::for_index<TypeParam>(0, 1'000, [&](int i) {
      ++visited;
      if (i == 321) throw i;
    });
  }),
               int);
  EXPECT_EQ(visited, 322);
}

TYPED_TEST(for_index, throws_the_exception_of_the_lowest_index_that_threw) {
  on_several_pools<TypeParam>([] {
    for (int round = 0; round < 20; ++round) {
      std::mutex mutex;
      std::set<int> thrown;
      int left = -1;
      try {
        filch::for_index<TypeParam>(0, 2'000, [&](int i) {
          work_for(std::chrono::microseconds(1));
          if (i % 100 != 50) return;
          {
            std::lock_guard const lock(mutex);
            thrown.insert(i);
          }
          throw i;
        });
      } catch (int i) {
        left = i;
      }
      ASSERT_FALSE(thrown.empty());
      EXPECT_EQ(left, *thrown.begin());
    }
  });
}

TYPED_TEST(for_index, splits_expensive_bodies_among_two_workers) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    std::array<std::atomic<int>, 2> by{};
    bool const both = eventually([&] {
      pool.run([&] {
        filch::for_index<TypeParam>(0, 32, [&](int) {
          work_for(std::chrono::microseconds(200));
          ++by.at(filch::current_worker<TypeParam>().value());
        });
      });
      return by[0] > 0 && by[1] > 0;
    });
    EXPECT_TRUE(both) << by[0] << " and " << by[1];
    EXPECT_GT(steals_of<TypeParam>(pool), 0u);
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(for_index, splits_down_to_two_bodies_that_wait_for_each_other) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([] {
      wait_for_thief<TypeParam>();
      std::array<gate, 2> gates;
      filch::for_index<TypeParam>(0, 2, [&](int i) {
        gates.at(static_cast<std::size_t>(i)).open();
        EXPECT_TRUE(gates.at(static_cast<std::size_t>(1 - i)).pass()) << "the loop was not split";
      });
    });
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(for_index, is_shared_in_most_of_many_rounds) {
  if constexpr (steals<TypeParam>) {
    if (is_sanitized || is_emulated || !is_optimised || steals_are_forced<TypeParam>)
      GTEST_SKIP() << "a look takes longer than a round";
    if (typename TypeParam::pool().workers() < 2) GTEST_SKIP() << "needs two processors";
    // An awake thief requests in each round. A sleeping one would come in some rounds only.
    constexpr unsigned k_rounds = 100;
    typename TypeParam::pool pool({.workers = 2});
    bool const in_most = eventually([&] {
      auto const before = steals_of<TypeParam>(pool);
      pool.run([] {
        for (unsigned round = 0; round < k_rounds; ++round) {
          work_for(std::chrono::microseconds(10));
          filch::for_index<TypeParam>(0, 64, [](int) { work_for(std::chrono::microseconds(1)); });
        }
      });
      return steals_of<TypeParam>(pool) - before > k_rounds * 3 / 4;
    });
    EXPECT_TRUE(in_most);
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(for_index, keeps_its_own_index) {
  on_several_pools<TypeParam>([] {
    std::atomic<int> calls{0};
    std::atomic<int> sum{0};
    filch::for_index<TypeParam>(0, 100, [&](auto& i) {
      ++calls;
      sum += i;
      i += 3;
    });
    EXPECT_EQ(calls, 100);
    EXPECT_EQ(sum, 4950);
  });
}

TYPED_TEST(for_index, has_the_type_of_the_last_bound) {
  using S = TypeParam;
  std::vector<int> v(1000);
  filch::for_index<S>(0, v.size(), [&v](auto i) {
    static_assert(std::is_same_v<decltype(i), std::size_t>);
    ++v[i];
  });
  filch::for_index<S>(short{10}, 1000L, [&v](long i) { ++v[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(v[i], i < 10 ? 1 : 2) << i;
  filch::for_index<S>(-1, 5u, [](unsigned) { ADD_FAILURE() << "-1 is the largest index"; });
  EXPECT_TRUE(filch::for_index<S>(stop_token(), 0, v.size(), [](std::size_t) {}));
}

TYPED_TEST(for_index, drops_the_results_of_the_body) {
  // Without the cast there would be a warning, which is an error here.
  struct [[nodiscard]] status {};
  std::atomic<int> calls{0};
  filch::for_index<TypeParam>(0, 100, [&](int) {
    ++calls;
    return status{};
  });
  EXPECT_EQ(calls, 100);
}

int free_calls = 0;
void free_body(int) { ++free_calls; }

TYPED_TEST(for_index, calls_functions_and_counting_callables_in_place) {
  struct counter {
    int calls = 0;
    void operator()(int) { ++calls; }
  } c;
  typename TypeParam::pool pool({.workers = 1});
  free_calls = 0;
  pool.run([&] {
    filch::for_index<TypeParam>(0, 100, c);
    filch::for_index<TypeParam>(0, 100, free_body);
  });
  EXPECT_EQ(c.calls, 100);
  EXPECT_EQ(free_calls, 100);
}

TYPED_TEST(for_index, copes_with_bodies_of_very_different_cost) {
  on_several_pools<TypeParam>([] {
    std::atomic<long> sum{0};
    filch::for_index<TypeParam>(0, 3'000, [&](int i) {
      if (i % 1'000 == 0 || i > 2'990) work_for(std::chrono::microseconds(500));
      sum += i;
    });
    EXPECT_EQ(sum, 2'999L * 3'000 / 2);
  });
}

TYPED_TEST(for_index, nests_and_forks_in_its_body) {
  on_several_pools<TypeParam>([] {
    std::atomic<int> visits{0};
    filch::for_index<TypeParam>(0, 30, [&](int) {
      filch::for_index<TypeParam>(0u, 30u, [&](unsigned) { ++visits; });
      filch::join<TypeParam>([&] { ++visits; }, [&] { ++visits; });
    });
    EXPECT_EQ(visits, 30 * 32);
  });
}

TYPED_TEST(for_index, enters_the_default_pool_from_outside_and_calls_the_body_in_place) {
  struct body {
    std::atomic<int> calls{0};
    void operator()(int) { ++calls; }
  } b;
  filch::for_index<TypeParam>(0, 1'000, b);
  EXPECT_EQ(b.calls, 1'000);
  bool entered = false;
  filch::for_index<TypeParam>(0, 1, [&](int) { entered = filch::current_worker<TypeParam>().has_value(); });
  EXPECT_TRUE(entered);
}

// ---- looks ------------------------------------------------------------------------------------

/// Runs in order, and notes how many iterations lie between two looks.
struct looking : filch::serial {
  static inline bool is_wanted = false;
  static inline int since_look = 0;
  static inline int longest = 0;

  static bool wanted() noexcept {
    longest = std::max(longest, std::exchange(since_look, 0));
    return is_wanted;
  }
  template <class F, class G> static auto join(F&& f, G&& g) {
    is_wanted = false;
    return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
  }
  /// Iterations between two looks since the last call of this.
  static int take_longest() noexcept { return std::max(std::exchange(longest, 0), std::exchange(since_look, 0)); }
};

TEST(looks, lie_no_more_than_64_cheap_iterations_apart) {
  looking::take_longest();
  filch::for_index<looking>(0, 1'000'000, [](int) { ++looking::since_look; });
  int const longest = looking::take_longest();
  EXPECT_LE(longest, 64);
  EXPECT_GT(longest, 1) << "a cheap loop looks at every iteration";
}

TEST(looks, come_after_every_iteration_of_a_slow_loop) {
  looking::take_longest();
  filch::for_index<looking>(0, 200, [](int) {
    ++looking::since_look;
    work_for(std::chrono::microseconds(25));
  });
  EXPECT_EQ(looking::take_longest(), 1);
}

TEST(looks, come_after_every_iteration_once_a_cheap_loop_has_become_slow) {
  looking::take_longest();
  filch::for_index<looking>(0, 30'000, [](int i) {
    ++looking::since_look;
    if (i < 20'000) return;
    if (i == 29'000) looking::take_longest();
    work_for(std::chrono::microseconds(25));
  });
  EXPECT_EQ(looking::take_longest(), 1);
}

TEST(looks, come_after_every_iteration_once_a_thief_has_requested_in_a_slow_part) {
  looking::take_longest();
  filch::for_index<looking>(0, 20'400, [](int i) {
    ++looking::since_look;
    if (i < 20'000) return;
    if (i == 20'000) looking::is_wanted = true;
    if (i == 20'200) looking::take_longest();
    work_for(std::chrono::microseconds(25));
  });
  EXPECT_EQ(looking::take_longest(), 1);
}

/// A thief waits all the time, and a look is a call.
struct dearly_looking : filch::serial {
  static constexpr bool k_looks_are_dear = true;
  static inline int looks = 0;
  static inline int splits = 0;

  static bool wanted() noexcept {
    ++looks;
    return true;
  }
  template <class F, class G> static auto join(F&& f, G&& g) {
    ++splits;
    return filch::serial::join(std::forward<F>(f), std::forward<G>(g));
  }
};

TEST(looks, that_are_dear_are_left_out_by_loops_not_worth_a_steal) {
  if (is_sanitized || is_emulated || !is_optimised) GTEST_SKIP() << "each iteration is slow";
  bool is_slow = false;
  auto const looks_of_a_loop = [&is_slow] {
    dearly_looking::looks = 0;
    filch::for_index<dearly_looking>(0, 16, [&is_slow](int) {
      if (is_slow) work_for(std::chrono::microseconds(100));
    });
    return dearly_looking::looks;
  };
  // A loop that is preempted may seem to be worth a steal.
  EXPECT_TRUE(eventually([&] { return looks_of_a_loop() == 0; }));
  dearly_looking::splits = 0;
  is_slow = true;
  EXPECT_GT(looks_of_a_loop(), 0);
  EXPECT_GT(dearly_looking::splits, 0);
}

TEST(looks, that_are_dear_come_once_a_cheap_loop_has_become_slow) {
  int split_at = 0;
  for (int loop = 0; loop < 2; ++loop) {  // cheap loops first
    dearly_looking::splits = 0;
    filch::for_index<dearly_looking>(0, loop == 0 ? 64 : 10'000, [&](int i) {
      if (dearly_looking::splits != 0) split_at = std::max(split_at, i);
      if (i >= 100 && dearly_looking::splits == 0) work_for(std::chrono::microseconds(25));
    });
  }
  EXPECT_GT(dearly_looking::splits, 0);
  EXPECT_EQ(split_at, 9'999);
}

}  // namespace
}  // namespace filch_test
