// Values that need care, through reductions, scans and filters: over-aligned ones, ones whose copies throw, and ones
// that can be moved only.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <memory>
#include <numeric>

namespace filch_test {
namespace {

template <class S> class value_types : public ::testing::Test {};
TYPED_TEST_SUITE(value_types, algorithm_schedulers, scheduler_names);

std::atomic<long> living{0};       // values
std::atomic<long> misplaced{0};    // made where they may not be
std::atomic<long> copies_left{0};  // until a copy throws; none does if it is 0

struct copy_failed {};

/// Counts itself, has an alignment, and copies of it may throw.
template <std::size_t Alignment> struct alignas(Alignment) value {
  int x = 0;

  value() { begins(); }
  value(int number) : x(number) { begins(); }
  value(value const& other) : x(other.x) {
    if (copies_left.load(std::memory_order_relaxed) != 0 && copies_left.fetch_sub(1, std::memory_order_relaxed) == 1)
      throw copy_failed();
    begins();
  }
  value(value&& other) noexcept : x(std::exchange(other.x, -1'000'000)) { begins(); }
  value& operator=(value const& other) {
    value copy(other);
    x = copy.x;
    return *this;
  }
  value& operator=(value&& other) noexcept {
    x = std::exchange(other.x, -1'000'000);
    return *this;
  }
  ~value() { living.fetch_sub(1, std::memory_order_relaxed); }

  friend value operator+(value const& a, value const& b) { return value(a.x + b.x); }
  friend value operator-(value const& a, value const& b) { return value(a.x - b.x); }
  friend bool operator==(value const& a, value const& b) { return a.x == b.x; }
  friend auto operator<=>(value const& a, value const& b) { return a.x <=> b.x; }

 private:
  void begins() {
    living.fetch_add(1, std::memory_order_relaxed);
    if (reinterpret_cast<std::uintptr_t>(this) % Alignment != 0) misplaced.fetch_add(1, std::memory_order_relaxed);
  }
};
using usual = value<alignof(int)>;
using over_aligned = value<128>;

template <class Value> std::vector<Value> values(std::vector<int> const& v) { return {v.begin(), v.end()}; }
template <class Value> std::vector<int> ints(std::vector<Value> const& v) {
  std::vector<int> out;
  for (Value const& x : v) out.push_back(x.x);
  return out;
}
constexpr auto is_taken = [](auto const& v) {
  if constexpr (requires { v.x; }) {
    return v.x % 3 == 0;
  } else {
    return v % 3 == 0;
  }
};

/// The results of all algorithms that keep values.
template <class S, class T> auto results(std::vector<T> v) {
  std::vector<std::vector<T>> all;
  std::size_t const n = v.size();
  auto const written = [&](auto algorithm) {
    std::vector<T> out(n);
    algorithm(out);
    all.push_back(std::move(out));
  };
  auto const front = [&](auto algorithm) {
    std::vector<T> own = v;
    own.erase(algorithm(own), own.end());
    all.push_back(std::move(own));
  };
  written([&](auto& out) { filch::inclusive_scan<S>(v, out); });
  written([&](auto& out) { filch::inclusive_scan<S>(v, out, std::plus<>{}, T(5)); });
  written([&](auto& out) { filch::exclusive_scan<S>(v, out, T(5)); });
  written([&](auto& out) { filch::adjacent_difference<S>(v, out); });
  written([&](auto& out) { filch::transform<S>(v, out, [](T const& x) { return x + x; }); });
  written([&](auto& out) { out.erase(filch::copy_if<S>(v.begin(), v.end(), out.begin(), is_taken), out.end()); });
  written([&](auto& out) {
    std::vector<T> others(n);
    out.erase(filch::partition_copy<S>(v.begin(), v.end(), out.begin(), others.begin(), is_taken).first, out.end());
    all.push_back(std::move(others));
  });
  front([](auto& own) { return filch::remove_if<S>(own.begin(), own.end(), is_taken); });
  front([](auto& own) { return filch::unique<S>(own.begin(), own.end()); });
  front([](auto& own) { return filch::stable_partition<S>(own.begin(), own.end(), is_taken); });
  front([](auto& own) {
    auto const end = filch::partition<S>(own.begin(), own.end(), is_taken);
    std::sort(own.begin(), end);
    return end;
  });
  written([&](auto& out) {
    out.assign(1, filch::reduce<S>(v, T(7)));
    out.push_back(filch::reduce<S>(filch::reproducible, v, T(7)));
    out.push_back(filch::transform_reduce<S>(v, v, T(7), std::plus<>{}, std::minus<>{}));
    if (n != 0) {
      out.push_back(filch::min<S>(v));
      out.push_back(filch::max<S>(v));
    }
  });
  written([&](auto& out) {
    out.clear();
    for (auto& [key, sum] : filch::reduce_by_key<S>(v, is_taken, std::identity{})) out.push_back(sum);
    for (auto& [key, group] : filch::group_by<S>(v, is_taken)) out.insert(out.end(), group.begin(), group.end());
  });
  return all;
}

/// Calls body(n) inside pools, as usual and in pieces of one iteration.
template <class S, class Body> void in_pools(std::initializer_list<std::size_t> lengths, Body body) {
  for (unsigned workers : {1u, 3u}) {
    typename S::pool pool({.workers = workers});
    for (std::size_t n : lengths) {
      SCOPED_TRACE(n);
      pool.run([&] { body(n); });
      SCOPED_TRACE("pieces of one iteration");
      single_pieces const all;
      pool.run([&] { body(n); });
    }
  }
}

TYPED_TEST(value_types, that_are_over_aligned_are_where_they_may_be) {
  in_pools<TypeParam>({0, 1, 2, 65, 1'000}, [](std::size_t n) {
    auto const data = numbers(n, 0, 30);
    auto const expected = results<filch::serial>(data);
    auto const actual = results<TypeParam>(values<over_aligned>(data));
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(ints(actual[i]), expected[i]) << "result " << i;
  });
  EXPECT_EQ(living, 0);
  EXPECT_EQ(misplaced, 0);
}

TYPED_TEST(value_types, whose_copies_throw_are_destroyed_once) {
  in_pools<TypeParam>({1, 2, 65, 300}, [](std::size_t n) {
    auto const data = values<usual>(numbers(n, 0, 30));
    long const before = living;
    std::size_t failed = 0;
    bool has_failed = true;
    for (long call = 1; has_failed; call += call / 8 + 1) {
      // A part of the copies is made by this test, and by std.
      copies_left = call;
      try {
        static_cast<void>(results<TypeParam>(data));
        has_failed = false;
      } catch (copy_failed) {
        ++failed;
      }
      copies_left = 0;
      EXPECT_EQ(living, before) << call;
    }
    EXPECT_GT(failed, 0u);
  });
  EXPECT_EQ(living, 0);
}

using owned = std::unique_ptr<int>;
std::vector<owned> owners(std::vector<int> const& v) {
  std::vector<owned> all;
  for (int x : v) all.push_back(std::make_unique<int>(x));
  return all;
}
std::vector<int> numbers_of(std::vector<owned> const& v) {
  std::vector<int> all;
  for (owned const& p : v) all.push_back(p ? *p : -1);
  return all;
}

TYPED_TEST(value_types, that_can_be_moved_only_are_reduced_and_filtered) {
  in_pools<TypeParam>({0, 1, 2, 65, 1'000}, [](std::size_t n) {
    auto const data = numbers(n, 0, 30);
    auto const value_of = [](owned const& p) { return *p; };
    auto v = owners(data);
    auto expected = data;
    v.erase(filch::remove_if<TypeParam>(v.begin(), v.end(), is_taken, value_of), v.end());
    expected.erase(std::remove_if(expected.begin(), expected.end(), is_taken), expected.end());
    EXPECT_EQ(numbers_of(v), expected);
    v.erase(filch::unique<TypeParam>(v.begin(), v.end(), {}, value_of), v.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(numbers_of(v), expected);
    v = owners(data);
    auto const middle = filch::partition<TypeParam>(v.begin(), v.end(), is_taken, value_of);
    EXPECT_EQ(std::count_if(data.begin(), data.end(), is_taken), middle - v.begin());
    EXPECT_TRUE(std::all_of(v.begin(), middle, [](owned const& p) { return p && is_taken(*p); }));
    EXPECT_TRUE(std::none_of(middle, v.end(), [](owned const& p) { return !p || is_taken(*p); }));
    // A sum that can be moved only.
    auto const add = [](owned a, owned b) {
      *a += *b;
      return a;
    };
    auto const sum = filch::transform_reduce<TypeParam>(data, std::make_unique<int>(3), add,
                                                        [](int x) { return std::make_unique<int>(x); });
    EXPECT_EQ(*sum, std::accumulate(data.begin(), data.end(), 3));
  });
}

// Warnings are errors here, and these headers are no system's: a number is narrowed without one.
TEST(value_types_that_are_numbers, are_narrowed_as_an_assignment_does) {
  using S = filch::serial;
  std::vector<short> const v{1, 2, 3};
  std::vector<short> out(3);
  std::vector<double> const reals{1.5, 2.5, 3.5};
  std::vector<int> whole(3);
  auto const twice = [](short x) { return 2 * x; };
  EXPECT_EQ(filch::reduce<S>(v, short{1}), 7);
  EXPECT_EQ(filch::reduce<S>(filch::reproducible, v, short{1}), 7);
  EXPECT_EQ(filch::transform_reduce<S>(v, short{0}, std::plus<>{}, twice), 12);
  EXPECT_EQ(filch::reduce<S>(reals, 0), 6);
  EXPECT_EQ(filch::reduce<S>(reals, 0.0F), 7.5F);
  filch::inclusive_scan<S>(v, out);
  EXPECT_EQ(out, (std::vector<short>{1, 3, 6}));
  filch::exclusive_scan<S>(v, out, short{1});
  filch::transform_inclusive_scan<S>(v, out, std::plus<>{}, twice);
  filch::adjacent_difference<S>(v, out);
  EXPECT_EQ(out, (std::vector<short>{1, 1, 1}));
  filch::inclusive_scan<S>(reals, whole);
  EXPECT_EQ(whole, (std::vector<int>{1, 4, 7}));
  filch::exclusive_scan<S>(reals, whole, 0);
  EXPECT_EQ(whole, (std::vector<int>{0, 1, 3}));
  filch::adjacent_difference<S>(reals, whole);
  filch::copy<S>(reals, whole);
  EXPECT_EQ(whole, (std::vector<int>{1, 2, 3}));
  filch::copy_if<S>(reals, whole, [](double x) { return x > 2; });
  EXPECT_EQ(whole, (std::vector<int>{2, 3, 3}));
  filch::transform<S>(v, out, twice);
  filch::fill<S>(out, 5);
  filch::iota<S>(out, 4);
  EXPECT_EQ(out, (std::vector<short>{4, 5, 6}));
  EXPECT_EQ(filch::reduce_by_key<S>(v, [](short) { return 0; }, std::identity{}).at(0).second, 6);
  std::vector<unsigned> const large{1, 0xffffffffU};
  EXPECT_EQ(filch::find<S>(large, -1), large.end() - 1);
  EXPECT_EQ(filch::count<S>(v, 2U), 1);
}

TEST(value_types_that_are_numbers, are_narrowed_by_merges_moves_and_constructions) {
  using S = filch::serial;
  std::vector<double> reals{1.5, 2.5, 3.5};
  std::vector<int> whole(6);
  filch::merge<S>(reals, reals, whole);
  EXPECT_EQ(whole, (std::vector<int>{1, 1, 2, 2, 3, 3}));
  filch::set_intersection<S>(reals, reals, whole);
  filch::partial_sort_copy<S>(reals, whole, std::ranges::greater{});
  EXPECT_EQ(whole, (std::vector<int>{3, 2, 1, 2, 3, 3}));
  filch::move<S>(reals, whole);
  filch::replace<S>(whole, 3, 4.5);
  EXPECT_EQ(whole, (std::vector<int>{1, 2, 4, 2, 4, 4}));
  filch::uninitialized_copy<S>(reals, whole);
  filch::uninitialized_move<S>(reals, whole);
  EXPECT_EQ(whole[2], 3);
  filch::uninitialized_fill<S>(whole, 5.5);
  EXPECT_EQ(whole[2], 5);
}

/// A predicate that can only be moved.
template <class Value> struct is_below {
  std::unique_ptr<Value> bound;
  explicit is_below(Value x) : bound(std::make_unique<Value>(x)) {}
  bool operator()(Value const& x) const { return x < *bound; }
};

TEST(predicates_that_can_be_moved_only, are_taken_by_all_forms) {
  using S = filch::default_scheduler;
  using below = is_below<int>;
  std::vector<int> v(100), low(100), high(100);
  std::iota(v.begin(), v.end(), 0);
  auto const i = v.begin(), j = v.end();
  std::negate<> const minus;
  EXPECT_TRUE(filch::all_of<S>(v, below(100)) && filch::all_of<S>(i, j, below(1), minus));
  EXPECT_TRUE(filch::any_of<S>(v, below(1)) && filch::any_of<S>(i, j, below(-98), minus));
  EXPECT_TRUE(filch::none_of<S>(v, below(0)) && filch::none_of<S>(i, j, below(-99), minus));
  EXPECT_EQ(filch::count_if<S>(v, below(7)), 7);
  EXPECT_EQ(filch::count_if<S>(i, j, below(-89), minus), 10);
  EXPECT_EQ(filch::find_if<S>(v, below(-9), minus) - i, 10);
  EXPECT_EQ(filch::find_if<S>(i, j, below(0)), j);
  EXPECT_EQ(filch::find_if_not<S>(v, below(8)) - i, 8);
  EXPECT_EQ(filch::find_if_not<S>(i, j, below(8)) - i, 8);
  EXPECT_EQ(filch::partition_copy<S>(v, low.begin(), high.begin(), below(30)).out1 - low.begin(), 30);
}

/// Strings can be assigned to it, and it is not made of them.
struct sink {
  std::string s;
  sink& operator=(std::string const& text) {
    s = text;
    return *this;
  }
};
/// A key, and a string of its own.
struct keyed {
  int key;
  std::string text;
};
TYPED_TEST(value_types, of_outputs_can_be_those_that_are_only_assigned_to) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    std::vector<std::string> x, y;
    std::vector<keyed> z;
    std::vector<int> keys;
    for (std::size_t i = 0; i < n; ++i) {
      auto const word = std::to_string(100'000 + i) + " is a number in a long string";
      if (i % 2 == 0) x.push_back(word);
      if (i % 3 == 0) y.push_back(word);
      if (i % 3 == 0) keys.push_back(static_cast<int>(i));
      z.push_back({static_cast<int>(i), word});
    }
    std::vector<std::string> expected;
    auto const is_expected = [&expected](auto const& out) {
      return std::equal(expected.begin(), expected.end(), out.begin(),
                        [](auto& text, auto& one) { return one.s == text; });
    };
    std::vector<sink> out(2 * n);
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
    EXPECT_EQ(filch::set_union<S>(x, y, out).out - out.begin(), static_cast<std::ptrdiff_t>(expected.size()));
    EXPECT_TRUE(is_expected(out));
    expected.assign(x.rbegin(), x.rend());
    expected.resize(x.size() / 4);
    out.resize(x.size() / 4);
    filch::partial_sort_copy<S>(x, out, std::greater<>(), {}, &sink::s);
    EXPECT_TRUE(is_expected(out));
    // The elements of an input that are never written need not be assignable.
    std::vector<keyed> kept(n);
    EXPECT_EQ(filch::set_intersection<S>(z, keys, kept, {}, &keyed::key).out - kept.begin(),
              static_cast<std::ptrdiff_t>(keys.size()));
    EXPECT_EQ(filch::set_difference<S>(z, keys, kept, {}, &keyed::key).out - kept.begin(),
              static_cast<std::ptrdiff_t>(n - keys.size()));
  });
}

TYPED_TEST(value_types, of_outputs_are_made_as_they_are_assigned) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto v = numbers(n);
    std::vector<converted_long> out(n, 0L);
    filch::partial_sort_copy<S>(v, out, [](converted_long a, converted_long b) { return a.x < b.x; });
    std::sort(v.begin(), v.end());
    EXPECT_TRUE(std::equal(v.begin(), v.end(), out.begin(), [](int a, converted_long b) { return b == a; }));
    out.assign(n, 0L);
    filch::set_union<S>(v, v, out);
    EXPECT_TRUE(std::equal(v.begin(), v.end(), out.begin(), [](int a, converted_long b) { return b == a; }));
  });
}

}  // namespace
}  // namespace filch_test
