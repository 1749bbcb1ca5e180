// Searches, compared with the standard's serial ones: the lowest position.
#include "pieces.hpp"

#include <filch/find.hpp>

#include <algorithm>
#include <functional>

namespace filch_test {
namespace {

template <class S> class searches : public ::testing::Test {};
TYPED_TEST_SUITE(searches, algorithm_schedulers, scheduler_names);

TYPED_TEST(searches, find_the_lowest_position) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for (int range : {1, 10, 100'000}) {
      auto const v = numbers(n, 0, range);
      auto const is_high = [range](int x) { return x > range - range / 10; };
      EXPECT_EQ(filch::find_if<TypeParam>(v, is_high), std::find_if(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find_if<TypeParam>(v.begin(), v.end(), is_high), std::find_if(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find_if_not<TypeParam>(v, is_high), std::find_if_not(v.begin(), v.end(), is_high));
      EXPECT_EQ(filch::find<TypeParam>(v, range), std::find(v.begin(), v.end(), range));
      EXPECT_EQ(filch::find<TypeParam>(v, -range, std::negate<>{}), std::find(v.begin(), v.end(), range));
    }
  });
}

TYPED_TEST(searches, find_neighbours) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for (int range : {1, 1'000, 100'000}) {
      auto v = numbers(n, 0, range);
      EXPECT_EQ(filch::adjacent_find<TypeParam>(v), std::adjacent_find(v.begin(), v.end()));
      EXPECT_EQ(filch::adjacent_find<TypeParam>(v.begin(), v.end(), std::greater<>{}),
                std::adjacent_find(v.begin(), v.end(), std::greater<>{}));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), std::is_sorted_until(v.begin(), v.end()));
      std::sort(v.begin(), v.end());
      EXPECT_TRUE(filch::is_sorted<TypeParam>(v));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), v.end());
      if (n > 1) std::swap(v[n / 2], v[n / 2 - 1]);
      EXPECT_EQ(filch::is_sorted<TypeParam>(v.begin(), v.end()), std::is_sorted(v.begin(), v.end()));
      EXPECT_EQ(filch::is_sorted_until<TypeParam>(v), std::is_sorted_until(v.begin(), v.end()));
    }
  });
}

TYPED_TEST(searches, find_parts) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto const v = numbers(n, 0, 2);
    for (std::size_t m : {std::size_t{0}, std::size_t{1}, std::size_t{4}, n / 2, n, n + 1}) {
      auto w = numbers(m, 0, 2);
      if (m == n / 2) w.assign(v.begin() + static_cast<std::ptrdiff_t>(n - m), v.end());
      EXPECT_EQ(filch::search<TypeParam>(v.begin(), v.end(), w.begin(), w.end()),
                std::search(v.begin(), v.end(), w.begin(), w.end()));
      EXPECT_EQ(filch::find_end<TypeParam>(v.begin(), v.end(), w.begin(), w.end()),
                std::find_end(v.begin(), v.end(), w.begin(), w.end()));
      if constexpr (filch::detail::has_subranges) {
        auto const part = filch::search<TypeParam>(v, w);
        EXPECT_EQ(part.begin(), std::search(v.begin(), v.end(), w.begin(), w.end()));
        EXPECT_EQ(part.size(), part.begin() == v.end() ? 0 : m);
      }
    }
  });
}

TYPED_TEST(searches, end_within_a_stretch_after_a_hit) {
  constexpr std::size_t k_length = 1'000'000;
  std::vector<char> v(k_length);
  v[k_length / 2] = 1;
  typename TypeParam::pool pool({.workers = 1});
  std::size_t calls = 0;
  pool.run([&] {
    EXPECT_EQ(filch::find_if<TypeParam>(v,
                                        [&](char c) {
                                          ++calls;
                                          return c != 0;
                                        }) -
                  v.begin(),
              k_length / 2);
  });
  EXPECT_EQ(calls, k_length / 2 + 1);
}

}  // namespace
}  // namespace filch_test
