// Trials of short loops: those that are slower on several workers run alone, others are split.
#include "pieces.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <filch/for_index.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace filch_test {
namespace {

using filch::detail::loop_trial;
using filch::detail::loop_trials;

constexpr std::size_t k_length = 1'000;
constexpr std::uint64_t k_ticks = 30'000;

/// The number of split loops until a trial, of those that take `ticks`; 10,000 if there is none.
int splits_until_trial(loop_trial& trial, std::uint64_t ticks = k_ticks) {
  int splits = 0;
  while (trial.ticks_alone(k_length) == 0 && splits < 10'000) {
    trial.was_split(k_length, ticks, true);
    ++splits;
  }
  return splits;
}
/// The number of loops that run alone, one after the other.
int loops_alone(loop_trial& trial, std::uint64_t ticks = k_ticks) {
  int loops = 0;
  while (trial.ticks_alone(k_length) != 0) {
    trial.was_alone(ticks);
    ++loops;
  }
  return loops;
}

TEST(trials, give_a_loop_the_time_that_it_takes_if_it_is_split) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), 2 * k_ticks, 2 * k_length)
      << "the elements are in other caches";
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length / 2)), k_ticks, k_length);
  trial.was_alone(k_ticks);
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), k_ticks, k_length) << "the second trial";
  trial.was_alone(k_ticks);
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), 1.5 * k_ticks, 2 * k_length);
}

TEST(trials, that_are_won_let_more_and_more_loops_run_alone) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  EXPECT_EQ(loops_alone(trial), 2 + 16);
  for (int alone : {32, 64, 128, 256, 512, 1'024, 2'048, 2'048}) {
    EXPECT_EQ(splits_until_trial(trial), 16);
    EXPECT_EQ(loops_alone(trial), 2 + alone);
  }
}

TEST(trials, that_are_lost_become_rare) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  for (int splits : {16, 32, 64, 128, 256, 512, 1'024, 2'048, 2'048}) {
    trial.was_too_long();
    EXPECT_NE(trial.ticks_alone(k_length), 0u) << "the data may have been in other caches";
    trial.was_too_long();
    EXPECT_EQ(splits_until_trial(trial), splits);
  }
  // And more frequent again.
  EXPECT_EQ(loops_alone(trial), 2 + 16);
  EXPECT_EQ(splits_until_trial(trial), 16);
  trial.was_too_long();
  trial.was_too_long();
  EXPECT_EQ(splits_until_trial(trial), 16);
}

TEST(trials, that_are_won_let_the_shortest_loops_run_alone_for_ten_milliseconds) {
  constexpr std::uint64_t k_short = 1'000;  // alone; split they take far longer
  static_assert(k_short < k_ticks / 16);
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  for (int alone : {16, 32, 64, 128, 256, 512, 1'024, 2'048, 4'096, 8'192, 16'384, 32'768, 65'536, 65'536}) {
    EXPECT_EQ(loops_alone(trial, k_short), 2 + alone);
    EXPECT_EQ(splits_until_trial(trial), 16);
  }
}

TEST(trials, end_when_loops_that_run_alone_become_longer) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  trial.was_alone(k_ticks);
  trial.was_alone(k_ticks);
  trial.was_too_long();
  EXPECT_NE(trial.ticks_alone(k_length), 0u) << "it may be an interrupt's fault";
  for (int i = 0; i < 8; ++i) trial.was_alone(k_ticks);
  trial.was_too_long();
  EXPECT_NE(trial.ticks_alone(k_length), 0u) << "the other one was long ago";
  trial.was_alone(k_ticks);
  trial.was_too_long();
  EXPECT_EQ(splits_until_trial(trial), 16);
}

TEST(trials, forgive_the_loop_after_one_that_was_split) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial), 16);
  trial.was_alone(k_ticks);
  trial.was_alone(k_ticks);
  trial.was_too_long();
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), 2 * k_ticks, 2 * k_length);
  trial.was_too_long();
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), 1.5 * k_ticks, 2 * k_length)
      << "its elements were in another cache";
  trial.was_too_long();
  EXPECT_EQ(splits_until_trial(trial), 16);
}

TEST(trials, go_by_the_mean_but_for_times_that_are_far_above) {
  loop_trial trial;
  for (int i = 0; i < 15; ++i) trial.was_split(k_length, i % 2 == 0 ? k_ticks : 3 * k_ticks, true);
  trial.was_split(k_length, 2 * k_ticks, true);
  trial.was_alone(k_ticks);  // the second trial gets the mean
  EXPECT_NEAR(static_cast<double>(trial.ticks_alone(k_length)), 1.9 * k_ticks, 0.3 * k_ticks);
  loop_trial other;
  for (int i = 0; i < 15; ++i) other.was_split(k_length, k_ticks, true);
  other.was_split(k_length, 15 * k_ticks, true);
  other.was_alone(k_ticks);
  EXPECT_NEAR(static_cast<double>(other.ticks_alone(k_length)), 1.75 * k_ticks, 2 * k_length);
}

TEST(trials, follow_on_many_splits_of_which_nobody_takes_a_part) {
  loop_trial trial;
  for (int i = 0; i < 48; ++i) trial.was_split(k_length, k_ticks, false);
  EXPECT_EQ(trial.ticks_alone(k_length), 0u);
  trial.was_split(k_length, k_ticks, true);
  for (int i = 0; i < 48 + 14; ++i) trial.was_split(k_length, k_ticks, false);
  EXPECT_EQ(trial.ticks_alone(k_length), 0u);
  trial.was_split(k_length, k_ticks, false);
  EXPECT_NE(trial.ticks_alone(k_length), 0u);
}

TEST(trials, are_not_made_of_long_loops) {
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial, std::uint64_t{1} << 20), 10'000);
}

TEST(trials, let_no_loop_run_alone_for_long) {
  constexpr std::uint64_t k_short = std::uint64_t{1} << 19;
  loop_trial trial;
  EXPECT_EQ(splits_until_trial(trial, k_short), 16);
  EXPECT_LE(trial.ticks_alone(2 * k_length), k_short);
  trial.was_alone(k_short);
  trial.was_alone(k_short);
  EXPECT_LE(trial.ticks_alone(2 * k_length), k_short);
}

TEST(trials, end_also_if_loops_take_no_time) {
  loop_trial trial;
  for (int i = 0; i < 16; ++i) trial.was_split(std::size_t{1} << 20, 1, true);
  EXPECT_NE(trial.ticks_alone(1), 0u);
  trial.was_too_long();
  trial.was_too_long();
  EXPECT_EQ(splits_until_trial(trial), 16);
}

/// A few iterations that wake a worker take longer each than the same ones in a longer loop.
TEST(trials, are_kept_by_length) {
  loop_trials trials;
  EXPECT_EQ(&trials.of(512), &trials.of(1'023));
  std::set<loop_trial*> all;
  for (std::size_t i = 0; i < 20; ++i) all.insert(&trials.of(std::size_t{1} << i));
  EXPECT_EQ(all.size(), 20u);
  EXPECT_EQ(&trials.of(std::size_t{1} << 20), &trials.of(~std::size_t{0}));
}

TEST(trials, are_not_made_of_long_iterations) {
  filch::detail::loop_history history;
  EXPECT_EQ(splits_until_trial(history.trial_of(k_length)), 16);
  EXPECT_EQ(history.ticks_alone(k_length), 0u) << "the cost is unknown";
  history.ran(k_length, k_length * 30, 0);
  EXPECT_NE(history.ticks_alone(k_length), 0u);
  history.ran(k_length, k_length * 6'000, 0);
  EXPECT_NE(history.ticks_alone(k_length), 0u);
  history.ran(k_length, k_length * 24'000, 0);
  EXPECT_EQ(history.ticks_alone(k_length), 0u);
}

/// Few iterations that are not short may take some times as long as before, but not any time.
TEST(history, doubts_the_cost_of_iterations_that_are_not_short) {
  filch::detail::loop_history history;
  EXPECT_TRUE(history.cost().is_at_least(1'000'000, 1)) << "the cost is unknown";
  history.ran(k_length, k_length * 1'000, 0);
  EXPECT_TRUE(history.measured().is_at_least(9'000, 10));
  EXPECT_FALSE(history.measured().is_at_least(11'000, 10));
  EXPECT_TRUE(history.cost().is_at_least(39'000, 10));
  EXPECT_FALSE(history.cost().is_at_least(41'000, 10));
  filch::detail::loop_history of_short_ones;
  of_short_ones.ran(k_length, k_length * 100, 0);
  EXPECT_FALSE(of_short_ones.cost().is_at_least(1'100, 10));
}

/// An interrupt makes a short loop many times as long. If that made the next loops worth a steal, each steal would
/// make them longer again.
TEST(history, believes_a_slower_loop_if_another_one_is_slower_soon) {
  constexpr std::uint64_t k_cheap = k_length;  // a tick each
  auto const costs = [](filch::detail::loop_history const& history, std::uint64_t ticks) {
    return history.measured().is_at_least(9 * ticks / 10, k_length) &&
           !history.measured().is_at_least(11 * ticks / 10, k_length);
  };
  filch::detail::loop_history history;
  history.ran(k_length, k_cheap, 0);
  EXPECT_TRUE(costs(history, k_cheap));
  history.ran(k_length, 50 * k_cheap, 0);
  EXPECT_TRUE(costs(history, k_cheap)) << "one alone";
  for (int i = 0; i < 15; ++i) history.ran(k_length, k_cheap, 0);
  history.ran(k_length, 50 * k_cheap, 0);
  EXPECT_TRUE(costs(history, k_cheap)) << "the other one was long ago";
  history.ran(k_length, k_cheap, 0);
  history.ran(k_length, 20 * k_cheap, 0);
  EXPECT_TRUE(costs(history, 20 * k_cheap)) << "the lesser of two";
  history.ran(k_length, 1'000 * k_cheap, 0);
  EXPECT_TRUE(costs(history, 1'000 * k_cheap)) << "no interrupt takes so long";
}

TEST(pace, grows_at_once_where_the_longest_stretch_was_short_before) {
  constexpr std::size_t k_many = 64'000;
  auto const second_stretch = [](filch::detail::loop_history const& history) {
    filch::detail::loop_pace pace(history, 1, filch::detail::loop_pace::k_longest, {});
    EXPECT_EQ(pace.stretch(), 1u);
    pace.ran(1);
    return pace.stretch();
  };
  filch::detail::loop_history const unknown;
  EXPECT_LE(second_stretch(unknown), 4u);
  filch::detail::loop_history not_so_cheap;
  not_so_cheap.ran(k_many, 10 * k_many, 0);
  EXPECT_LE(second_stretch(not_so_cheap), 4u);
  filch::detail::loop_history cheap;
  cheap.ran(k_many, k_many / 10, 0);
  EXPECT_TRUE(eventually([&] { return second_stretch(cheap) == 64; })) << "no block was short";
}

TEST(pace, reads_the_clock_less_often_the_cheaper_stretches_were_before) {
  constexpr std::size_t k_longest = filch::detail::loop_pace::k_longest;
  constexpr std::size_t k_stretches = 2048;
  // How often it is read while a worker waits and the rest is not worth a steal.
  auto const reads = [](std::uint64_t ticks_of_stretch) {
    filch::detail::loop_history history;
    history.ran(k_stretches * k_longest, ticks_of_stretch * k_stretches, 0);
    filch::detail::loop_pace pace(history, 1, filch::detail::loop_pace::k_longest, {});
    int all = 0;
    for (std::size_t left = k_stretches * k_longest; left >= k_longest;) {
      std::size_t const block = pace.block_of(left);
      pace.ran(block);
      pace.read_clock_if_due();
      if (pace.has_read_clock()) ++all;
      static_cast<void>(pace.is_worth_splitting(filch::detail::k_ticks_worth_splitting, 2));
      left -= block;
    }
    return all;
  };
  EXPECT_TRUE(eventually([&] { return reads(12) < 16; })) << "only vector instructions are so fast";
  EXPECT_GE(reads(50), static_cast<int>(k_stretches / 32));
  EXPECT_GE(reads(200), static_cast<int>(k_stretches / 16));
}

TEST(pace, has_longer_stretches_where_vector_instructions_run_them) {
  using filch::detail::loop_pace;
  constexpr std::size_t k_most = loop_pace::k_longest_of_vectors;
  constexpr std::size_t k_many = 64 * k_most;
  // The longest and the last of many stretches, if all iterations together take so many ticks.
  auto const stretches = [](std::uint64_t ticks_before, std::uint64_t ticks_now, std::size_t most) {
    filch::detail::loop_history history;
    if (ticks_before != 0) history.ran(k_many, ticks_before, 0);
    loop_pace pace(history, 1, most, {});
    std::size_t longest = 0;
    for (std::size_t left = k_many; left >= pace.stretch();) {
      std::size_t const block = pace.block_of(left);
      longest = std::max(longest, pace.stretch());
      auto const end = filch::detail::loop_ticks() + static_cast<std::int64_t>(ticks_now * block / k_many);
      while (filch::detail::loop_ticks() < end) {
      }
      pace.ran(block);
      left -= block;
    }
    return std::pair(longest, pace.stretch());
  };
  using lengths = std::pair<std::size_t, std::size_t>;
  EXPECT_TRUE(eventually([&] { return stretches(1, 0, k_most) == lengths(k_most, k_most); }));
  EXPECT_TRUE(eventually([&] { return stretches(0, 0, k_most).second == k_most; })) << "no loop before";
  EXPECT_LE(stretches(1, 0, loop_pace::k_longest).first, loop_pace::k_longest) << "the piece does not allow it";
  EXPECT_LE(stretches(k_many, k_many, k_most).first, loop_pace::k_longest) << "a tick for each iteration";
  EXPECT_LE(stretches(k_many, k_many / 3, k_most).second, loop_pace::k_longest) << "a third of one: it is tried once";
  EXPECT_LE(stretches(1, 4 * k_many, k_most).second, loop_pace::k_longest) << "slower than before";
}

TEST(pace, counts_the_iterations_before_the_first_whole_stretch) {
  constexpr std::size_t k_each = 100'000;  // ticks of an iteration
  constexpr std::size_t k_left = 100;
  auto const run_for = [](std::size_t ticks) {
    for (auto const end = filch::detail::loop_ticks() + static_cast<std::int64_t>(ticks);
         filch::detail::loop_ticks() < end;) {
    }
  };
  EXPECT_TRUE(eventually([&] {
    filch::detail::loop_history const history;
    filch::detail::loop_pace pace(history, 1, filch::detail::loop_pace::k_longest, {});
    pace.ran(1);
    if (pace.stretch() != 4) return false;  // another program had the processor
    run_for(3 * k_each);
    pace.ran(3);
    run_for(4 * k_each);
    pace.ran(4);
    EXPECT_TRUE(pace.takes(k_each * k_left / 2, k_left));
    return !pace.takes(k_each * k_left * 3 / 2, k_left);
  }));
}

/// A scheduler whose worker always waits for work, as seen by the loop engine. It takes each upper half.
struct always_stolen : filch::serial {
  static inline unsigned worker = 0;
  static inline std::size_t joins = 0;
  static inline std::int64_t ticks_of_join = 0;
  static bool wanted() noexcept { return true; }
  static unsigned worker_index() noexcept { return worker; }
  struct thief {
    thief() { ++worker; }
    ~thief() { --worker; }
  };
  template <class F, class G> static auto join(F&& f, G&& g) {
    ++joins;
    run_for(ticks_of_join);
    return filch::serial::join(std::forward<F>(f), [&]() -> decltype(auto) {
      thief const takes_it;
      return std::forward<G>(g)();
    });
  }
  static void run_for(std::int64_t ticks) {
    for (auto const end = filch::detail::loop_ticks() + ticks; filch::detail::loop_ticks() < end;) {
    }
  }
};

/// The same, but no worker waits when a loop begins.
struct stolen_later : always_stolen {
  static inline int looks = 0;
  static bool wanted() noexcept { return looks++ != 0; }
};

/// A loop that ends before position `end`.
struct ending_piece {
  filch::detail::loop_history* past;
  std::size_t end;
  bool run(std::size_t, std::size_t last) const { return last <= end; }
  ending_piece split(std::size_t, std::size_t) const { return *this; }
  void merge(ending_piece const&) const {}
  filch::detail::loop_history& history() const { return *past; }
};
constexpr std::size_t k_few = 8;  // also instrumented, the loop is short
/// Does a trial follow on loops that are split, and end there?
template <class Sched> bool trial_after_loops_that_end_at(std::size_t end) {
  filch::detail::loop_history history;
  filch::detail::never_stopped never;
  always_stolen::ticks_of_join = 0;
  for (int i = 0; i < 40; ++i) {
    ending_piece piece{&history, end};
    filch::detail::split_loop<Sched>(std::size_t{0}, k_few, piece, never, k_few);
  }
  return history.trial_of(k_few).ticks_alone(k_few) != 0;
}
TEST(trials, are_made_of_whole_loops_that_were_shared) {
  EXPECT_TRUE(trial_after_loops_that_end_at<always_stolen>(k_few));
  EXPECT_FALSE(trial_after_loops_that_end_at<always_stolen>(k_few - 1));
  EXPECT_FALSE(trial_after_loops_that_end_at<always_stolen>(k_few / 4));
  EXPECT_FALSE(trial_after_loops_that_end_at<filch::serial>(k_few));
}

constexpr int k_iterations = 400;
constexpr std::int64_t k_iteration = 100;  // ticks: the loop is worth splitting, and no iteration is long

/// The number of loops, of 40, that were not split.
template <class Sched, class Body> int loops_without_join(std::int64_t ticks_of_join, Body body) {
  always_stolen::ticks_of_join = ticks_of_join;
  int alone = 0;
  for (int loop = 0; loop < 40; ++loop) {
    always_stolen::joins = 0;
    stolen_later::looks = 0;
    filch::for_index<Sched>(0, k_iterations, body);
    alone += always_stolen::joins == 0;
  }
  return alone;
}

/// Instrumented code makes the loops much longer.
constexpr bool k_loops_are_short = !is_sanitized && !is_emulated && is_optimised;

TEST(trials, stop_the_splits_of_loops_that_are_slower_split) {
  if (!k_loops_are_short) GTEST_SKIP();
  // Another program may take the processor during a trial: then the next one is won.
  auto const body = [](int) { always_stolen::run_for(k_iteration); };
  constexpr std::int64_t k_join = k_iterations * k_iteration / 2;
  EXPECT_TRUE(eventually([body] { return loops_without_join<always_stolen>(k_join, body) >= 16; }));
  EXPECT_TRUE(eventually([body] { return loops_without_join<stolen_later>(k_join, body) >= 16; }));
}

TEST(trials, leave_loops_split_that_are_faster_split) {
  if (!k_loops_are_short) GTEST_SKIP();
  auto const body = [](int) { always_stolen::run_for(always_stolen::worker == 0 ? k_iteration : k_iteration / 4); };
  EXPECT_TRUE(eventually([body] { return loops_without_join<always_stolen>(0, body) == 0; }));
  EXPECT_TRUE(eventually([body] { return loops_without_join<stolen_later>(0, body) == 0; }));
}

}  // namespace
}  // namespace filch_test
