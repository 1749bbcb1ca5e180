// Filters in place: the results of std's, in any split; the predicate is called once, and may throw.
#include "pieces.hpp"

#include <filch/filter.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace filch_test {
namespace {

template <class S> class fronts : public ::testing::Test {};
TYPED_TEST_SUITE(fronts, algorithm_schedulers, scheduler_names);

constexpr auto is_taken = [](int x) { return x % 3 == 0 || x > 700; };

/// Clang warns of std::stable_partition in libstdc++'s own header. Returns the end of the taken elements.
std::vector<int>::iterator partition_in_order(std::vector<int>& v) {
  std::vector<int> taken;
  std::vector<int> others;
  for (int x : v) (is_taken(x) ? taken : others).push_back(x);
  std::copy(others.begin(), others.end(), std::copy(taken.begin(), taken.end(), v.begin()));
  return v.begin() + static_cast<std::ptrdiff_t>(taken.size());
}

TYPED_TEST(fronts, remove_if_and_unique_are_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto v = numbers(n, 0, 5);
    auto expected = v;
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    v.erase(filch::unique<TypeParam>(v.begin(), v.end()), v.end());
    EXPECT_EQ(v, expected);
    auto const removes = [](int x) { return x < 2; };
    expected.erase(std::remove_if(expected.begin(), expected.end(), removes), expected.end());
    v.erase(filch::remove_if<TypeParam>(v.begin(), v.end(), removes), v.end());
    EXPECT_EQ(v, expected);
  });
}

TYPED_TEST(fronts, of_ranges_are_those_of_iterators) {
  if constexpr (filch::detail::has_subranges) {
    auto const v = numbers(300, 0, 5);
    // Only the elements of the front are compared, in any order: nothing else is specified.
    auto const rest_of = [&v](auto const& ranges, auto const& iterators) {
      auto a = v;
      auto b = v;
      auto const rest = ranges(a);
      auto const front_end = iterators(b.begin(), b.end());
      EXPECT_EQ(rest.begin() - a.begin(), front_end - b.begin());
      EXPECT_EQ(rest.end(), a.end());
      EXPECT_TRUE(std::is_permutation(a.begin(), rest.begin(), b.begin(), front_end));
    };
    typename TypeParam::pool pool({.workers = 1});
    pool.run([&] {
      rest_of([](auto& r) { return filch::unique<TypeParam>(r); },
              [](auto i, auto j) { return filch::unique<TypeParam>(i, j); });
      rest_of([](auto& r) { return filch::remove_if<TypeParam>(r, is_taken); },
              [](auto i, auto j) { return filch::remove_if<TypeParam>(i, j, is_taken); });
      rest_of([](auto& r) { return filch::partition<TypeParam>(r, is_taken); },
              [](auto i, auto j) { return filch::partition<TypeParam>(i, j, is_taken); });
      rest_of([](auto& r) { return filch::stable_partition<TypeParam>(r, is_taken); },
              [](auto i, auto j) { return filch::stable_partition<TypeParam>(i, j, is_taken); });
    });
  }
}

TYPED_TEST(fronts, move_elements_that_can_only_be_moved) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::unique_ptr<int>> v;
    for (int x : numbers(n)) v.push_back(std::make_unique<int>(x));
    auto const get = [](std::unique_ptr<int> const& p) { return *p; };
    auto expected = numbers(n);
    static_cast<void>(partition_in_order(expected));
    filch::stable_partition<TypeParam>(v.begin(), v.end(), is_taken, get);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), expected.begin(), expected.end(),
                           [](auto const& p, int x) { return p && *p == x; }));
    expected.erase(std::remove_if(expected.begin(), expected.end(), is_taken), expected.end());
    v.erase(filch::remove_if<TypeParam>(v.begin(), v.end(), is_taken, get), v.end());
    EXPECT_TRUE(std::equal(v.begin(), v.end(), expected.begin(), expected.end(),
                           [](auto const& p, int x) { return p && *p == x; }));
  });
}

/// Trivially copyable, but its copies are deleted.
struct moved_number {
  int x;
  explicit moved_number(int value) : x(value) {}
  moved_number(moved_number&&) = default;
  moved_number& operator=(moved_number&&) = default;
};
static_assert(std::is_trivially_copyable_v<moved_number>);

TYPED_TEST(fronts, move_numbers_that_can_only_be_moved) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<moved_number> v;
    for (int x : numbers(n)) v.emplace_back(x);
    auto const middle = filch::partition<TypeParam>(v.begin(), v.end(), is_taken, &moved_number::x);
    auto const is_number_taken = [](moved_number const& x) { return is_taken(x.x); };
    EXPECT_TRUE(std::is_partitioned(v.begin(), v.end(), is_number_taken));
    EXPECT_EQ(std::partition_point(v.begin(), v.end(), is_number_taken), middle);
    std::vector<int> left;
    for (moved_number const& x : v) left.push_back(x.x);
    std::sort(left.begin(), left.end());
    auto all = numbers(n);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(left, all);
  });
}

template <class S, class T> void partitions(std::vector<T> v, bool (*pred)(T const&)) {
  auto expected = v;
  auto const middle = filch::partition<S>(v.begin(), v.end(), pred);
  EXPECT_TRUE(std::all_of(v.begin(), middle, pred));
  EXPECT_TRUE(std::none_of(middle, v.end(), pred));
  std::sort(v.begin(), v.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(v, expected);
}
TYPED_TEST(fronts, partition_keeps_all_elements) {
  in_every_pool<TypeParam>([](std::size_t n) {
    partitions<TypeParam, int>(numbers(n), [](int const& x) { return is_taken(x); });
    std::vector<std::string> words;
    for (int x : numbers(n)) words.push_back(std::to_string(x));
    partitions<TypeParam, std::string>(std::move(words), [](std::string const& x) { return x.back() > '4'; });
  });
}

TYPED_TEST(fronts, stable_partition_is_std_s) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto v = numbers(n);
    auto expected = v;
    auto const middle = partition_in_order(expected);
    EXPECT_EQ(filch::stable_partition<TypeParam>(v.begin(), v.end(), is_taken) - v.begin(),
              middle - expected.begin());
    EXPECT_EQ(v, expected);
  });
}

TYPED_TEST(fronts, stable_partition_is_right_without_memory) {
  for (std::size_t n : {1u, 2u, 3u, 64u, 1'000u}) {
    auto v = numbers(n);
    auto expected = v;
    auto const middle = partition_in_order(expected);
    std::identity all;
    auto pred = is_taken;
    filch::detail::selection<std::vector<int>::iterator, decltype(pred), std::identity> const in{
        v.begin(), {pred}, {all}};
    filch::detail::never_stopped never;
    EXPECT_EQ(filch::detail::partition_without_memory(never, in, 0, n),
              static_cast<std::size_t>(middle - expected.begin()));
    EXPECT_EQ(v, expected);
  }
}

TYPED_TEST(fronts, throw_exceptions_of_the_predicate) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n == 0) return;
    std::vector<std::string> v(n, std::string(40, 'x')), out(n);
    v[n / 2] = "throws";
    auto const pred = [](std::string const& x) { return x.size() == 6 ? throw 3 : x.empty(); };
    EXPECT_THROW(filch::copy_if<TypeParam>(v, out, pred), int);
    EXPECT_THROW(filch::remove_if<TypeParam>(v.begin(), v.end(), pred), int);
    auto w = v;
    EXPECT_THROW(
        filch::stable_partition<TypeParam>(w.begin(), w.end(), [&](std::string const& x) { return !pred(x); }), int);
    EXPECT_THROW(filch::partition<TypeParam>(v.begin(), v.end(), pred), int);
  });
}

/// Two pieces of eight elements of which only some run, as after an exception or a request to stop. Runs no threads.
template <class Work> void joins_pieces_in_part(Work& work, bool is_stopped) {
  for (std::size_t low_runs : {0u, 1u, 5u, 8u}) {
    for (std::size_t high_runs : {0u, 1u, 5u, 8u}) {
      SCOPED_TRACE(testing::Message() << low_runs << " and " << high_runs);
      filch::detail::never_stopped never;
      filch::detail::front_piece<Work, filch::detail::never_stopped> low(work, never, 16);
      auto high = low.split(8, 16);
      if (high_runs != 0) run_stretch_of(high, 8, 8 + high_runs);
      if (low_runs != 0) run_stretch_of(low, 0, low_runs);
      if (is_stopped) {
        low.abandon(high);
      } else {
        low.merge(high);
      }
      work.finish(low.whole());
      EXPECT_LE(low.whole().at, low_runs + high_runs);
    }
  }
}
TYPED_TEST(fronts, join_pieces_that_ran_in_part) {
  using iterator = std::vector<std::string>::iterator;
  std::identity same;
  // The first and the last string are no elements of the range.
  std::vector<std::string> v(18, std::string(40, 'x'));
  for (std::size_t i = 1; i < 17; i += 3) v[i] = std::string(40, 'y');
  auto sorted = v;
  std::sort(sorted.begin(), sorted.end());
  auto const reads = [&v](std::string const& x) {
    EXPECT_TRUE(&x > &v.front() && &x < &v.back());
    return x[0] == 'y';
  };
  auto const are_equal = [&](std::string const& x, std::string const& y) { return reads(x) == reads(y); };
  using pred = decltype(reads);
  for (bool const is_stopped : {false, true}) {
    filch::detail::partitioning<TypeParam, iterator, pred, std::identity> partition{{v.begin() + 1, {reads}, {same}}};
    joins_pieces_in_part(partition, is_stopped);
    filch::detail::raw_buffer<std::string> const buffer(16);
    filch::detail::partitioning_stably<iterator, pred, std::identity> stably{{v.begin() + 1, {reads}, {same}},
                                                                             &buffer};
    joins_pieces_in_part(stably, is_stopped);
    auto left = v;
    std::sort(left.begin(), left.end());
    EXPECT_EQ(left, sorted);
  }
  for (bool const is_stopped : {false, true}) {
    filch::detail::keeping_unique<iterator, decltype(are_equal), std::identity> unique{
        v.begin() + 1, {are_equal}, {same}};
    v.assign(18, std::string(40, 'x'));
    joins_pieces_in_part(unique, is_stopped);
    filch::detail::removing<iterator, pred, std::identity> remove{{v.begin() + 1, {reads}, {same}}};
    v.assign(18, std::string(40, 'x'));
    joins_pieces_in_part(remove, is_stopped);
    EXPECT_EQ(v.front(), std::string(40, 'x'));
    EXPECT_EQ(v.back(), std::string(40, 'x'));
  }
}

TYPED_TEST(fronts, call_the_predicate_once_for_each_element) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto v = numbers(n);
    std::vector<int> out(n);
    std::atomic<std::size_t> calls{0};
    auto const counted = [&](int x) { return calls.fetch_add(1, std::memory_order_relaxed), x > 0; };
    filch::copy_if<TypeParam>(v, out, counted);
    EXPECT_EQ(calls.exchange(0), n);
    filch::stable_partition<TypeParam>(v.begin(), v.end(), counted);
    EXPECT_EQ(calls.exchange(0), n);
    filch::partition<TypeParam>(v.begin(), v.end(), counted);
    EXPECT_EQ(calls.exchange(0), n);
    filch::remove_if<TypeParam>(v.begin(), v.end(), counted);
    EXPECT_EQ(calls.exchange(0), n);
  });
}

}  // namespace
}  // namespace filch_test
