// Sorts whose parts are Highway's.
#include "inputs_of_sorts.hpp"
#include "seeds.hpp"

#include <filch/sort.hpp>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

namespace filch_test {
namespace {

template <class S> class highway : public ::testing::Test {};
TYPED_TEST_SUITE(highway, algorithm_schedulers, scheduler_names);

template <class Key, class Comp>
inline constexpr bool is_used = filch::detail::has_vector_sort<Key*, filch::detail::order<Key*, Comp, std::identity>>;
static_assert(is_used<double, std::ranges::less> && is_used<std::int16_t, std::greater<>> &&
              is_used<std::uint64_t, std::less<std::uint64_t> const>);
static_assert(!is_used<char, std::ranges::less> && !is_used<int, bool (*)(int, int)>);

template <class S, class Key> void expect_sorted_both_ways(std::vector<int> const& v) {
  std::vector<Key> own(v.begin(), v.end());
  auto sorted = own;
  std::sort(sorted.begin(), sorted.end());
  filch::sort<S>(own);
  EXPECT_EQ(own, sorted);
  std::reverse(sorted.begin(), sorted.end());
  own.assign(v.begin(), v.end());
  filch::sort<S>(own.begin(), own.end(), std::greater<>());
  EXPECT_EQ(own, sorted);
}

TYPED_TEST(highway, sorts_numbers_of_every_type) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [](std::vector<int> const& v) {
      expect_sorted_both_ways<TypeParam, double>(v);
      expect_sorted_both_ways<TypeParam, std::uint16_t>(v);
    });
  });
  typename TypeParam::pool pool({.workers = 3});
  pool.run([] {
    auto const v = numbers(300'000, -100'000, 100'000);
    expect_sorted_both_ways<TypeParam, float>(v);
    expect_sorted_both_ways<TypeParam, std::int16_t>(v);
    expect_sorted_both_ways<TypeParam, std::int32_t>(v);
    expect_sorted_both_ways<TypeParam, std::uint32_t>(v);
    expect_sorted_both_ways<TypeParam, std::int64_t>(v);
    expect_sorted_both_ways<TypeParam, std::uint64_t>(v);
  });
}

/// Requests a stop once it was asked so often.
struct impatient_token {
  int* asked;
  int stops_at;
  bool stop_requested() const noexcept { return ++*asked >= stops_at; }
  bool stop_possible() const noexcept { return true; }
};
TEST(highway_sorts, of_a_long_range_end_when_a_stop_is_requested) {
  using S = filch::default_scheduler;
  typename S::pool pool({.workers = 1});
  std::size_t const n = 3'000'000;
  auto const v = numbers(n, -1'000'000'000, 1'000'000'000);
  auto sorted = v;
  std::sort(sorted.begin(), sorted.end());
  for (bool stops : {false, true}) {
    auto own = v;
    int asked = 0;
    pool.run([&] {
      EXPECT_EQ(filch::sort<S>(impatient_token{std::addressof(asked), stops ? 30 : 1'000'000}, own), !stops) << asked;
    });
    if (stops) std::sort(own.begin(), own.end());
    EXPECT_EQ(own, sorted);
  }
}

/// A pool whose workers are busy: none waits. It counts joins.
struct busy : filch::serial {
  static inline int joins = 0;
  static inline bool is_alone = false;
  static bool works_alone() noexcept { return is_alone; }
  template <class Fn, class Gn> static auto join(Fn&& f, Gn&& g) {
    ++joins;
    return filch::serial::join(std::forward<Fn>(f), std::forward<Gn>(g));
  }
};
TEST(highway_sorts, of_a_long_range_can_be_shared_later) {
  if (!filch::detail::can_partition_vectors()) GTEST_SKIP() << "no AVX2";
  for (bool is_alone : {false, true}) {
    auto v = numbers(3'000'000, -1'000'000'000, 1'000'000'000);
    busy::is_alone = is_alone;
    busy::joins = 0;
    filch::sort<busy>(v);
    EXPECT_EQ(busy::joins == 0, is_alone);
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  }
}
TYPED_TEST(highway, sorts_know_of_other_workers) {
  if constexpr (requires { TypeParam::works_alone(); }) {
    for (unsigned workers : {1u, 2u}) {
      typename TypeParam::pool pool({.workers = workers});
      pool.run([&] {
        EXPECT_EQ(TypeParam::works_alone(), workers == 1);
        filch::stay([] { EXPECT_TRUE(TypeParam::works_alone()); });
      });
    }
  }
}

/// NaN has no order. No element is lost.
TYPED_TEST(highway, sorts_keep_to_their_range_if_there_is_nan) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t n : {300u, 5'000u, 100'000u}) {
    auto const v = numbers(n + 2);
    std::vector<double> own(v.begin(), v.end());
    for (std::size_t i = 1; i <= n; i += 7) own[i] = std::nan("");
    double const below = own.front(), above = own.back();
    auto const count_and_sum = [](std::vector<double> const& all) {
      std::pair<int, double> found{};
      for (double x : all) std::isnan(x) ? static_cast<void>(++found.first) : static_cast<void>(found.second += x);
      return found;
    };
    auto const before = count_and_sum(own);
    pool.run([&] { filch::sort<TypeParam>(own.begin() + 1, own.end() - 1); });
    EXPECT_EQ(count_and_sum(own), before);
    EXPECT_EQ(own.front(), below);
    EXPECT_EQ(own.back(), above);
  }
}

/// Partitions v but for its first and last number and those of [hole, hole_end), which have to stay.
template <class S, class Type, bool Descending, bool OrEqual>
void expect_partitioned(std::vector<Type> v, Type pivot, std::size_t hole, std::size_t hole_end, bool splits_all) {
  using stretches = filch::detail::two_stretches<Type>;
  using partition = filch::detail::partition_of_numbers<S, filch::detail::never_stopped, Type, Descending, OrEqual>;
  auto const is_before = [&](Type x) {
    if (OrEqual) return Descending ? !(pivot > x) : !(pivot < x);
    return Descending ? x > pivot : x < pivot;
  };
  auto const is_nan = [](Type x) { return x != x; };
  std::vector<Type> own(v);
  Type* const begin = own.data();
  stretches const all{begin + 1, begin + hole, begin + hole_end, begin + own.size() - 1};
  filch::detail::never_stopped stop;
  auto const r = partition(stop, pivot, splits_all).partition(all);
  // Outside and in the hole nothing has changed.
  EXPECT_EQ(std::memcmp(&own[hole], &v[hole], (hole_end - hole) * sizeof(Type)), 0);
  EXPECT_EQ(std::memcmp(&own[0], &v[0], sizeof(Type)), 0);
  EXPECT_EQ(std::memcmp(&own.back(), &v.back(), sizeof(Type)), 0);
  auto const without_hole = [&](std::vector<Type> of) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(hole), of.begin() + static_cast<std::ptrdiff_t>(hole_end));
    of.erase(of.begin());
    of.pop_back();
    return of;
  };
  auto const after = without_hole(own);
  auto const before = without_hole(v);
  EXPECT_EQ(r.before, static_cast<std::size_t>(std::count_if(before.begin(), before.end(), is_before)));
  auto const middle = after.begin() + static_cast<std::ptrdiff_t>(r.before);
  EXPECT_TRUE(std::all_of(after.begin(), middle, is_before));
  EXPECT_TRUE(std::none_of(middle, after.end(), is_before));
  EXPECT_EQ(r.has_nan, std::any_of(before.begin(), before.end(), is_nan));
  auto const sorted_bytes = [](std::vector<Type> const& of) {
    std::vector<std::uint64_t> bits(of.size());
    for (std::size_t i = 0; i != of.size(); ++i) std::memcpy(&bits[i], &of[i], sizeof(Type));
    std::sort(bits.begin(), bits.end());
    return bits;
  };
  EXPECT_EQ(sorted_bytes(after), sorted_bytes(before)) << "a number was lost";
}

template <class S, class Type> void expect_partitions(std::size_t n, std::mt19937_64& random) {
  auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  bool const has_few = below(2) == 0;
  std::vector<Type> v(n + 2);
  for (Type& x : v) x = has_few ? static_cast<Type>(below(4)) : static_cast<Type>(random());
  Type const pivot = v[below(v.size())];
  if constexpr (std::is_floating_point_v<Type>) {
    if (below(2) == 0) v[below(v.size())] = std::numeric_limits<Type>::quiet_NaN();
  }
  std::size_t const hole = below(3) == 0 ? 1 + n / 2 : 1 + below(n + 1);
  std::size_t const hole_end = below(2) == 0 ? hole : hole + below(n + 2 - hole);
  bool const splits_all = n < 3000 && below(2) == 0;
  expect_partitioned<S, Type, false, false>(v, pivot, hole, hole_end, splits_all);
  expect_partitioned<S, Type, false, true>(v, pivot, hole, hole_end, splits_all);
  expect_partitioned<S, Type, true, false>(v, pivot, hole, hole_end, splits_all);
  expect_partitioned<S, Type, true, true>(v, pivot, hole, hole_end, splits_all);
}

template <class S> void expect_partitions_of_every_type(std::size_t n, std::mt19937_64& random) {
  if constexpr (filch::detail::has_vector_partition<double>) {
    expect_partitions<S, double>(n, random);
    expect_partitions<S, float>(n, random);
    expect_partitions<S, std::int32_t>(n, random);
    expect_partitions<S, std::uint32_t>(n, random);
    expect_partitions<S, std::int64_t>(n, random);
    expect_partitions<S, std::uint64_t>(n, random);
  }
}

TYPED_TEST(highway, numbers_are_partitioned_with_a_hole_or_without) {
  if (!filch::detail::can_partition_vectors()) GTEST_SKIP() << "no AVX2";
  typename TypeParam::pool pool({.workers = 3});
  std::uint64_t const seed = number_from("FILCH_TEST_SEED", std::random_device{}());
  SCOPED_TRACE(testing::Message() << "FILCH_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  auto const try_lengths = [&] {
    for (std::size_t n : {0u, 1u, 2u, 3u, 15u, 31u, 63u, 64u, 65u, 127u, 128u, 129u, 130u, 200u, 1000u, 40'000u}) {
      for (std::size_t i = 0; i != (n < 10'000 ? scaled(20) : 2); ++i) {
        expect_partitions_of_every_type<TypeParam>(n, random);
        if (::testing::Test::HasFailure()) return;
      }
    }
  };
  pool.run(try_lengths);
}

}  // namespace
}  // namespace filch_test
