// Sorts: the order of std's, on inputs that are made to break them.
#include "inputs_of_sorts.hpp"

#include <filch/integer_sort.hpp>
#include <filch/sort.hpp>
#include <filch/zip.hpp>

#include <memory>
#include <utility>

namespace filch_test {
namespace {

template <class S> class sorts : public ::testing::Test {};
TYPED_TEST_SUITE(sorts, algorithm_schedulers, scheduler_names);

TYPED_TEST(sorts, sort_every_pattern) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [](std::vector<int> const& v) {
      auto sorted = v;
      std::sort(sorted.begin(), sorted.end());
      auto own = v;
      EXPECT_EQ(filch::sort<TypeParam>(own.begin(), own.end()), own.end());
      EXPECT_EQ(own, sorted);
      if (v.size() > 1'000) return;
      std::vector<std::string> words, words_sorted;
      for (int x : v) words.push_back(std::to_string(x) + " is a number in a long string");
      words_sorted = words;
      std::sort(words_sorted.begin(), words_sorted.end(), std::greater<>());
      filch::sort<TypeParam>(words, std::greater<>());
      EXPECT_EQ(words, words_sorted);
    });
  });
}

/// Numbers in the order of their keys, equal ones in the order of their tags.
bool is_stable(std::vector<record> const& v) {
  return std::is_sorted(v.begin(), v.end(), [](record const& x, record const& y) {
    return x.key < y.key || (x.key == y.key && *x.tag < *y.tag);
  });
}
TYPED_TEST(sorts, keep_the_order_of_equal_records_that_can_be_moved_only) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [n](std::vector<int> const& v) {
      auto const records = [&] {
        std::vector<record> all;
        for (int x : v) all.emplace_back(x / 4, static_cast<int>(all.size()));
        return all;
      };
      auto own = records();
      filch::stable_sort<TypeParam>(own, {}, &record::key);
      EXPECT_TRUE(is_stable(own));
      own = records();
      filch::integer_sort<TypeParam>(own.begin(), own.end(), &record::key);
      EXPECT_TRUE(is_stable(own));
      own = records();
      filch::sort<TypeParam>(own, std::greater<>(), &record::key);
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), [](auto& x, auto& y) { return x.key > y.key; }));
      EXPECT_TRUE(std::all_of(own.begin(), own.end(), [](auto& x) { return x.tag != nullptr; }));
      EXPECT_EQ(own.size(), n);
    });
  });
}

/// The zeros equal each other, and can be told apart.
TYPED_TEST(sorts, keep_the_order_of_zeros_of_both_signs) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<double> v;
    for (int x : numbers(n, -3, 3)) v.push_back(x == 1 ? -0.0 : x);
    auto const is_in_order = [&v](auto const& less) {
      auto own = v;
      filch::stable_sort<TypeParam>(own, less);
      std::vector<std::pair<double, std::size_t>> expected;
      for (double x : v) expected.emplace_back(x, expected.size());
      std::sort(expected.begin(), expected.end(), [&less](auto const& x, auto const& y) {
        return less(x.first, y.first) || (!less(y.first, x.first) && x.second < y.second);
      });
      return std::equal(own.begin(), own.end(), expected.begin(), [](double x, auto const& y) {
        return x == y.first && std::signbit(x) == std::signbit(y.first);
      });
    };
    EXPECT_TRUE(is_in_order(std::less<>()));
    EXPECT_TRUE(is_in_order(std::greater<double>()));
  });
}

/// So long that insertion sorts parts of them.
TYPED_TEST(sorts, sort_long_inputs_whose_elements_are_near_their_places) {
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t n : {4'096u, 4'097u, 50'000u}) {
    SCOPED_TRACE(n);
    // Where the halves meet: in order; overlapping; one element far from its place; all.
    for (std::size_t overlap : {std::size_t{0}, std::size_t{40}, std::size_t{1}, n / 4}) {
      SCOPED_TRACE(overlap);
      std::vector<std::pair<int, int>> v;
      for (std::size_t i = 0; i < n; ++i) {
        std::size_t const key = i < n / 2 || (overlap == 1 && i != n / 2) ? i ^ 7 : (i ^ 7) - overlap;
        v.emplace_back(static_cast<int>(key / 2), static_cast<int>(i));
      }
      if (overlap == 1) v[n / 2].first = 0;
      auto const by_key = [](auto const& x, auto const& y) { return x.first < y.first; };
      auto sorted = v;
      std::sort(sorted.begin(), sorted.end());  // equal keys by their positions
      auto own = v;
      pool.run([&] { filch::stable_sort<TypeParam>(own, by_key); });
      EXPECT_TRUE(own == sorted);
      own = v;
      pool.run([&] { filch::sort<TypeParam>(own); });
      EXPECT_TRUE(own == sorted);
    }
  }
}

/// A number that counts its moves.
struct counted_move {
  static inline std::atomic<std::size_t> moves{0};
  std::size_t x;
  explicit counted_move(std::size_t value) : x(value) {}
  counted_move(counted_move&& other) noexcept : x(other.x) { ++moves; }
  counted_move& operator=(counted_move&& other) noexcept {
    x = other.x;
    ++moves;
    return *this;
  }
  ~counted_move() {}
};
TYPED_TEST(sorts, move_elements_a_few_times_where_long_parts_are_in_order) {
  constexpr std::size_t k_n = 10'000;
  typename TypeParam::pool pool({.workers = 2});
  auto const moves_of = [&](auto const& key) {
    std::vector<counted_move> v;
    v.reserve(k_n);
    for (std::size_t i = 0; i < k_n; ++i) v.emplace_back(key(i));
    counted_move::moves = 0;
    pool.run([&] { filch::stable_sort<TypeParam>(v, {}, &counted_move::x); });
    std::size_t const moves = counted_move::moves;
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [](auto& x, auto& y) { return x.x < y.x; }));
    return moves;
  };
  EXPECT_LE(moves_of([](std::size_t i) { return i; }), k_n / 10);
  // To the buffer, and back.
  EXPECT_LE(moves_of([](std::size_t i) { return (i + k_n / 2) % k_n; }), 3 * k_n) << "halves exchanged";
  EXPECT_LE(moves_of([](std::size_t i) { return i % (k_n / 2); }), 3 * k_n) << "two halves";
}

/// A number that is not assigned to if it is 0.
struct refuses_zero {
  int x;
  refuses_zero(int value) : x(value) {}
  refuses_zero(refuses_zero const&) = default;
  refuses_zero& operator=(refuses_zero const& other) {
    if (other.x == 0) throw other.x;
    x = other.x;
    return *this;
  }
  ~refuses_zero() {}
};
TEST(sorts_of_throwing_moves, let_the_exception_of_the_last_one_out) {
  std::vector<refuses_zero> v;
  for (int i = 1; i < 1'000; ++i) v.emplace_back(i);
  v.emplace_back(0);  // it goes below all others, when these have moved
  EXPECT_THROW(filch::sort<filch::serial>(v, {}, &refuses_zero::x), int);
  for (int i = 1; i < 1'000; ++i) {
    EXPECT_EQ(std::count_if(v.begin(), v.end(), [i](auto& each) { return each.x == i; }), i == 1 ? 2 : 1);
  }
}

/// A number of which one move throws. A swap is safe.
struct throws_once {
  static inline int moves_left = 0;
  int x;
  throws_once(int value) : x(value) {}
  throws_once(throws_once&& other) : x(taken_from(other)) {}
  throws_once& operator=(throws_once&& other) {
    x = taken_from(other);
    return *this;
  }
  ~throws_once() { x = -2; }
  static int taken_from(throws_once& other) {
    if (--moves_left == 0) throw other.x;
    return std::exchange(other.x, -1);
  }
  friend void swap(throws_once& a, throws_once& b) noexcept { std::swap(a.x, b.x); }
};
TEST(sorts_of_throwing_moves, lose_nothing) {
  for (int const n : {12, 600}) {  // sorted by insertion, and with a part that is in order
    bool threw = true;
    for (int throw_at = 1; threw; ++throw_at) {
      std::vector<throws_once> v;
      v.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) v.emplace_back(i % 30 == 7 ? n - 1 - i : i);
      auto const number_of = [&v](int x) {
        return std::count_if(v.begin(), v.end(), [x](auto& each) { return each.x == x; });
      };
      std::vector<std::ptrdiff_t> before;
      for (int i = 0; i < n; ++i) before.push_back(number_of(i));
      throws_once::moves_left = throw_at;
      threw = false;
      try {
        filch::sort<filch::serial>(v, {}, &throws_once::x);
      } catch (int) {
        threw = true;
      }
      throws_once::moves_left = 0;
      for (int i = 0; i < n; ++i) ASSERT_EQ(number_of(i), before[static_cast<std::size_t>(i)]) << i << throw_at;
    }
  }
}

TYPED_TEST(sorts, sort_two_ranges_by_the_first) {
  in_every_pool<TypeParam>([](std::size_t n) {
    auto keys = numbers(n, 0, 1 << 30);
    std::vector<long> values(keys.begin(), keys.end());
    auto const zipped = filch::zip(keys, values);
    filch::sort<TypeParam>(zipped.begin(), zipped.end(), {}, [](auto&& x) { return std::get<0>(x); });
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    EXPECT_TRUE(std::equal(keys.begin(), keys.end(), values.begin()));
  });
}

template <class Key> void expect_sorted_keys(std::vector<Key> v) {
  auto sorted = v;
  std::sort(sorted.begin(), sorted.end());
  filch::integer_sort<filch::serial>(v);
  EXPECT_EQ(v, sorted);
}
TEST(integer_sorts, take_integers_of_every_size_and_sign) {
  std::mt19937_64 random(5);
  for (std::size_t n : {3u, 1023u, 5'000u, 200'000u}) {
    for (unsigned width : {1u, 8u, 9u, 17u, 40u, 64u}) {
      auto const v = [&]<class Key>(Key) {
        std::vector<Key> all(n);
        for (Key& x : all) x = static_cast<Key>(random() >> (64 - width));
        return all;
      };
      expect_sorted_keys(v(std::int8_t{}));
      expect_sorted_keys(v(int{}));
      expect_sorted_keys(v(std::uint64_t{}));
    }
  }
  std::vector<int> one_part(300'000);  // all in one part, which is larger than a cache
  for (int& x : one_part) x = static_cast<int>(random() % 100'000);
  one_part[0] = 1 << 30;
  expect_sorted_keys(one_part);
}

TYPED_TEST(sorts, end_when_a_key_changes) {
  std::vector<int> v(5'000);
  std::atomic<unsigned> state{1};
  auto const key = [&](int) { return static_cast<int>(state.fetch_add(0x9e3779b9, std::memory_order_relaxed) >> 9); };
  EXPECT_THROW(filch::integer_sort<TypeParam>(v, key), std::invalid_argument);
}

TYPED_TEST(sorts, select_and_sort_in_part) {
  in_every_pool<TypeParam>([](std::size_t n) {
    for_patterns(n, [n](std::vector<int> const& v) {
      auto sorted = v;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t const k : {std::size_t{0}, n / 3, n - std::min<std::size_t>(n, 1), n}) {
        auto const at = static_cast<std::ptrdiff_t>(k);
        auto own = v;
        filch::nth_element<TypeParam>(own.begin(), own.begin() + at, own.end());
        if (k < n) {
          EXPECT_EQ(own[k], sorted[k]);
          EXPECT_TRUE(std::all_of(own.begin(), own.begin() + at, [&](int x) { return x <= own[k]; }));
          EXPECT_TRUE(std::all_of(own.begin() + at, own.end(), [&](int x) { return x >= own[k]; }));
        }
        own = v;
        filch::partial_sort<TypeParam>(own, own.begin() + at);
        EXPECT_TRUE(std::equal(own.begin(), own.begin() + at, sorted.begin()));
        std::sort(own.begin(), own.end());
        EXPECT_EQ(own, sorted);
        std::vector<int> least(k, -1);
        auto const ends = filch::partial_sort_copy<TypeParam>(v, least);
        EXPECT_TRUE(ends.in == v.end() && ends.out == least.end());
        EXPECT_TRUE(std::equal(least.begin(), least.end(), sorted.begin()));
      }
    });
  });
}

}  // namespace
}  // namespace filch_test
