// Results of each class of registers return unchanged, also from stolen joins.
#include "scale.hpp"
#include "stealing.hpp"

#include <complex>
#include <cstring>
#include <memory>
#include <vector>

namespace filch_test {
namespace {

using S = filch::implicit;

/// in() returns this for a value whose parts do not match.
constexpr long k_torn = -1'000'000'000;

__extension__ using wide_integer = __int128;
__extension__ using complex_float = __complex__ float;
__extension__ using complex_double = __complex__ double;
__extension__ using complex_long_double = __complex__ long double;

template <class T> struct number {
  using type = T;
  static type of(long n) { return static_cast<T>(n); }
  static long in(type x) { return static_cast<long>(x); }
};

template <class T> struct complex_number {
  using type = T;
  using part = std::remove_reference_t<decltype(__real__ std::declval<T&>())>;
  static type of(long n) {
    T x{};
    __real__ x = static_cast<part>(n);
    __imag__ x = static_cast<part>(-n);
    return x;
  }
  static long in(type x) { return __real__ x == -__imag__ x ? static_cast<long>(__real__ x) : k_torn; }
};

/// Two parts. The type of each one alone decides its register.
template <class A, class B> struct two {
  struct type {
    A a;
    B b;
  };
  static type of(long n) { return {static_cast<A>(n), static_cast<B>(n + 1)}; }
  static long in(type const& x) {
    auto const n = static_cast<long>(x.a);
    return x.b == static_cast<B>(n + 1) ? n : k_torn;
  }
};

struct packed {
  struct [[gnu::packed]] type {
    char tag;
    long value;
  };
  static type of(long n) { return {'p', n}; }
  static long in(type const& x) { return x.tag == 'p' ? x.value : k_torn; }
};

/// A vector in a class: templates drop the attributes of a bare vector type.
template <class T, std::size_t Bytes> struct vector {
  static constexpr std::size_t k_parts = Bytes / sizeof(T);
  struct type {
    T v __attribute__((vector_size(Bytes)));
  };
  static type of(long n) {
    type x;
    for (std::size_t i = 0; i < k_parts; ++i) x.v[i] = static_cast<T>(n + static_cast<long>(i));
    return x;
  }
  static long in(type const& x) {
    auto const n = static_cast<long>(x.v[0]);
    for (std::size_t i = 0; i < k_parts; ++i) {
      if (x.v[i] != static_cast<T>(n + static_cast<long>(i))) return k_torn;
    }
    return n;
  }
};

struct reference {
  using type = long&;
  static type of(long n) {
    static std::vector<long> cells = [] {
      std::vector<long> all(1 << 20);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<long>(i);
      return all;
    }();
    return cells[static_cast<std::size_t>(n)];
  }
  static long in(type x) { return &x == &of(x) ? x : k_torn; }
};

struct move_only {
  using type = std::unique_ptr<long>;
  static type of(long n) { return std::make_unique<long>(n); }
  static long in(type const& x) { return x ? *x : k_torn; }
};

template <class K> typename K::type node(long a, long b) { return K::of(a == k_torn || b == k_torn ? 0 : a + b + 1); }

template <class K> typename K::type in_order(int depth, unsigned seed) {
  if (depth == 0) return K::of(seed % 100);
  return node<K>(K::in(in_order<K>(depth - 1, 2 * seed)), K::in(in_order<K>(depth - 1, 2 * seed + 1)));
}

template <class K> typename K::type forked(int depth, unsigned seed) {
  using R = typename K::type;
  if (depth == 0) return K::of(seed % 100);
  auto&& [a, b] = filch::join<S>([=]() -> R { return forked<K>(depth - 1, 2 * seed); },
                                 [=]() -> R { return forked<K>(depth - 1, 2 * seed + 1); });
  return node<K>(K::in(a), K::in(b));
}

template <class K> typename K::type all_stolen(int depth, unsigned seed) {
  using R = typename K::type;
  if (depth == 0) return K::of(seed % 100);
  auto [a, b] = stolen_join<S>{}([=]() -> R { return all_stolen<K>(depth - 1, 2 * seed); },
                                 [=]() -> R { return forked<K>(depth - 1, 2 * seed + 1); });
  return node<K>(K::in(a), K::in(b));
}

/// The functions that the tests need for each kind of results. Few, since each kind compiles them all.
struct kind {
  char const* name;
  long (*in_order_of)(int depth);
  long (*forked_of)(int depth);
  long (*all_stolen_of)(int depth);
};
template <class K> constexpr kind a_kind(char const* name) {
  return {name, [](int depth) { return K::in(in_order<K>(depth, 1)); },
          [](int depth) { return K::in(forked<K>(depth, 1)); },
          [](int depth) { return K::in(all_stolen<K>(depth, 1)); }};
}

constexpr kind k_kinds[] = {a_kind<number<bool>>("bool"),
                            a_kind<number<signed char>>("signed_char"),
                            a_kind<number<unsigned short>>("unsigned_short"),
                            a_kind<number<int>>("int"),
                            a_kind<number<unsigned long>>("unsigned_long"),
                            a_kind<number<float>>("float"),
                            a_kind<number<double>>("double"),
                            a_kind<number<long double>>("long_double"),
                            a_kind<number<wide_integer>>("wide_integer"),
                            a_kind<complex_number<complex_float>>("complex_float"),
                            a_kind<complex_number<complex_double>>("complex_double"),
                            a_kind<complex_number<complex_long_double>>("complex_long_double"),
                            a_kind<two<char, char>>("two_chars"),
                            a_kind<two<int, float>>("int_and_float"),
                            a_kind<two<float, float>>("two_floats"),
                            a_kind<two<long, long>>("two_longs"),
                            a_kind<two<int, double>>("int_and_double"),
                            a_kind<two<double, int>>("double_and_int"),
                            a_kind<two<double, double>>("two_doubles"),
                            a_kind<two<long, long double>>("long_and_long_double"),
                            a_kind<packed>("packed"),
                            a_kind<vector<float, 8>>("vector_of_8"),
                            a_kind<vector<int, 16>>("vector_of_16"),
                            a_kind<vector<double, 16>>("vector_of_doubles"),
                            a_kind<vector<double, 32>>("vector_of_32"),
                            a_kind<vector<float, 64>>("vector_of_64"),
                            a_kind<reference>("reference"),
                            a_kind<move_only>("move_only")};

class results : public ::testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(of, results, ::testing::ValuesIn(k_kinds),
                         [](auto const& test) { return std::string(test.param.name); });

TEST_P(results, of_a_tree_are_those_of_the_program_in_order) {
  constexpr int k_depth = 9;
  S::pool pool({.workers = 4});
  long const expected = GetParam().in_order_of(k_depth);
  ASSERT_NE(expected, k_torn);
  std::size_t rounds = 0;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(pool.run([] { return GetParam().forked_of(k_depth); }), expected);
    return ++rounds >= scaled(100) && pool.stats().steals >= scaled(50);
  })) << pool.stats().steals
      << " steals";
}

TEST_P(results, arrive_from_both_sides_of_joins_that_are_known_to_be_stolen) {
  constexpr int k_depth = 5;
  S::pool pool({.workers = 2});
  long const expected = GetParam().in_order_of(k_depth);
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(pool.run([] { return GetParam().all_stolen_of(k_depth); }), expected);
  }
  EXPECT_GE(pool.stats().steals, 25u);
}

TEST_P(results, come_back_to_a_caller_outside_all_pools) {
  EXPECT_EQ(GetParam().forked_of(4), GetParam().in_order_of(4));
}

}  // namespace
}  // namespace filch_test
