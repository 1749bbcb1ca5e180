// The rest of the standard's names: the results of std's, in any split.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

namespace filch_test {
namespace {

template <class S> class other_names : public ::testing::Test {};
TYPED_TEST_SUITE(other_names, algorithm_schedulers, scheduler_names);

using ints = std::vector<int>;
std::ptrdiff_t signed_of(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

TYPED_TEST(other_names, rearrange_as_std_s_do) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n);
    for (std::size_t const k : {std::size_t{0}, std::size_t{1}, n / 3, n / 2 + 1, n}) {
      if (k > n) continue;
      auto const at = signed_of(k);
      auto own = v, expected = v;
      EXPECT_EQ(filch::rotate<S>(own.begin(), own.begin() + at, own.end()) - own.begin(), signed_of(n - k));
      std::rotate(expected.begin(), expected.begin() + at, expected.end());
      EXPECT_EQ(own, expected);
      ints out(n);
      EXPECT_EQ(filch::rotate_copy<S>(v.begin(), v.begin() + at, v.end(), out.begin()), out.end());
      EXPECT_EQ(out, expected);
      auto left = v;
      auto const end = filch::shift_left<S>(left.begin(), left.end(), at);
      EXPECT_EQ(end - left.begin(), signed_of(n - k));
      EXPECT_TRUE(std::equal(left.begin(), end, v.begin() + at, v.end()));
      auto right = v;
      auto const first = filch::shift_right<S>(right.begin(), right.end(), at);
      EXPECT_EQ(first - right.begin(), at);
      EXPECT_TRUE(std::equal(first, right.end(), v.begin(), v.end() - at));
    }
    auto own = v, expected = v;
    std::reverse(expected.begin(), expected.end());
    filch::reverse<S>(own);
    EXPECT_EQ(own, expected);
    ints out(n);
    filch::reverse_copy<S>(v, out);
    EXPECT_EQ(out, expected);
    filch::swap_ranges<S>(own.begin(), own.end(), out.begin() + 0);
    EXPECT_EQ(own, expected);
    std::vector<std::unique_ptr<int>> from, to(n);
    for (int x : v) from.push_back(std::make_unique<int>(x));
    filch::move<S>(from.begin(), from.end(), to.begin());
    EXPECT_TRUE(std::equal(to.begin(), to.end(), v.begin(), v.end(), [](auto& p, int x) { return *p == x; }));
  });
}

TYPED_TEST(other_names, rearrange_long_ranges_in_rounds) {
  auto const v = numbers(50'000, 0, 1 << 30);
  typename TypeParam::pool pool({.workers = 2});
  pool.run([&] {
    wait_for_thief<TypeParam>();
    for (std::ptrdiff_t const n : {100, 4'096, 5'000, 30'000}) {
      auto left = v, right = v, turned = v, expected = v;
      auto const end = filch::shift_left<TypeParam>(left.begin(), left.end(), n);
      EXPECT_TRUE(std::equal(left.begin(), end, v.begin() + n, v.end()));
      auto const first = filch::shift_right<TypeParam>(right.begin(), right.end(), n);
      EXPECT_TRUE(std::equal(first, right.end(), v.begin(), v.end() - n));
      filch::rotate<TypeParam>(turned.begin(), turned.begin() + n, turned.end());
      std::rotate(expected.begin(), expected.begin() + n, expected.end());
      EXPECT_EQ(turned, expected);
    }
  });
}

TYPED_TEST(other_names, replace_and_remove_as_std_s_do) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n, 0, 9);
    auto const is_odd = [](int x) { return x % 2 != 0; };
    auto own = v, expected = v;
    ints out(n), copied(n);
    auto const same = [&](char const* name) {
      EXPECT_EQ(own, expected) << name;
      own = expected = v;
    };
    std::replace_if(expected.begin(), expected.end(), is_odd, -5);
    filch::replace_if<S>(own, is_odd, -5);
    same("replace_if");
    std::replace(expected.begin(), expected.end(), 3, 4);
    filch::replace<S>(own.begin(), own.end(), 3, 4);
    same("replace");
    std::replace_copy_if(v.begin(), v.end(), expected.begin(), is_odd, -5);
    filch::replace_copy_if<S>(v, own, is_odd, -5);
    same("replace_copy_if");
    std::replace_copy(v.begin(), v.end(), expected.begin(), 3, 4);
    filch::replace_copy<S>(v.begin(), v.end(), own.begin(), 3, 4);
    same("replace_copy");
    expected.erase(std::remove(expected.begin(), expected.end(), 3), expected.end());
    own.erase(filch::remove<S>(own.begin(), own.end(), 3), own.end());
    same("remove");
    expected.erase(std::remove_copy_if(v.begin(), v.end(), expected.begin(), is_odd), expected.end());
    own.erase(filch::remove_copy_if<S>(v.begin(), v.end(), own.begin(), is_odd), own.end());
    same("remove_copy_if");
    expected.erase(std::remove_copy(v.begin(), v.end(), expected.begin(), 3), expected.end());
    own.erase(filch::remove_copy<S>(v, own, 3).out, own.end());
    same("remove_copy");
    expected.erase(std::unique_copy(v.begin(), v.end(), expected.begin()), expected.end());
    own.erase(filch::unique_copy<S>(v.begin(), v.end(), own.begin()), own.end());
    same("unique_copy");
    if (n != 0) {
      filch::replace<S>(own, own[0], own[n / 2]);  // both are elements
      int const before = expected[0], after = expected[n / 2];
      std::replace(expected.begin(), expected.end(), before, after);
      same("replace by an element");
    }
    filch::fill_n<S>(own.begin(), signed_of(n / 2), 8);
    std::fill_n(expected.begin(), n / 2, 8);
    same("fill_n");
    filch::copy_n<S>(v.begin(), signed_of(n / 2), out.begin());
    std::copy_n(v.begin(), n / 2, copied.begin());
    filch::generate_n<S>(out.begin() + signed_of(n / 2), signed_of(n - n / 2), [] { return 9; });
    std::fill(copied.begin() + signed_of(n / 2), copied.end(), 9);
    EXPECT_EQ(out, copied);
  });
}

TYPED_TEST(other_names, search_as_std_s_do) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n, 0, 30);
    ints const some{7, 11}, none{99, 98};
    auto const is_seven = [](int x) { return x == 7; };
    auto const last = std::find(v.rbegin(), v.rend(), 7);
    auto const expected = last == v.rend() ? v.end() : last.base() - 1;
    EXPECT_EQ(filch::find_last<S>(v, 7), expected);
    EXPECT_EQ(filch::find_last_if<S>(v.begin(), v.end(), is_seven), expected);
    EXPECT_EQ(filch::find_last_if_not<S>(v, [](int x) { return x != 7; }), expected);
    EXPECT_EQ(filch::contains<S>(v, 7), expected != v.end());
    EXPECT_FALSE(filch::contains<S>(v, 31));
    EXPECT_EQ(filch::find_first_of<S>(v, some), std::find_first_of(v.begin(), v.end(), some.begin(), some.end()));
    EXPECT_EQ(filch::find_first_of<S>(v.begin(), v.end(), none.begin(), none.end()), v.end());
    auto few = numbers(n, 0, 1);
    auto most = numbers(n + 1, 0, 5);
    for (int& x : most) x = x != 0 ? 1 : 0;
    for (int const count : {0, 1, 2, 5, 9, 12, 15, 20, 25, 40}) {
      for (auto const& ones : {few, most}) {
        EXPECT_EQ(filch::search_n<S>(ones.begin(), ones.end(), count, 1),
                  std::search_n(ones.begin(), ones.end(), count, 1))
            << count;
      }
    }
    auto const middle = few.begin() + signed_of(n / 2);
    ints const part(middle, few.end());
    EXPECT_TRUE(filch::ends_with<S>(few, part));
    EXPECT_TRUE(filch::contains_subrange<S>(few, part));
    EXPECT_TRUE(filch::starts_with<S>(few.begin(), few.end(), few.begin(), middle));
    EXPECT_FALSE(filch::starts_with<S>(part, ints(n + 1)));
    EXPECT_FALSE(filch::ends_with<S>(few, ints{2}));
    EXPECT_FALSE(filch::contains_subrange<S>(few, none));
    auto const is_one = [](int x) { return x == 1; };
    EXPECT_EQ(filch::is_partitioned<S>(few, is_one), std::is_partitioned(few.begin(), few.end(), is_one));
    auto sorted = few;
    std::sort(sorted.rbegin(), sorted.rend());
    EXPECT_TRUE(filch::is_partitioned<S>(sorted, is_one));
    auto heap = v;
    std::make_heap(heap.begin(), heap.end());
    EXPECT_TRUE(filch::is_heap<S>(heap));
    if (n > 5) heap[2 * n / 3] = 99;
    EXPECT_EQ(filch::is_heap_until<S>(heap), std::is_heap_until(heap.begin(), heap.end()));
    EXPECT_EQ(filch::is_heap<S>(heap.begin(), heap.end()), std::is_heap(heap.begin(), heap.end()));
    auto other = v;
    EXPECT_FALSE(filch::lexicographical_compare<S>(v, other));
    if (n != 0) ++other[n - 1 - n / 4];
    EXPECT_EQ(filch::lexicographical_compare<S>(v, other), n != 0);
    EXPECT_FALSE(filch::lexicographical_compare<S>(other.begin(), other.end(), v.begin(), v.end()));
    other = v;
    other.push_back(0);
    EXPECT_TRUE(filch::lexicographical_compare<S>(v, other));
    if (n != 0) {
      auto const ends = filch::minmax<S>(v);
      EXPECT_EQ(ends.min, *std::min_element(v.begin(), v.end()));
      EXPECT_EQ(ends.max, *std::max_element(v.begin(), v.end()));
    }
  });
}

/// Counts objects, and throws at one.
struct counted {
  static inline std::atomic<int> alive{0}, made{0};
  static inline int throw_at = 0;
  int x = 5;
  counted() { count(); }
  explicit(false) counted(int y) : x(y) { count(); }
  counted(counted const& other) : x(other.x) { count(); }
  ~counted() { --alive; }
  static void count() {
    if (++made == throw_at) throw throw_at;
    ++alive;
  }
  static void reset(int at) { made = 0, throw_at = at; }
};

TYPED_TEST(other_names, make_and_destroy_objects) {
  in_every_pool<TypeParam>([](std::size_t n) {
    using S = TypeParam;
    auto const v = numbers(n);
    std::allocator<counted> memory;
    counted* const first = memory.allocate(n + 1);
    counted* const last = first + n;
    auto const is_each = [&](auto const& value_at) {
      bool is = counted::alive == static_cast<int>(n);
      for (std::size_t i = 0; i < n; ++i) is = is && first[i].x == value_at(i);
      filch::destroy<S>(first, last);
      return is && counted::alive == 0;
    };
    counted::reset(0);
    filch::uninitialized_copy<S>(v.begin(), v.end(), first);
    EXPECT_TRUE(is_each([&](std::size_t i) { return v[i]; }));
    filch::uninitialized_move_n<S>(v.begin(), signed_of(n), first);
    EXPECT_TRUE(is_each([&](std::size_t i) { return v[i]; }));
    filch::uninitialized_fill<S>(first, last, 3);
    EXPECT_TRUE(is_each([](std::size_t) { return 3; }));
    filch::uninitialized_default_construct<S>(first, last);
    EXPECT_TRUE(is_each([](std::size_t) { return 5; }));
    filch::uninitialized_value_construct_n<S>(first, signed_of(n));
    EXPECT_TRUE(is_each([](std::size_t) { return 5; }));
    for (int at : {1, 2, 40, 90, 999}) {
      if (at > static_cast<int>(n)) continue;
      counted::reset(at);
      EXPECT_THROW(filch::uninitialized_copy<S>(v.begin(), v.end(), first), int);
      EXPECT_EQ(counted::alive, 0);
    }
    counted::reset(0);
    stop_source source;
    source.request_stop();
    EXPECT_EQ(filch::uninitialized_fill<S>(source.get_token(), first, last, 3), n == 0);
    EXPECT_EQ(counted::alive, 0);
    memory.deallocate(first, n + 1);
  });
}

TYPED_TEST(other_names, shuffle_by_seed_alike_on_any_number_of_workers) {
  for (std::size_t n : {0u, 1u, 2u, 1'000u, 16'384u, 16'385u, 100'000u}) {
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    auto expected = v;
    filch::random_shuffle<filch::serial>(expected, 42);
    auto sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, v);
    auto other = v;
    filch::random_shuffle<filch::serial>(other, 43);
    EXPECT_EQ(other == expected, n < 2 || (n == 2 && other == expected));
    for (unsigned workers : {1u, 3u}) {
      typename TypeParam::pool pool({.workers = workers});
      auto own = v;
      pool.run([&] { filch::random_shuffle<TypeParam>(own.begin(), own.end(), 42); });
      EXPECT_EQ(own, expected);
    }
    if (n < 1'000) continue;
    // Far from the order that they had: an element moves by a third of n on average.
    double moved = 0;
    for (std::size_t i = 0; i < n; ++i) moved += std::abs(static_cast<double>(expected[i]) - static_cast<double>(i));
    EXPECT_NEAR(moved / static_cast<double>(n) / static_cast<double>(n), 1.0 / 3, 0.03);
  }
}

TYPED_TEST(other_names, shuffle_every_order_alike) {
  std::array<int, 6> counts{};
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    std::array<int, 3> v{0, 1, 2};
    filch::random_shuffle<TypeParam>(v, seed);
    ++counts[static_cast<std::size_t>(v[0] * 2 + (v[1] > v[2] ? 1 : 0))];
  }
  for (int count : counts) EXPECT_NEAR(count, 1'000, 150);
}

TYPED_TEST(other_names, flatten_and_remove_duplicates) {
  in_every_pool<TypeParam>([](std::size_t n) {
    if (n > 1'000) return;
    std::vector<ints> rows;
    ints expected, distinct;
    for (int x : numbers(n, 0, 70)) {
      rows.emplace_back(static_cast<std::size_t>(x % 9), x);
      expected.insert(expected.end(), rows.back().begin(), rows.back().end());
    }
    for (int x : expected) {
      if (std::find(distinct.begin(), distinct.end(), x) == distinct.end()) distinct.push_back(x);
    }
    EXPECT_EQ(filch::flatten<TypeParam>(rows), expected);
    EXPECT_EQ(filch::remove_duplicates<TypeParam>(expected), distinct);
    stop_source source;
    EXPECT_EQ(filch::flatten<TypeParam>(source.get_token(), rows.begin(), rows.end()), expected);
    source.request_stop();
    EXPECT_EQ(filch::remove_duplicates<TypeParam>(source.get_token(), expected).has_value(), expected.empty());
  });
}

TYPED_TEST(other_names, have_forms_with_a_stop_token) {
  using S = TypeParam;
  auto const v = numbers(500, 0, 30);
  for (bool is_stopped : {false, true}) {
    stop_source source;
    if (is_stopped) source.request_stop();
    auto const token = source.get_token();
    auto own = v;
    ints out(v.size());
    auto const middle = own.begin() + 100;
    auto const is_odd = [](int x) { return x % 2 != 0; };
    std::vector<std::pair<char const*, bool>> const results{
        {"reverse", filch::reverse<S>(token, own)},
        {"rotate", filch::rotate<S>(token, own.begin(), middle, own.end())},
        {"rotate_copy", filch::rotate_copy<S>(token, own.begin(), middle, own.end(), out.begin())},
        {"shift_left", filch::shift_left<S>(token, own.begin(), own.end(), 3)},
        {"shift_right", filch::shift_right<S>(token, own, 3)},
        {"swap_ranges", filch::swap_ranges<S>(token, own, out)},
        {"move", filch::move<S>(token, own, out)},
        {"reverse_copy", filch::reverse_copy<S>(token, own, out)},
        {"replace", filch::replace<S>(token, own, 99, 98)},
        {"replace_if", filch::replace_if<S>(token, own.begin(), own.end(), is_odd, 98)},
        {"replace_copy", filch::replace_copy<S>(token, own, out, 1, 2)},
        {"replace_copy_if", filch::replace_copy_if<S>(token, own, out, is_odd, 2)},
        {"remove", filch::remove<S>(token, own.begin(), own.end(), 1).has_value()},
        {"remove_copy", filch::remove_copy<S>(token, own, out, 1)},
        {"remove_copy_if", filch::remove_copy_if<S>(token, own, out, is_odd)},
        {"unique_copy", filch::unique_copy<S>(token, own, out)},
        {"find_last", filch::find_last<S>(token, v, 99).has_value()},
        {"find_last_if", filch::find_last_if<S>(token, v, [](int) { return false; }).has_value()},
        {"find_first_of", filch::find_first_of<S>(token, v, ints{99}).has_value()},
        {"search_n", filch::search_n<S>(token, v.begin(), v.end(), 2, 99).has_value()},
        {"contains", filch::contains<S>(token, v, 99).has_value()},
        {"contains_subrange", filch::contains_subrange<S>(token, v, ints{99}).has_value()},
        {"starts_with", filch::starts_with<S>(token, v, v).has_value()},
        {"ends_with", filch::ends_with<S>(token, v, v).has_value()},
        {"is_partitioned", filch::is_partitioned<S>(token, v, [](int) { return true; }).has_value()},
        {"is_heap", filch::is_heap<S>(token, ints(500)).has_value()},
        {"is_heap_until",
         filch::is_heap_until<S>(token, v.begin(), v.begin() + 2, [](int, int) { return false; }).has_value()},
        {"lexicographical_compare", filch::lexicographical_compare<S>(token, v, v).has_value()},
        {"minmax", filch::minmax<S>(token, v).has_value()},
        {"copy_n", filch::copy_n<S>(token, v.begin(), 500, out.begin())},
        {"fill_n", filch::fill_n<S>(token, out.begin(), 500, 1)},
        {"generate_n", filch::generate_n<S>(token, out.begin(), 500, [] { return 1; })},
        {"uninitialized_copy", filch::uninitialized_copy<S>(token, v, out)},
        {"uninitialized_move", filch::uninitialized_move<S>(token, v.begin(), v.end(), out.begin())},
        {"uninitialized_default_construct", filch::uninitialized_default_construct<S>(token, out)},
        {"random_shuffle", filch::random_shuffle<S>(token, own, 5)},
        {"flatten", filch::flatten<S>(token, std::vector<ints>(5)).has_value()}};
    for (auto const& [name, is_whole] : results) EXPECT_EQ(is_whole, !is_stopped) << name;
  }
}

}  // namespace
}  // namespace filch_test
