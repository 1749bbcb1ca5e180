// std::views as inputs and outputs: the results of the serial loop, and each element is read once.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <string>

#if !defined(__clang_major__) || __clang_major__ >= 16
namespace filch_test {
namespace {

// The inputs are new to the algorithms, not to the loops: one scheduler is enough.
using scheduler = filch::default_scheduler;

namespace v = std::views;

template <class Range> auto values_of(Range&& range) {
  std::vector<std::ranges::range_value_t<Range>> values;
  for (auto&& x : range) values.push_back(static_cast<decltype(x)>(x));
  return values;
}
constexpr auto is_even = [](auto x) { return x % 2 == 0; };
constexpr auto is_positive = [](auto x) { return x > 0; };
constexpr auto square = [](auto x) { return long{x} * x; };

/// A view that makes its elements and counts how often.
class counted_reads {
 public:
  explicit counted_reads(std::vector<int> const& of) : of_(of) {}
  auto range() {
    return of_ | v::transform([this](int x) { return reads_.fetch_add(1, std::memory_order_relaxed), x; });
  }
  /// The number of reads since the last call.
  std::size_t take() { return reads_.exchange(0, std::memory_order_relaxed); }

 private:
  std::vector<int> const& of_;
  std::atomic<std::size_t> reads_{0};
};

/// Reductions and searches of a range that can be split, whose elements are numbers.
template <class S, class Range> void agrees_with_the_loop(Range&& range) {
  auto const all = values_of(range);
  long const sum = std::accumulate(all.begin(), all.end(), 7L);
  EXPECT_EQ(filch::reduce<S>(range, 7L), sum);
  EXPECT_EQ(filch::transform_reduce<S>(range, 7L, std::plus<>{}, std::identity{}), sum);
  std::atomic<long> seen{7};
  filch::for_each<S>(range, [&](auto x) { seen.fetch_add(x, std::memory_order_relaxed); });
  EXPECT_EQ(seen, sum);
  EXPECT_EQ(filch::count_if<S>(range, is_positive), std::count_if(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::all_of<S>(range, is_positive), std::all_of(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::any_of<S>(range, is_positive), std::any_of(all.begin(), all.end(), is_positive));
  EXPECT_EQ(filch::none_of<S>(range, is_positive), std::none_of(all.begin(), all.end(), is_positive));
  if constexpr (requires(std::vector<long>& out) { filch::copy_if<S>(range, out, is_positive); }) {
    std::vector<std::ranges::range_value_t<Range>> out(all.size()), taken;
    std::copy_if(all.begin(), all.end(), std::back_inserter(taken), is_positive);
    out.erase(filch::copy_if<S>(range, out, is_positive).out, out.end());
    EXPECT_EQ(out, taken);
  }
  if (all.empty()) return;
  EXPECT_EQ(filch::count<S>(range, all.back()), std::count(all.begin(), all.end(), all.back()));
  EXPECT_EQ(filch::min<S>(range), *std::min_element(all.begin(), all.end()));
  EXPECT_EQ(filch::max<S>(range), *std::max_element(all.begin(), all.end()));
  EXPECT_EQ(filch::max<S>(range, std::less<>{}, std::negate<>{}), *std::min_element(all.begin(), all.end()));
}
/// Functions that need positions.
template <class S, class Range> void agrees_at_positions(Range&& range) {
  auto const all = values_of(range);
  using value = std::ranges::range_value_t<Range>;
  std::vector<value> out(all.size()), expected(all.size());
  filch::copy<S>(range, out);
  EXPECT_EQ(out, all);
  filch::inclusive_scan<S>(range, out);
  std::inclusive_scan(all.begin(), all.end(), expected.begin());
  EXPECT_EQ(out, expected);
  filch::adjacent_difference<S>(range, out);
  std::adjacent_difference(all.begin(), all.end(), expected.begin());
  EXPECT_EQ(out, expected);
  EXPECT_EQ(filch::find_if<S>(range, is_positive) - std::ranges::begin(range),
            std::find_if(all.begin(), all.end(), is_positive) - all.begin());
  EXPECT_EQ(filch::is_sorted<S>(range), std::is_sorted(all.begin(), all.end()));
  EXPECT_TRUE(filch::equal<S>(range, all));
  EXPECT_EQ(filch::min_element<S>(range) - std::ranges::begin(range),
            std::min_element(all.begin(), all.end()) - all.begin());
}

TEST(views, that_can_be_split_are_inputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    int const m = static_cast<int>(n);
    auto const both = [](auto&& range) {
      agrees_with_the_loop<scheduler>(range);
      agrees_at_positions<scheduler>(range);
    };
    both(data | v::transform(square));
    both(data | v::reverse | v::drop(m / 3));
    both(v::iota(0, m) | v::transform(square) | v::reverse | v::take(m / 2));
  });
}

TEST(views, filters_are_inputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    int const m = static_cast<int>(n);
    agrees_with_the_loop<scheduler>(data | v::filter([](int) { return false; }));
    agrees_with_the_loop<scheduler>(v::iota(-m, m) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(data | v::transform(square) | v::filter(is_even) |
                                    v::filter([](auto x) { return x % 3 == 0; }));
    agrees_with_the_loop<scheduler>(data | v::reverse | v::take(m / 2) | v::filter(is_even));
    agrees_with_the_loop<scheduler>(filch::zip(data, data) |
                                    v::transform([](auto const& e) { return std::get<0>(e) + std::get<1>(e); }) |
                                    v::filter(is_positive));
    agrees_with_the_loop<scheduler>(v::iota(0, m) | v::transform(square) | v::filter(is_even) |
                                    v::transform([](long x) { return x / 3 - 100; }));
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even) | v::transform(square), 0L),
              filch::transform_reduce<scheduler>(data | v::filter(is_even), 0L, std::plus<>{}, square));
    // An rvalue that holds its elements.
    EXPECT_EQ(filch::reduce<scheduler>(numbers(n) | v::filter(is_even), 0L),
              filch::reduce<scheduler>(data | v::filter(is_even), 0L));
  });
}

TEST(views, filters_that_are_searched_give_their_iterators) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto data = numbers(n);
    auto evens = data | v::filter(is_even);
    auto const all = values_of(evens);
    auto const hit = filch::find_if<scheduler>(evens, is_positive);
    EXPECT_EQ(hit, std::ranges::find_if(evens, is_positive));
    EXPECT_EQ(filch::find_if_not<scheduler>(evens, is_positive), std::ranges::find_if_not(evens, is_positive));
    EXPECT_EQ(filch::find<scheduler>(evens, 5), evens.end());
    // It goes on from there.
    EXPECT_EQ(std::ranges::distance(hit, evens.end()), all.end() - std::find_if(all.begin(), all.end(), is_positive));
    EXPECT_EQ(filch::for_each<scheduler>(evens, [](int& x) { x += 2; }), evens.end());
    std::vector<int> half(all.size() / 2);
    auto const [in, out] = filch::copy_if<scheduler>(evens, half, [](int) { return true; });
    EXPECT_EQ(out, half.end());
    EXPECT_EQ(in, std::ranges::next(evens.begin(), static_cast<std::ptrdiff_t>(half.size()), evens.end()));
    for (std::size_t i = 0; i < half.size(); ++i) EXPECT_EQ(half[i], all[i] + 2);
    static_assert(
        std::same_as<decltype(filch::find<scheduler>(data | v::filter(is_even), 5)), std::ranges::dangling>);
  });
}

TEST(views, are_read_once) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    std::vector<int> out(n);
    counted_reads counted(data);
    auto const range = counted.range();
    auto const reads_once = [&](auto&& name, auto algorithm) {
      algorithm(range);
      EXPECT_EQ(counted.take(), n) << name;
      algorithm(range | v::reverse);
      EXPECT_EQ(counted.take(), n) << name << " of reverse";
    };
    auto const reads_each_once = [&](auto&& name, auto algorithm) {
      reads_once(name, algorithm);
      algorithm(range | v::filter(is_even));
      EXPECT_EQ(counted.take(), n) << name << " of filter";
      algorithm(range | v::filter(is_even) | v::filter(is_positive));
      EXPECT_EQ(counted.take(), n) << name << " of two filters";
    };
    using S = scheduler;
    reads_each_once("for_each", [](auto&& r) { filch::for_each<S>(r, [](int) {}); });
    reads_each_once("reduce", [](auto&& r) { filch::reduce<S>(r, 0); });
    reads_each_once("transform_reduce",
                    [](auto&& r) { filch::transform_reduce<S>(r, 0, std::plus<>{}, std::negate<>{}); });
    reads_each_once("count_if", [](auto&& r) { filch::count_if<S>(r, is_positive); });
    reads_each_once("all_of", [](auto&& r) { filch::all_of<S>(r, [](int) { return true; }); });
    reads_each_once("find_if", [](auto&& r) { filch::find_if<S>(r, [](int) { return false; }); });
    reads_once("min_element", [](auto&& r) { filch::min_element<S>(r); });
    reads_once("minmax_element", [](auto&& r) { filch::minmax_element<S>(r, {}, std::negate<>{}); });
    reads_once("copy", [&](auto&& r) { filch::copy<S>(r, out); });
    reads_once("transform", [&](auto&& r) { filch::transform<S>(r, out, std::negate<>{}); });
    reads_once("histogram", [](auto&& r) { filch::histogram<S>(r, 2, [](int x) { return x & 1; }); });
  });
}

/// On one worker. A second pass of what was given away reads the elements that are written again.
TEST(views, are_read_once_by_scans_and_filters) {
  typename scheduler::pool pool({.workers = 1});
  auto const data = numbers(1'000);
  std::vector<int> out(1'000), out2(1'000);
  counted_reads counted(data);
  auto const range = counted.range();
  pool.run([&] {
    filch::copy_if<scheduler>(range, out, is_even);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::copy_if<scheduler>(range | v::filter(is_even), out, is_positive);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::partition_copy<scheduler>(range.begin(), range.end(), out.begin(), out2.begin(), is_even);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::inclusive_scan<scheduler>(range, out);
    EXPECT_EQ(counted.take(), 1'000u);
    filch::exclusive_scan<scheduler>(range, out, 0);
    EXPECT_EQ(counted.take(), 1'000u);
  });
}

TEST(views, are_outputs) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const data = numbers(n);
    std::vector<int> out(n), expected(data.rbegin(), data.rend());
    filch::copy<scheduler>(data, out | v::reverse);
    EXPECT_EQ(out, expected);
    expected.clear();
    std::copy_if(data.begin(), data.end(), std::back_inserter(expected), is_even);
    expected.resize(std::min(expected.size(), std::size_t{3}));
    filch::copy_if<scheduler>(data, out | v::take(3), is_even);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
  });
}

/// A projection or copy of an element that a view makes does not refer into it.
TEST(views, that_make_strings_are_copied_whole) {
  in_every_pool<scheduler>([](std::size_t n) {
    auto const words = v::iota(std::size_t{0}, n) | v::transform([](std::size_t i) {
                         return std::pair(i, "a long string that is on the heap " + std::to_string(i));
                       });
    std::vector<std::string> out(n);
    filch::transform<scheduler>(words, out, std::identity{}, &std::pair<std::size_t, std::string>::second);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], words[static_cast<int>(i)].second);
    EXPECT_EQ(filch::copy_if<scheduler>(
                  words | v::transform([](auto const& p) { return p.second; }), out,
                  [](std::string const& s) {
                    return s.back() == '7';
                  }).out -
                  out.begin(),
              filch::count_if<scheduler>(words, [](auto const& p) { return p.first % 10 == 7; }));
    if (n > 7) {
      EXPECT_EQ(out[0], words[7].second);
    }
    EXPECT_EQ(filch::reduce<scheduler>(words | v::transform([](auto const& p) { return p.second; }), std::string(),
                                       [](std::string a, std::string b) { return a.size() > b.size() ? a : b; })
                  .size(),
              n == 0 ? 0 : words[static_cast<int>(n) - 1].second.size());
  });
}

// A list, or what std::views::take leaves of a filter, has no positions that a worker could begin at.
template <class Range>
concept can_be_counted = requires(Range&& range) { filch::count_if(range, [](int) { return true; }); };
using filtered = decltype(std::declval<std::vector<int>&>() | v::filter(is_even));
static_assert(can_be_counted<std::vector<int>&> && can_be_counted<filtered&>);
static_assert(!can_be_counted<decltype(std::declval<filtered>() | v::take(3))>);

}  // namespace
}  // namespace filch_test
#endif
