// The rest of the standard's names that change a range: the results of std's, in any split.
#include "pieces.hpp"
#include "stop_source.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
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

/// Counts assignments from elements of an array.
struct watched {
  static inline watched const* first = nullptr;
  static inline watched const* last = nullptr;
  static inline std::atomic<int> assigned{0};
  int x = 0;
  watched() = default;
  watched(watched const&) = default;
  watched& operator=(watched const& other) {
    std::less_equal<watched const*> const is_below;
    if (is_below(first, &other) && !is_below(last, &other)) assigned.fetch_add(1, std::memory_order_relaxed);
    x = other.x;
    return *this;
  }
};

TEST(values_that_are_elements, fill_without_reads_of_what_is_written) {
  std::vector<watched> v(100);
  v[50].x = 7;
  watched::first = v.data();
  watched::last = v.data() + v.size();
  filch::fill<filch::serial>(v, v[50]);
  filch::fill<filch::serial>(v.begin(), v.end(), v[50]);
  EXPECT_EQ(watched::assigned.load(), 0);
  EXPECT_EQ(v[0].x + v[99].x, 14);
  std::vector<std::string> words(3);
  filch::fill<filch::serial>(words, "a literal");
  EXPECT_EQ(words[2], "a literal");
}

TEST(values_that_are_elements, replace_without_reads_of_what_is_written) {
  std::vector<watched> v(100), out(100);
  v[50].x = 7;
  auto const all = [](watched const&) { return true; };
  watched::first = v.data();
  watched::last = v.data() + v.size();
  watched::assigned = 0;
  filch::replace_if<filch::serial>(v, all, v[50]);
  filch::replace_if<filch::serial>(v.begin(), v.end(), all, v[50]);
  EXPECT_TRUE(filch::replace_if<filch::serial>(stop_token(), v, all, v[50]));
  EXPECT_EQ(v[0].x + v[99].x, 14);
  EXPECT_EQ(watched::assigned.load(), 0);
  out[50].x = 8;
  watched::first = out.data();
  watched::last = out.data() + out.size();
  filch::replace_copy_if<filch::serial>(v, out, all, out[50]);
  EXPECT_EQ(watched::assigned.load(), 0);
  EXPECT_EQ(out[0].x + out[99].x, 16);
  // Values that are looked for, too: the first element that is written is the value.
  std::vector<int> const in{4, 3, 3, 5};
  std::vector<int> to{3, 0, 0, 0};
  filch::replace_copy<filch::serial>(in, to, to[0], 9);
  EXPECT_EQ(to, (std::vector<int>{4, 9, 9, 5}));
  to = {3, 0, 0, 0};
  EXPECT_EQ(filch::remove_copy<filch::serial>(in, to, to[0]).out, to.begin() + 2);
  EXPECT_EQ(to[1], 5);
}

}  // namespace
}  // namespace filch_test
