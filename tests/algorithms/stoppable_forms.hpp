// Every form of an algorithm that takes a stop token.
#pragma once

#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

namespace filch_test {

/// Counts calls of the user's function, and those that begin after a request. Requests a stop at a call, and throws
/// at one.
class call_counter {
 public:
  explicit call_counter(int stop_at = 0, int throw_at = 0) : stop_at_(stop_at), throw_at_(throw_at) {}
  std::stop_token token() const { return source_.get_token(); }
  void request_stop() { source_.request_stop(); }
  template <class Value> Value const& operator()(Value const& value) {
    if (source_.stop_requested()) ++after_;
    int const call = ++calls_;
    if (call == stop_at_) source_.request_stop();
    if (call == throw_at_) throw call;
    return value;
  }
  int calls() const { return calls_; }
  int after() const { return after_; }

 private:
  int const stop_at_;
  int const throw_at_;
  std::stop_source source_;
  std::atomic<int> calls_{0};
  std::atomic<int> after_{0};
};

/// Runs a form with a token and a function, both of the counter. It returns false if it was stopped.
using stoppable_form = std::function<bool(call_counter&)>;
using run_form = std::function<void(std::string const& name, stoppable_form const& form)>;

/// Calls run for every form that takes a token and a function, and writes nothing. Each one calls its function for
/// the numbers 0 to n - 1, and checks its result if it was not stopped.
template <class S> void every_reduction(std::size_t n, run_form const& run) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  long const sum = std::accumulate(v.begin(), v.end(), 0L);
  auto const difference = static_cast<std::ptrdiff_t>(n);
  auto const is = [](auto const& result, auto const& expected) {
    if (result) {
      EXPECT_EQ(*result, expected);
    }
    return result.has_value();
  };
  run("reduce", [&](call_counter& count) {
    return is(filch::reduce<S>(count.token(), v, 0L, [&](long a, long b) { return a + count(b); }), sum);
  });
  run("reduce reproducibly", [&](call_counter& count) {
    return is(filch::reduce<S>(count.token(), filch::reproducible, v.begin(), v.end(), 0L,
                               [&](long a, long b) { return a + count(b); }),
              sum);
  });
  run("transform_reduce", [&](call_counter& count) {
    return is(filch::transform_reduce<S>(count.token(), v, 0L, std::plus<>(), std::ref(count)), sum);
  });
  run("transform_reduce of two ranges", [&](call_counter& count) {
    auto const first = [&](int x, int) { return count(x); };
    return is(filch::transform_reduce<S>(count.token(), v, v, 0L, std::plus<>(), first), sum);
  });
  run("transform_reduce of two pairs", [&](call_counter& count) {
    auto const first = [&](int x, int) { return count(x); };
    return is(filch::transform_reduce<S>(count.token(), v.begin(), v.end(), v.begin(), 0L, std::plus<>(), first),
              sum);
  });
  run("count", [&](call_counter& count) {
    return is(filch::count<S>(count.token(), v.begin(), v.end(), -1, std::ref(count)), 0);
  });
  run("count_if", [&](call_counter& count) {
    return is(filch::count_if<S>(count.token(), v, [&](int x) { return count(x) >= 0; }), difference);
  });
  auto const end = v.end();
  run("min_element", [&](call_counter& count) {
    return is(filch::min_element<S>(count.token(), v, [&](int x, int y) { return count(x) < y; }), v.begin());
  });
  run("max_element", [&](call_counter& count) {
    return is(filch::max_element<S>(count.token(), v, [&](int x, int y) { return count(x) < y; }),
              n == 0 ? end : end - 1);
  });
  run("minmax_element", [&](call_counter& count) {
    auto const both = filch::minmax_element<S>(count.token(), v, [&](int x, int y) { return count(x) < y; });
    if (both && n != 0) {
      EXPECT_EQ(both->max - both->min, difference - 1);
    }
    return both.has_value();
  });
  if (n != 0) {
    run("min", [&](call_counter& count) { return is(filch::min<S>(count.token(), v, {}, std::ref(count)), 0); });
    run("max", [&](call_counter& count) {
      return is(filch::max<S>(count.token(), v, {}, std::ref(count)), difference - 1);
    });
  }
  auto const is_positive = [](call_counter& count) { return [&count](int x) { return count(x) >= 0; }; };
  auto const is_negative = [](call_counter& count) { return [&count](int x) { return count(x) < 0; }; };
  run("all_of",
      [&](call_counter& count) { return is(filch::all_of<S>(count.token(), v, is_positive(count)), true); });
  run("any_of",
      [&](call_counter& count) { return is(filch::any_of<S>(count.token(), v, is_negative(count)), false); });
  run("none_of",
      [&](call_counter& count) { return is(filch::none_of<S>(count.token(), v, is_negative(count)), true); });
  auto const are_equal = [](call_counter& count) { return [&count](int x, int y) { return count(x) == y; }; };
  run("equal", [&](call_counter& count) { return is(filch::equal<S>(count.token(), v, v, are_equal(count)), true); });
  run("equal of three iterators", [&](call_counter& count) {
    return is(filch::equal<S>(count.token(), v.begin(), v.end(), v.begin(), are_equal(count)), true);
  });
  run("mismatch", [&](call_counter& count) {
    auto const ends = filch::mismatch<S>(count.token(), v, v, are_equal(count));
    if (ends) {
      EXPECT_TRUE(ends->in1 == end && ends->in2 == end);
    }
    return ends.has_value();
  });
  run("find", [&](call_counter& count) { return is(filch::find<S>(count.token(), v, -1, std::ref(count)), end); });
  run("find_if",
      [&](call_counter& count) { return is(filch::find_if<S>(count.token(), v, is_negative(count)), end); });
  run("find_if_not",
      [&](call_counter& count) { return is(filch::find_if_not<S>(count.token(), v, is_positive(count)), end); });
  if (n > 1) {
    run("adjacent_find", [&](call_counter& count) {
      return is(filch::adjacent_find<S>(count.token(), v.begin(), v.end(), are_equal(count)), end);
    });
    auto const less = [](call_counter& count) { return [&count](int x, int y) { return count(x) < y; }; };
    run("is_sorted",
        [&](call_counter& count) { return is(filch::is_sorted<S>(count.token(), v, less(count)), true); });
    run("is_sorted_until",
        [&](call_counter& count) { return is(filch::is_sorted_until<S>(count.token(), v, less(count)), end); });
  }
  if (n > 0) {
    std::vector<int> const one{-1};
    run("search", [&](call_counter& count) {
      return is(filch::search<S>(count.token(), v.begin(), v.end(), one.begin(), one.end(), are_equal(count)), end);
    });
    if constexpr (filch::detail::has_subranges) {
      run("find_end", [&](call_counter& count) {
        auto const part = filch::find_end<S>(count.token(), v, one, are_equal(count));
        if (part) {
          EXPECT_EQ(part->begin(), end);
        }
        return part.has_value();
      });
    }
  }
}

/// The same for forms that write.
template <class S> void every_writer(std::size_t n, run_form const& run) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 0);
  std::vector<long> const none(n);
  std::vector<long> sums(n);
  std::inclusive_scan(v.begin(), v.end(), sums.begin(), std::plus<>(), 0L);
  std::vector<long> before(n);
  std::exclusive_scan(v.begin(), v.end(), before.begin(), 0L, std::plus<>());
  std::vector<long> odd;
  for (long x = 1; x < static_cast<long>(n); x += 2) odd.push_back(x);
  // Runs a form with an output.
  auto const writes = [&](std::string const& name, std::vector<long> const& expected, auto form) {
    run(name, [&, form](call_counter& count) {
      std::vector<long> out(n);
      auto const result = form(count, out);
      if (result) {
        out.resize(expected.size());
        EXPECT_EQ(out, expected);
      }
      return static_cast<bool>(result);
    });
  };
  std::vector<long> const same(v.begin(), v.end());
  writes("for_index", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::for_index<S>(count.token(), std::size_t{0}, n, [&](std::size_t i) { out[i] = count(v[i]); });
  });
  writes("for_each", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::for_each<S>(count.token(), v, [&](int x) { out[static_cast<std::size_t>(x)] = count(x); });
  });
  writes("transform", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform<S>(count.token(), v.begin(), v.end(), out.begin(), std::ref(count));
  });
  writes("transform of a range", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform<S>(count.token(), v, out, std::identity(), std::ref(count));
  });
  auto const first = [](call_counter& count) { return [&count](int x, int) { return count(x); }; };
  writes("transform of two pairs", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform<S>(count.token(), v.begin(), v.end(), v.begin(), out.begin(), first(count));
  });
  writes("transform of two ranges", same, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform<S>(count.token(), v, v, out, first(count));
  });
  writes("generate", none, [&](call_counter& count, std::vector<long>& out) {
    return filch::generate<S>(count.token(), out, [&] { return count(0L); });
  });
  auto const plus = [](call_counter& count) { return [&count](long x, long y) { return x + count(y); }; };
  writes("inclusive_scan", sums, [&](call_counter& count, std::vector<long>& out) {
    return filch::inclusive_scan<S>(count.token(), same.begin(), same.end(), out.begin(), plus(count));
  });
  writes("inclusive_scan of a range", sums, [&](call_counter& count, std::vector<long>& out) {
    return filch::inclusive_scan<S>(count.token(), same, out, plus(count), 0L);
  });
  writes("exclusive_scan", before, [&](call_counter& count, std::vector<long>& out) {
    return filch::exclusive_scan<S>(count.token(), v, out, 0L, plus(count));
  });
  writes("transform_inclusive_scan", sums, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform_inclusive_scan<S>(count.token(), same, out, std::plus<>(), std::ref(count));
  });
  writes("transform_inclusive_scan from 0", sums, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform_inclusive_scan<S>(count.token(), same.begin(), same.end(), out.begin(), std::plus<>(),
                                              std::ref(count), 0L);
  });
  writes("transform_exclusive_scan", before, [&](call_counter& count, std::vector<long>& out) {
    return filch::transform_exclusive_scan<S>(count.token(), v, out, 0L, std::plus<>(), std::ref(count));
  });
  std::vector<long> ones(n, 1);
  if (n != 0) ones[0] = 0;
  if (n > 1) {
    writes("adjacent_difference", ones, [&](call_counter& count, std::vector<long>& out) {
      return filch::adjacent_difference<S>(count.token(), v, out, [&](int x, int y) { return count(x) - y; });
    });
  }
  auto const is_odd = [](call_counter& count) { return [&count](long x) { return count(x) % 2 != 0; }; };
  writes("copy_if", odd, [&](call_counter& count, std::vector<long>& out) {
    return filch::copy_if<S>(count.token(), v.begin(), v.end(), out.begin(), is_odd(count));
  });
  writes("copy_if of a range", odd, [&](call_counter& count, std::vector<long>& out) {
    return filch::copy_if<S>(count.token(), v, out, is_odd(count));
  });
  writes("pack_index", odd, [&](call_counter& count, std::vector<long>& out) {
    return filch::pack_index<S>(count.token(), v, out, is_odd(count));
  });
  writes("partition_copy", odd, [&](call_counter& count, std::vector<long>& out) {
    std::vector<int> even(n);
    return filch::partition_copy<S>(count.token(), v.begin(), v.end(), out.begin(), even.begin(), is_odd(count));
  });
  auto const is_even = [](call_counter& count) { return [&count](long x) { return count(x) % 2 == 0; }; };
  writes("remove_if", odd, [&](call_counter& count, std::vector<long>& out) {
    std::copy(v.begin(), v.end(), out.begin());
    return filch::remove_if<S>(count.token(), out.begin(), out.end(), is_even(count));
  });
  if (n > 1) {
    writes("unique", odd, [&](call_counter& count, std::vector<long>& out) {
      for (std::size_t i = 0; i < n; ++i) out[i] = odd[std::min(i / 2, odd.size() - 1)];
      return filch::unique<S>(count.token(), out.begin(), out.end(), [&](long x, long y) { return count(x) == y; });
    });
  }
  if constexpr (filch::detail::has_subranges) {
    writes("stable_partition", odd, [&](call_counter& count, std::vector<long>& out) {
      std::copy(v.begin(), v.end(), out.begin());
      return filch::stable_partition<S>(count.token(), out, is_odd(count));
    });
  }
  run("partition", [&](call_counter& count) {
    auto out = v;
    auto const behind = filch::partition<S>(count.token(), out.begin(), out.end(), is_odd(count));
    if (behind) {
      EXPECT_EQ(static_cast<std::size_t>(*behind - out.begin()), odd.size());
    }
    return behind.has_value();
  });
  std::vector<std::size_t> const halves{n - odd.size(), odd.size()};
  auto const key = [](call_counter& count) {
    return [&count](int x) { return static_cast<std::size_t>(count(x) % 2); };
  };
  run("histogram", [&](call_counter& count) {
    std::vector<std::size_t> bins(2);
    bool const is_whole = filch::histogram<S>(count.token(), v, bins, key(count));
    if (is_whole) {
      EXPECT_EQ(bins, halves);
    }
    return is_whole;
  });
  run("histogram of its own", [&](call_counter& count) {
    auto const bins = filch::histogram<S>(count.token(), v, 2, key(count));
    if (bins) {
      EXPECT_EQ(*bins, halves);
    }
    return bins.has_value();
  });
  run("reduce_by_key", [&](call_counter& count) {
    auto const all = filch::reduce_by_key<S>(count.token(), v, key(count), [](int) { return std::size_t{1}; });
    for (std::size_t i = 0; all && i < all->size(); ++i) EXPECT_EQ((*all)[i].second, halves[i]);
    return all.has_value();
  });
  run("group_by", [&](call_counter& count) {
    auto const all = filch::group_by<S>(count.token(), v.begin(), v.end(), key(count));
    for (std::size_t i = 0; all && i < all->size(); ++i) EXPECT_EQ((*all)[i].second.size(), halves[i]);
    return all.has_value();
  });
}

/// The functions without a function of the user.
template <class S> void expect_other_writers(std::stop_token const& token, std::size_t n, bool is_whole) {
  std::vector<int> v(n, 1);
  std::vector<int> out(n);
  EXPECT_EQ(filch::copy<S>(token, v, out), is_whole);
  EXPECT_EQ(out, is_whole ? v : std::vector<int>(n));
  EXPECT_EQ(filch::copy<S>(token, v.begin(), v.end(), out.begin()), is_whole);
  EXPECT_EQ(filch::fill<S>(token, out, 5), is_whole);
  EXPECT_EQ(out, std::vector<int>(n, is_whole ? 5 : 0));
  EXPECT_EQ(filch::iota<S>(token, out.begin(), out.end(), 7), is_whole);
  if (is_whole) std::iota(v.begin(), v.end(), 7);
  EXPECT_EQ(out, is_whole ? v : std::vector<int>(n));
  EXPECT_EQ(filch::for_each_n<S>(token, v.begin(), static_cast<std::ptrdiff_t>(n), [](int& x) { ++x; }), is_whole);
}

}  // namespace filch_test
