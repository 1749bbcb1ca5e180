// Every family of algorithms, with par and par_unseq, gives what seq gives. C++17: this file includes nothing of
// Filch, and its target puts filch/std_par.hpp before the first line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <execution>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "std_par/of_c.h"

#include <gtest/gtest.h>

namespace {

using numbers = std::vector<long>;
namespace ex = std::execution;

// Below the first split, around tiles of one element, and with several tiles, leaves and merges.
constexpr std::size_t k_lengths[] = {0, 1, 2, 3, 15, 64, 127, 1000, 4097, 30011};

numbers some(std::size_t n, long range = 1 << 20) {
  numbers all(n);
  unsigned long x = n + 1;
  for (long& a : all) {
    x = x * 6364136223846793005UL + 1442695040888963407UL;
    a = static_cast<long>((x >> 33) % static_cast<unsigned long>(range));
  }
  return all;
}

/// what(policy, n) returns something comparable.
template <class What> void same(What const& what) {
  for (std::size_t const n : k_lengths) {
    auto const wanted = what(ex::seq, n);
    EXPECT_EQ(wanted, what(ex::par, n)) << n;
    EXPECT_EQ(wanted, what(ex::par_unseq, n)) << n;
  }
}

bool odd(long x) { return x % 2 != 0; }

TEST(std_par, loops_visit_each_element_once) {
  same([](auto const& policy, std::size_t n) {
    numbers v = some(n);
    std::for_each(policy, v.begin(), v.end(), [](long& x) { x = 3 * x + 1; });
    std::for_each_n(policy, v.begin(), n / 2, [](long& x) { ++x; });
    numbers w(n);
    std::transform(policy, v.begin(), v.end(), w.begin(), [](long x) { return -x; });
    std::transform(policy, v.begin(), v.end(), w.begin(), w.begin(), std::plus<>());
    std::replace_if(policy, v.begin(), v.end(), odd, 7);
    std::generate(policy, w.begin(), w.begin() + static_cast<long>(n / 3), [] { return 5; });
    std::reverse(policy, v.begin(), v.end());
    std::rotate(policy, v.begin(), v.begin() + static_cast<long>(n / 3), v.end());
    std::swap_ranges(policy, v.begin(), v.end(), w.begin());
    std::adjacent_difference(policy, v.begin(), v.end(), v.begin() == v.end() ? v.begin() : w.begin());
    v.insert(v.end(), w.begin(), w.end());
    return v;
  });
}

TEST(std_par, reductions_add_each_element_once) {
  same([](auto const& policy, std::size_t n) {
    numbers const v = some(n);
    std::vector<bool> const w(n, true);
    long const sum = std::reduce(policy, v.begin(), v.end(), 1L);
    long const product = std::transform_reduce(policy, v.begin(), v.end(), v.begin(), 1L);
    auto const odds = std::count_if(policy, v.begin(), v.end(), odd);
    auto const extremes = std::minmax_element(policy, v.begin(), v.end());
    return std::vector<long>{sum,
                             product,
                             odds,
                             extremes.first - v.begin(),
                             extremes.second - v.begin(),
                             std::max_element(policy, v.begin(), v.end()) - v.begin()};
  });
}

/// Its pieces are not numbers, and their order shows.
TEST(std_par, reductions_and_scans_keep_the_order_of_values_on_the_heap) {
  for (std::size_t const n : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{3001}}) {
    numbers const v = some(n, 10);
    auto const letter = [](long x) { return std::string(1, static_cast<char>('a' + x)); };
    std::string wanted = ">";
    for (long const x : v) wanted += letter(x);
    EXPECT_EQ(std::transform_reduce(ex::par, v.begin(), v.end(), std::string(">"), std::plus<>(), letter), wanted);
    std::vector<std::string> out(n);
    std::transform_inclusive_scan(ex::par, v.begin(), v.end(), out.begin(), std::plus<>(), letter, std::string(">"));
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], wanted.substr(0, i + 2));
    std::transform_exclusive_scan(ex::par, v.begin(), v.end(), out.begin(), std::string(">"), std::plus<>(), letter);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], wanted.substr(0, i + 1));
  }
}

TEST(std_par, scans_carry_from_left_to_right) {
  same([](auto const& policy, std::size_t n) {
    numbers v = some(n);
    numbers w(n);
    std::inclusive_scan(policy, v.begin(), v.end(), w.begin());
    std::exclusive_scan(policy, w.begin(), w.end(), v.begin(), 9L);
    std::transform_inclusive_scan(policy, v.begin(), v.end(), w.begin(), std::plus<>(), std::negate<>());
    v.insert(v.end(), w.begin(), w.end());
    return v;
  });
}

TEST(std_par, filters_keep_the_order) {
  same([](auto const& policy, std::size_t n) {
    numbers v = some(n, 100);
    numbers out(3 * n);
    auto end = std::copy_if(policy, v.begin(), v.end(), out.begin(), odd);
    end = std::unique_copy(policy, v.begin(), v.end(), end);
    out.erase(std::remove_copy(policy, v.begin(), v.end(), end, 7L), out.end());
    numbers yes(n);
    numbers no(n);
    auto const ends = std::partition_copy(policy, v.begin(), v.end(), yes.begin(), no.begin(), odd);
    out.insert(out.end(), yes.begin(), ends.first);
    out.insert(out.end(), no.begin(), ends.second);
    std::stable_partition(policy, v.begin(), v.end(), [](long x) { return x < 50; });
    v.erase(std::unique(policy, v.begin(), v.end()), v.end());
    v.erase(std::remove_if(policy, v.begin(), v.end(), odd), v.end());
    out.insert(out.end(), v.begin(), v.end());
    return out;
  });
}

TEST(std_par, searches_find_the_first) {
  same([](auto const& policy, std::size_t n) {
    numbers v(n, 1);
    numbers found;
    for (std::size_t at = 0; at < n; at += n / 3 + 1) {
      v[at] = 2;
      numbers const two{2, 1};
      found.push_back(std::find(policy, v.begin(), v.end(), 2) - v.begin());
      found.push_back(std::search(policy, v.begin(), v.end(), two.begin(), two.end()) - v.begin());
      found.push_back(std::find_end(policy, v.begin(), v.end(), two.begin(), two.end()) - v.begin());
      found.push_back(std::find_first_of(policy, v.begin(), v.end(), two.begin(), two.begin() + 1) - v.begin());
      found.push_back(std::adjacent_find(policy, v.begin(), v.end(), std::not_equal_to<>()) - v.begin());
      found.push_back(std::any_of(policy, v.begin(), v.end(), [](long x) { return x == 2; }));
      found.push_back(std::all_of(policy, v.begin(), v.end(), [](long x) { return x == 1; }));
      found.push_back(std::is_sorted_until(policy, v.begin(), v.end()) - v.begin());
      found.push_back(std::search_n(policy, v.begin(), v.end(), 5, 1L) - v.begin());
      numbers const ones(n, 1);
      found.push_back(std::mismatch(policy, v.begin(), v.end(), ones.begin()).first - v.begin());
      found.push_back(std::lexicographical_compare(policy, v.begin(), v.end(), ones.begin(), ones.end()));
      v[at] = 1;
    }
    return found;
  });
}

using keyed = std::pair<long, std::size_t>;

std::vector<keyed> keys(std::size_t n, long range) {
  numbers const v = some(n, range);
  std::vector<keyed> all;
  for (std::size_t i = 0; i < n; ++i) all.emplace_back(v[i], i);
  return all;
}
bool by_key(keyed const& a, keyed const& b) { return a.first < b.first; }

TEST(std_par, sorts_and_merges) {
  same([](auto const& policy, std::size_t n) {
    auto stable = keys(n, 30);
    std::stable_sort(policy, stable.begin(), stable.end(), by_key);
    auto all = keys(n, 1 << 20);
    std::sort(policy, all.begin(), all.end());
    std::vector<keyed> merged(2 * n);
    std::merge(policy, stable.begin(), stable.end(), all.begin(), all.end(), merged.begin(), by_key);
    auto halves = merged;
    std::sort(policy, halves.begin() + static_cast<long>(n / 2), halves.end(), by_key);
    std::inplace_merge(policy, stable.begin(), stable.begin(), stable.end());
    numbers front = some(n);
    auto const wanted = static_cast<long>(n / 5);
    std::partial_sort(policy, front.begin(), front.begin() + wanted, front.end());
    front.resize(static_cast<std::size_t>(wanted));
    numbers const from = some(n);
    numbers few(n / 3);
    std::partial_sort_copy(policy, from.begin(), from.end(), few.begin(), few.end());
    front.insert(front.end(), few.begin(), few.end());
    if (n > 0) {
      numbers nth = from;
      std::nth_element(policy, nth.begin(), nth.begin() + static_cast<long>(n / 2), nth.end());
      front.push_back(nth[n / 2]);
    }
    return std::make_pair(merged, front);
  });
}

TEST(std_par, sets) {
  same([](auto const& policy, std::size_t n) {
    numbers a = some(n, 3000);
    numbers b = some(n / 2 + 1, 3000);
    std::sort(policy, a.begin(), a.end());
    std::sort(policy, b.begin(), b.end());
    numbers out(8 * n + 8);
    auto end = std::set_union(policy, a.begin(), a.end(), b.begin(), b.end(), out.begin());
    end = std::set_intersection(policy, a.begin(), a.end(), b.begin(), b.end(), end);
    end = std::set_difference(policy, a.begin(), a.end(), b.begin(), b.end(), end);
    end = std::set_symmetric_difference(policy, a.begin(), a.end(), b.begin(), b.end(), end);
    *end++ = std::includes(policy, out.begin(), out.begin() + static_cast<long>(n), a.begin(), a.begin());
    out.erase(end, out.end());
    return out;
  });
}

TEST(std_par, raw_memory) {
  for (std::size_t const n : k_lengths) {
    std::allocator<std::string> memory;
    std::string* const first = memory.allocate(n + 1);
    std::uninitialized_fill(ex::par, first, first + n, std::string(40, 'x'));
    EXPECT_EQ(std::count(ex::par, first, first + n, std::string(40, 'x')), static_cast<long>(n));
    std::destroy(ex::par, first, first + n);
    memory.deallocate(first, n + 1);
  }
}

/// Elements that can't be copied, and are gone after a move.
TEST(std_par, values_that_only_move) {
  std::vector<std::unique_ptr<long>> v;
  for (long const x : some(20000)) v.push_back(std::make_unique<long>(x));
  std::sort(ex::par, v.begin(), v.end(), [](auto const& a, auto const& b) { return *a < *b; });
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [](auto const& a, auto const& b) { return *a < *b; }));
  auto const middle = std::stable_partition(ex::par, v.begin(), v.end(), [](auto const& x) { return odd(*x); });
  EXPECT_TRUE(std::all_of(v.begin(), middle, [](auto const& x) { return odd(*x); }));
  EXPECT_TRUE(std::none_of(middle, v.end(), [](auto const& x) { return odd(*x); }));
}

/// Its address is that of std::addressof.
struct without_address {
  long x = 1;
  void operator&() const = delete;
  friend without_address operator+(without_address a, without_address b) { return {a.x + b.x}; }
};
TEST(std_par, values_whose_address_operator_is_deleted) {
  std::vector<without_address> v(3000);
  EXPECT_EQ(std::reduce(ex::par, v.begin(), v.end(), without_address{}).x, 3001);
  std::inclusive_scan(ex::par, v.begin(), v.end(), v.begin(), std::plus<>{});
  EXPECT_EQ(v.back().x, 3000);
}

TEST(std_par, algorithms_in_algorithms) {
  std::vector<numbers> rows;
  for (std::size_t i = 0; i < 200; ++i) rows.push_back(some(10 * i));
  std::vector<long> sums(rows.size());
  std::transform(ex::par, rows.begin(), rows.end(), sums.begin(), [](numbers& row) {
    std::sort(ex::par, row.begin(), row.end());
    bool const is_any = std::any_of(ex::par, row.begin(), row.end(), [&](long x) {
      return std::any_of(ex::par, row.begin(), row.begin() + std::min(2L, row.end() - row.begin()),
                         [&](long y) { return y == x; });
    });
    return std::reduce(ex::par, row.begin(), row.end()) + (is_any == row.empty() ? 1L << 50 : 0);
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(std::is_sorted(rows[i].begin(), rows[i].end()));
    EXPECT_EQ(sums[i], std::accumulate(rows[i].begin(), rows[i].end(), 0L));
  }
}

TEST(std_par, two_threads_call_at_once) {
  numbers sums(2);
  auto const call = [&](std::size_t which) {
    for (int i = 0; i < 20; ++i) {
      numbers v = some(5000 + which);
      std::sort(ex::par, v.begin(), v.end());
      sums[which] += std::reduce(ex::par, v.begin(), v.end());
    }
  };
  std::thread other(call, 1);
  call(0);
  other.join();
  numbers const wanted = some(5001);
  EXPECT_EQ(sums[1], 20 * std::accumulate(wanted.begin(), wanted.end(), 0L));
}

/// Two iterations wait until both have begun, up to a bound.
TEST(std_par, two_workers_share_a_loop) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool met = false;
  while (!met && std::chrono::steady_clock::now() < until) {
    std::set<std::thread::id> threads;
    std::atomic<int> begun{0};
    std::vector<std::thread::id> ids(64);
    std::for_each(ex::par, ids.begin(), ids.end(), [&](std::thread::id& id) {
      id = std::this_thread::get_id();
      ++begun;
      auto const patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < patience) {
      }
    });
    threads.insert(ids.begin(), ids.end());
    ASSERT_EQ(begun, 64);
    met = threads.size() > 1;
  }
  EXPECT_EQ(met, std::string(std::getenv("FILCH_TEST_SCHEDULER")) != "serial");
}

/// All functions have one type. The first call of the last loop waits for the second.
TEST(std_par, two_elements_are_shared_after_cheap_loops) {
  if (std::string(std::getenv("FILCH_TEST_SCHEDULER")) == "serial") GTEST_SKIP() << "it has one worker";
  auto const run = [](std::vector<int>& v, std::function<void(int&)> const& function) {
    std::for_each(ex::par, v.begin(), v.end(), function);
  };
  std::vector<int> many(100);
  std::vector<int> few(2);
  for (int i = 0; i < 2000; ++i) run(many, [](int& x) { ++x; });
  std::atomic<int> begun{0};
  run(few, [&begun](int&) {
    ++begun;
    auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (begun < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    EXPECT_EQ(begun, 2);
  });
}

/// 16384 tiles, of which at most 64 are run at once.
TEST(std_par, a_cancelled_loop_ends_early) {
  std::atomic<long> calls{0};
  auto const body = [&](std::size_t, std::size_t) {
    calls.fetch_add(1, std::memory_order_relaxed);
    filch::std_par::chosen_calls.cancel();
  };
  filch::std_par::run_range(filch::std_par::chosen_calls, std::size_t{0}, std::size_t{1} << 30, body);
  EXPECT_LT(calls, 64);
  // The next loop on these threads is whole.
  std::vector<char> const v(std::size_t{1} << 20, 1);
  EXPECT_TRUE(std::any_of(ex::par, v.begin(), v.end(), [](char x) { return x == 1; }));
  EXPECT_EQ(std::count(ex::par, v.begin(), v.end(), 1), 1 << 20);
}

template <class Call> void ends(Call const& call) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(call(), "terminate");
}
TEST(std_par_death, an_exception_of_an_element_terminates) {
  numbers v = some(3000);
  ends([&] { std::for_each(ex::par, v.begin(), v.end(), [](long) { throw 1; }); });
  ends([&] { std::for_each(ex::par, v.begin(), v.end(), [](long) { throw std::bad_alloc(); }); });
  ends([&] { static_cast<void>(std::reduce(ex::par, v.begin(), v.end(), 0L, [](long, long) -> long { throw 1; })); });
  ends([&] { std::sort(ex::par, v.begin(), v.end(), [](long, long) -> bool { throw 1; }); });
  ends([&] { std::inclusive_scan(ex::par, v.begin(), v.end(), v.begin(), [](long, long) -> long { throw 1; }); });
}

TEST(std_par, a_file_of_c_is_in_the_same_target) { EXPECT_EQ(of_c(20), 41); }

}  // namespace
