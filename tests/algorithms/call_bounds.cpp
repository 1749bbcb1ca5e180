// How often algorithms call a comparator, whatever it says: their bounds, and an end.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace filch_test {
namespace {

// The algorithms are the same for all.
using S = filch::default_scheduler;

struct too_many_calls {};

/// Answers by the number of the call: the first ones of each period are true, or those that a generator picks. Throws
/// after `most` calls, so that a sort that would not end does.
struct by_turns {
  unsigned period;
  unsigned trues;
  bool is_random;
  std::size_t most;
  std::size_t calls = 0;
  unsigned state = 1;
  bool operator()(int, int) {
    if (++calls > most) throw too_many_calls();
    if (is_random) {
      state = state * 1'664'525U + 1'013'904'223U;
      return (state >> 8) % period < trues;
    }
    return calls % period < trues;
  }
};

/// Calls body(answers) for a thousand comparators with the bound of n numbers, and expects that none is exceeded.
template <class Body> void for_answers(std::size_t n, Body body) {
  auto const length = static_cast<double>(n);
  auto const most = static_cast<std::size_t>(8 * length * std::log2(length));
  for (unsigned period = 2; period != 34; ++period) {
    for (unsigned trues = 1; trues <= period; ++trues) {
      for (bool is_random : {false, true}) {
        by_turns answers{period, trues, is_random, most};
        bool ended = true;
        try {
          body(answers);
        } catch (too_many_calls const&) {
          ended = false;
        }
        EXPECT_TRUE(ended) << trues << " of " << period << (is_random ? " at random" : "");
      }
    }
  }
}

/// Calls body(v) with n numbers that ascend, descend, and do neither.
template <class Body> void for_inputs(std::size_t n, Body body) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  body(std::as_const(v));
  std::reverse(v.begin(), v.end());
  body(std::as_const(v));
  body(std::as_const(v = numbers(n)));
}

template <class Sort> void ends_for_all_answers(Sort sort) {
  typename S::pool pool({.workers = 1});
  pool.run([&] {
    for (std::size_t n : {100u, 1'000u}) {
      for_inputs(n, [&](std::vector<int> const& in) {
        auto const sum = std::accumulate(in.begin(), in.end(), 0L);
        for_answers(n, [&](by_turns& answers) {
          auto v = in;
          sort(v, answers);
          EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0L), sum);
        });
      });
    }
  });
}

TEST(call_bounds, of_sort_hold_for_any_answers) {
  ends_for_all_answers([](std::vector<int>& v, by_turns& answers) { filch::sort<S>(v, std::ref(answers)); });
}
TEST(call_bounds, of_stable_sort_hold_for_any_answers) {
  ends_for_all_answers([](std::vector<int>& v, by_turns& answers) { filch::stable_sort<S>(v, std::ref(answers)); });
}
TEST(call_bounds, of_selections_hold_for_any_answers) {
  ends_for_all_answers([](std::vector<int>& v, by_turns& answers) {
    auto const middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 3);
    filch::nth_element<S>(v, middle, std::ref(answers));
    answers.calls = 0;
    filch::partial_sort<S>(v, middle, std::ref(answers));
    answers.calls = 0;
    std::vector<int> out(v.size() / 4);
    filch::partial_sort_copy<S>(v, out, std::ref(answers));
  });
}
TEST(call_bounds, of_set_operations_hold_for_any_answers) {
  ends_for_all_answers([](std::vector<int>& v, by_turns& answers) {
    auto const middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 3);
    std::vector<int> out(v.size());
    filch::set_union<S>(v.begin(), middle, middle, v.end(), out.begin(), std::ref(answers));
    EXPECT_LT(std::exchange(answers.calls, 0), 2 * v.size());
    filch::set_symmetric_difference<S>(v.begin(), middle, middle, v.end(), out.begin(), std::ref(answers));
    EXPECT_LT(std::exchange(answers.calls, 0), 2 * v.size());
    filch::set_intersection<S>(v.begin(), middle, middle, v.end(), out.begin(), std::ref(answers));
    EXPECT_LT(std::exchange(answers.calls, 0), 2 * v.size());
    filch::set_difference<S>(v.begin(), middle, middle, v.end(), out.begin(), std::ref(answers));
    EXPECT_LT(answers.calls, 2 * v.size());
  });
}
TEST(call_bounds, of_merges_hold_for_any_answers) {
  ends_for_all_answers([](std::vector<int>& v, by_turns& answers) {
    auto const middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 3);
    std::vector<int> out(v.size());
    filch::merge<S>(v.begin(), middle, middle, v.end(), out.begin(), std::ref(answers));
    EXPECT_LT(std::exchange(answers.calls, 0), v.size());
    filch::inplace_merge<S>(v, middle, std::ref(answers));
    EXPECT_LT(answers.calls, v.size());
  });
}

TEST(call_bounds, of_sorts_are_one_less_than_elements_if_these_are_one_run) {
  typename S::pool pool({.workers = 1});
  pool.run([] {
    for (std::size_t n : {2u, 3u, 16u, 24u, 25u, 32u, 33u, 100u, 5'000u}) {
      for (bool descend : {false, true}) {
        if (descend && n <= 32) continue;
        std::vector<int> v(n);
        std::iota(v.begin(), v.end(), 0);
        if (!descend) v[n / 2] = v[n / 2 - 1];
        if (descend) std::reverse(v.begin(), v.end());
        std::size_t calls = 0;
        auto const less = [&calls](int a, int b) { return ++calls, a < b; };
        auto own = v;
        filch::sort<S>(own, less);
        EXPECT_EQ(std::exchange(calls, 0), n - 1);
        filch::stable_sort<S>(v, less);
        EXPECT_EQ(calls, n - 1);
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()) && own == v);
      }
    }
  });
}

TEST(call_bounds, of_merges_are_those_of_std) {
  typename S::pool pool({.workers = 1});
  pool.run([] {
    for_lengths([](std::size_t n) {
      if (n == 0) return;
      for (std::size_t m : {std::size_t{1}, n / 2 + 1, n}) {
        auto x = numbers(n), y = numbers(m);
        std::sort(x.begin(), x.end());
        std::sort(y.begin(), y.end());
        std::size_t calls = 0;
        auto const less = [&calls](int a, int b) { return ++calls, a < b; };
        std::vector<int> out(n + m), expected(n + m);
        std::merge(x.begin(), x.end(), y.begin(), y.end(), expected.begin());
        filch::merge<S>(x, y, out, less);
        EXPECT_EQ(out, expected);
        EXPECT_LE(std::exchange(calls, 0), n + m - 1);
        auto const middle = std::copy(x.begin(), x.end(), out.begin());
        std::copy(y.begin(), y.end(), middle);
        filch::inplace_merge<S>(out, middle, less);
        EXPECT_EQ(out, expected);
        EXPECT_LE(calls, n + m - 1);
      }
    });
  });
}

TEST(call_bounds, of_lexicographical_compare_are_two_for_a_pair) {
  in_every_pool<S>([](std::size_t n) {
    std::vector<int> x(n, 7), y(n, 7);
    std::atomic<std::size_t> calls{0};
    auto const less = [&calls](int a, int b) { return ++calls, a < b; };
    EXPECT_FALSE(filch::lexicographical_compare<S>(x, y, less));
    EXPECT_EQ(calls.exchange(0), 2 * n);
    if (n == 0) return;
    y.back() = 8;
    EXPECT_TRUE(filch::lexicographical_compare<S>(x, y, less));
    EXPECT_LE(calls.exchange(0), 2 * n);
    EXPECT_FALSE(filch::lexicographical_compare<S>(y, x, less));
    EXPECT_LE(calls.exchange(0), 2 * n);
    x.front() = 6;
    EXPECT_TRUE(filch::lexicographical_compare<S>(x, y, less));
    EXPECT_FALSE(filch::lexicographical_compare<S>(y, x, less));
    EXPECT_FALSE(filch::lexicographical_compare<S>(y.begin(), y.end(), x.begin(), x.end() - 1, less));
    EXPECT_FALSE(filch::lexicographical_compare<S>(y.begin(), y.end(), y.begin(), y.end() - 1));
    EXPECT_TRUE(filch::lexicographical_compare<S>(y.begin(), y.end() - 1, y.begin(), y.end()));
  });
}

TEST(call_bounds, of_search_n_are_one_for_an_element) {
  typename S::pool pool({.workers = 1});
  constexpr std::size_t k_n = 20'000;
  for (std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{100}, std::size_t{3'000}, k_n - 10, k_n}) {
    SCOPED_TRACE(count);
    for (std::size_t period : {std::size_t{1}, count - 1, count, count + 1, 3 * count / 2, k_n}) {
      // Ones, and a zero where a period ends.
      std::vector<int> v(k_n, 1);
      for (std::size_t i = period; period != 0 && i <= k_n; i += period) v[i - 1] = 0;
      std::size_t calls = 0;
      auto const equal = [&calls](int x, int y) { return ++calls, x == y; };
      auto const length = static_cast<std::ptrdiff_t>(count);
      auto const found =
          pool.run([&] { return filch::search_n<S>(v.begin(), v.end(), length, 1, equal) - v.begin(); });
      EXPECT_EQ(found, std::search_n(v.begin(), v.end(), length, 1) - v.begin()) << period;
      EXPECT_LE(calls, k_n) << period;
    }
  }
}

TEST(call_bounds, search_n_finds_the_lowest_of_long_repetitions) {
  in_every_pool<S>([](std::size_t n) {
    for (std::size_t count : {n / 2, n / 5, n / 17 + 1}) {
      for (std::size_t zero : {count / 2, count, count + 1, n - n / 3}) {
        std::vector<int> v(n, 1);
        for (std::size_t i = zero; i < n; i += zero + 1) v[i] = 0;
        auto const length = static_cast<std::ptrdiff_t>(count);
        EXPECT_EQ(filch::search_n<S>(v.begin(), v.end(), length, 1) - v.begin(),
                  std::search_n(v.begin(), v.end(), length, 1) - v.begin());
      }
    }
  });
}

}  // namespace
}  // namespace filch_test
