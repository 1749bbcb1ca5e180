// Vectors, in registers where the processor has them, around, inside and across joins.
#include "scale.hpp"
#include "stealing.hpp"

#include <cstring>

namespace filch_test {
namespace {

/// A vector in a class, for templates drop the attributes of a bare one.
template <class T, std::size_t Bytes, std::size_t Alignment = Bytes> struct vector_of {
  typedef T lanes __attribute__((vector_size(Bytes), aligned(Alignment)));
  lanes v;

  static vector_of all(T x) { return {lanes{} + x}; }
  friend vector_of operator+(vector_of const& a, vector_of const& b) { return {a.v + b.v}; }
  friend vector_of operator-(vector_of const& a, vector_of const& b) { return {a.v - b.v}; }
  friend vector_of operator*(vector_of const& a, vector_of const& b) { return {a.v * b.v}; }
  friend bool operator==(vector_of const& a, vector_of const& b) { return std::memcmp(&a.v, &b.v, Bytes) == 0; }
};

struct in_order {
  template <class F, class G> auto operator()(F&& f, G&& g) const {
    auto a = f();
    return std::pair(a, g());
  }
};

/// Small whole numbers, so that every order of operations gives the same.
template <class V, class Join> [[gnu::noinline]] V turn(Join join, int depth, V const& x, V const& y) {
  if (depth == 0) return x - y;
  V const product = x * y;
  V const difference = x - y;
  alignas(128) V room[3] = {x, product, difference};
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&room) % 128, 0u);
  V const one = V::all(1);
  auto const [a, b] = join([x, y, one, join, depth] { return turn(join, depth - 1, x + one, y); },
                           [x, y, &room, join, depth] { return turn(join, depth - 1, x, y + room[0] - x); });
  auto const [c, d] = join([x, product] { return product - x; }, [y, difference] { return y + difference; });
  EXPECT_TRUE(room[0] == x);
  EXPECT_TRUE(room[1] == x * y);
  EXPECT_TRUE(room[2] == difference);
  return a - b + c - d + one;
}

/// Calls body.operator()<V>() for each kind of vector.
template <class Body> void for_each_kind(Body body) {
  body.template operator()<vector_of<float, 8>>();
  body.template operator()<vector_of<int, 16>>();
  body.template operator()<vector_of<double, 16>>();
  body.template operator()<vector_of<double, 32>>();
  body.template operator()<vector_of<long, 32>>();
  body.template operator()<vector_of<double, 32, 8>>();
  body.template operator()<vector_of<float, 64>>();
  body.template operator()<vector_of<long, 64, 8>>();
}

template <class S> class vectors : public ::testing::Test {};
TYPED_TEST_SUITE(vectors, moving_schedulers, scheduler_names);

TYPED_TEST(vectors, live_through_joins) {
  using S = TypeParam;
  for_each_kind([]<class V>() {
    SCOPED_TRACE(__PRETTY_FUNCTION__);
    constexpr int k_depth = 7;
    V const x = V::all(3);
    V const y = V::all(2);
    V const expected = turn(in_order{}, k_depth, x, y);
    typename S::pool pool({.workers = 4});
    std::size_t rounds = 0;
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(pool.run([&] { return turn(plain_join<S>{}, k_depth, x, y); }) == expected);
      return ++rounds >= scaled(100) && pool.stats().steals >= scaled(50);
    })) << pool.stats().steals
        << " steals";
  });
}

TYPED_TEST(vectors, live_through_joins_that_are_known_to_be_stolen) {
  using S = TypeParam;
  for_each_kind([]<class V>() {
    SCOPED_TRACE(__PRETTY_FUNCTION__);
    V const x = V::all(3);
    V const y = V::all(2);
    V const expected = turn(in_order{}, 2, x, y);
    typename S::pool pool({.workers = 4});  // both halves of a join wait for thieves of their own
    EXPECT_TRUE(pool.run([&] { return turn(stolen_join<S>{}, 2, x, y); }) == expected);
    EXPECT_GE(pool.stats().steals, 6u);
  });
}

}  // namespace
}  // namespace filch_test
