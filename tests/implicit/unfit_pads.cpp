// Landing pads that call a function are not run. The closure of a g that does nothing is needed on the landing pad
// only, so compilers call a pure function that returns it there. The call would overwrite the child's frame.
// CMakeLists.txt checks that the call is in GCC's program; tools/matrix does not inspect this program.
#include "scale.hpp"

#include <gtest/gtest.h>
#include <filch/filch.hpp>

#include <array>
#include <stdexcept>

namespace filch_test {
namespace {

using S = filch::implicit;

/// An offer holds the bytes of the small one and the address of the large one.
struct small_idle {
  long unused;
  void operator()() const {}
};
struct large_idle {
  std::array<long, 3> unused;
  ~large_idle() {}  // not trivial
  void operator()() const {}
};
template <class Idle> using idles = std::array<Idle, 7>;

/// A pure function that uses the stack.
template <class Idle> [[gnu::noinline]] Idle const& chosen(idles<Idle> const& all, long n) {
  constexpr long k_places = 64;
  std::array<long, k_places> places;
  for (long i = 0; i < k_places; ++i) places[static_cast<std::size_t>(i)] = i * n;
  return all[static_cast<std::size_t>(places[static_cast<std::size_t>((n * 5) & (k_places - 1))]) % all.size()];
}

long leaves(int depth) {
  if (depth == 0) return 1;
  auto const [a, b] = filch::join<S>([depth] { return leaves(depth - 1); }, [depth] { return leaves(depth - 1); });
  return a + b;
}

/// 2^depth leaves, below joins of both kinds.
template <class Idle> long tree(int depth, idles<Idle> const& all) {
  if (depth == 0) return 1;
  auto const [a, b] =
      filch::join<S>([depth, &all] { return tree(depth - 1, all); }, [depth, &all] { return tree(depth - 1, all); });
  long const sum = a + b;
  long const more = filch::join<S>([sum] { return leaves(3) + sum; }, chosen(all, depth)).first;
  return more - 8;
}

template <class Idle> class unfit_pads : public ::testing::Test {
 protected:
  static inline idles<Idle> const all{};
};
using both = ::testing::Types<small_idle, large_idle>;
TYPED_TEST_SUITE(unfit_pads, both);

TYPED_TEST(unfit_pads, are_passed_over) {
  S::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(200); ++i) {
    ASSERT_EQ(pool.run([] { return tree(7, TestFixture::all); }), 128);
  }
}

TYPED_TEST(unfit_pads, are_no_join_frames_outside_all_pools) { EXPECT_EQ(tree(7, TestFixture::all), 128); }

TYPED_TEST(unfit_pads, are_not_taken_for_older_join_frames) {
  // For the outer pool's scheduler the inner pool's code is outside all pools. Its join frame is older on this stack.
  S::pool outer({.workers = 2});
  filch::direct::pool inner({.workers = 1});
  for (int i = 0; i < 100; ++i) {
    auto const [a, b] = outer.run([&] {
      return filch::join<S>([&] { return inner.run([] { return tree(3, TestFixture::all); }); },
                            [] { return leaves(4); });
    });
    ASSERT_EQ(a, 8);
    ASSERT_EQ(b, 16);
  }
}

TYPED_TEST(unfit_pads, handle_exceptions_of_f) {
  S::pool pool({.workers = 3});
  for (int i = 0; i < 100; ++i) {
    auto const throwing = [i] {
      filch::join<S>([] { throw std::runtime_error(std::to_string(leaves(5))); }, chosen(TestFixture::all, i));
    };
    try {
      pool.run(throwing);
      FAIL() << "nothing was thrown";
    } catch (std::runtime_error const& e) {
      ASSERT_STREQ(e.what(), "32");
    }
  }
}

}  // namespace
}  // namespace filch_test
