// Results in every class of registers, with most joins stolen.
#include "scale.hpp"
#include "stealing.hpp"

#include <complex>
#include <cstring>
#include <memory>
#include <vector>

namespace filch_test {
namespace {

using S = filch::implicit;

/// What in() makes of a value whose parts don't agree.
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

/// Two parts: the register of each is decided by its type alone.
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

/// A vector in a class, for templates drop the attributes of a bare one.
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
  auto&& [a, b] = stolen_join<S>{}([=]() -> R { return all_stolen<K>(depth - 1, 2 * seed); },
                                   [=]() -> R { return forked<K>(depth - 1, 2 * seed + 1); });
  return node<K>(K::in(a), K::in(b));
}

using kinds = ::testing::Types<number<bool>, number<signed char>, number<unsigned short>, number<int>,
                               number<unsigned long>, number<float>, number<double>, number<long double>,
                               number<wide_integer>, complex_number<complex_float>, complex_number<complex_double>,
                               complex_number<complex_long_double>, two<char, char>, two<int, float>,
                               two<float, float>, two<long, long>, two<int, double>, two<double, int>,
                               two<double, double>, two<long, long double>, packed, vector<float, 8>, vector<int, 16>,
                               vector<double, 16>, vector<double, 32>, vector<float, 64>, reference, move_only>;

template <class K> class results : public ::testing::Test {};
TYPED_TEST_SUITE(results, kinds);

TYPED_TEST(results, of_a_tree_are_those_of_the_program_in_order) {
  constexpr int k_depth = 9;
  S::pool pool({.workers = 4});
  long const expected = TypeParam::in(in_order<TypeParam>(k_depth, 1));
  ASSERT_NE(expected, k_torn);
  std::size_t rounds = 0;
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(pool.run([] { return TypeParam::in(forked<TypeParam>(k_depth, 1)); }), expected);
    return ++rounds >= scaled(100) && pool.stats().steals >= scaled(50);
  })) << pool.stats().steals
      << " steals";
}

TYPED_TEST(results, arrive_from_both_sides_of_joins_that_are_known_to_be_stolen) {
  constexpr int k_depth = 5;
  S::pool pool({.workers = 2});
  long const expected = TypeParam::in(in_order<TypeParam>(k_depth, 1));
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(pool.run([] { return TypeParam::in(all_stolen<TypeParam>(k_depth, 1)); }), expected);
  }
  EXPECT_GE(pool.stats().steals, 25u);
}

TYPED_TEST(results, come_back_to_a_caller_outside_all_pools) {
  EXPECT_EQ(TypeParam::in(forked<TypeParam>(4, 1)), TypeParam::in(in_order<TypeParam>(4, 1)));
}

}  // namespace
}  // namespace filch_test
