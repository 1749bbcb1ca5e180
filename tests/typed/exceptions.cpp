// The exception that leaves a join, the code that has run before, and the objects that are destroyed.
#include "counted.hpp"
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace filch_test {
namespace {

template <class S> class exceptions : public ::testing::Test {};
TYPED_TEST_SUITE(exceptions, all_schedulers, scheduler_names);

/// The number that f() threw, or 0.
template <class F> int thrown_by(F f) {
  try {
    f();
  } catch (counted const& e) {
    return e.value();
  }
  return 0;
}

[[noreturn]] void raise(int number) { throw counted(number); }

TYPED_TEST(exceptions, from_f_leave_after_g_has_run) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    bool ran = false;
    EXPECT_EQ(thrown_by([&] { join([] { raise(1); }, [&] { ran = true; }); }), 1);
    EXPECT_TRUE(ran);
  });
}

TYPED_TEST(exceptions, from_g_leave_after_f_has_run) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    bool ran = false;
    EXPECT_EQ(thrown_by([&] { join([&] { ran = true; }, [] { raise(2); }); }), 2);
    EXPECT_TRUE(ran);
  });
}

TYPED_TEST(exceptions, from_both_sides_leave_f_s_to_leave) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    bool reached_g = false;
    EXPECT_EQ(thrown_by([&] {
                join([] { raise(1); },
                     [&] {
                       reached_g = true;
                       raise(2);
                     });
              }),
              1);
    EXPECT_TRUE(reached_g);
  });
}

TYPED_TEST(exceptions, destroy_the_other_side_s_result) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    using results = std::array<counted, 8>;  // larger than a descriptor
    auto const make = [] {
      return results{counted(1), counted(2), counted(3), counted(4), counted(5), counted(6), counted(7), counted(8)};
    };
    auto const fail = []() -> counted { throw counted(9); };
    EXPECT_EQ(thrown_by([&] { join([] { return counted(1); }, fail); }), 9);
    EXPECT_EQ(thrown_by([&] { join(fail, [] { return counted(1); }); }), 9);
    EXPECT_EQ(thrown_by([&] { join(make, fail); }), 9);
    EXPECT_EQ(thrown_by([&] { join(fail, make); }), 9);
    EXPECT_EQ(thrown_by([&] { join([c = counted(3)] { return c; }, [c = counted(4)]() -> int { throw c; }); }), 4);
  });
}

TYPED_TEST(exceptions, keep_their_type_and_their_object) {
  in_every_way<TypeParam>([](auto join) {
    EXPECT_THROW(join([] { throw std::bad_alloc(); }, [] {}), std::bad_alloc);
    EXPECT_THROW(join([] {}, [] { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_THROW(join([] {}, [] { throw 42; }), int);
    EXPECT_THROW(join([] {}, [] { throw "text"; }), char const*);
    try {
      join([] {}, []() -> int { throw std::out_of_range("which one: 17"); });
      FAIL() << "nothing was thrown";
    } catch (std::logic_error const& e) {
      EXPECT_STREQ(e.what(), "which one: 17");
    }
  });
}

TYPED_TEST(exceptions, pass_through_nested_joins_after_everything_has_run) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    std::atomic<int> ran{0};
    auto const leaf = [&](int n) {
      return [&ran, n] {
        ++ran;
        if (n % 2) raise(n);
      };
    };
    auto const four = [&](int n) {
      return [&, n] {
        filch::join<TypeParam>([&, n] { filch::join<TypeParam>(leaf(n), leaf(n + 1)); },
                               [&, n] { filch::join<TypeParam>(leaf(n + 2), leaf(n + 3)); });
      };
    };
    EXPECT_EQ(thrown_by([&] { join(four(10), four(20)); }), 11);
    EXPECT_EQ(ran, 8);
  });
}

TYPED_TEST(exceptions, may_be_caught_and_replaced_inside_a_task) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    auto const replaced = [] {
      try {
        filch::join<TypeParam>([] { raise(1); }, [] { raise(2); });
      } catch (counted const& e) {
        raise(e.value() + 10);
      }
    };
    EXPECT_EQ(thrown_by([&] { join([] {}, replaced); }), 11);
    EXPECT_EQ(thrown_by([&] { join(replaced, [] {}); }), 11);
  });
}

struct fails_to_move {
  explicit fails_to_move(int moves) : moves_left(moves) {}
  fails_to_move(fails_to_move&& other) : moves_left(other.moves_left - 1), counts(std::move(other.counts)) {
    if (moves_left < 0) throw counted(77);
  }
  int moves_left;
  counted counts{1};
};

TYPED_TEST(exceptions, from_a_result_s_move_constructor_leak_nothing) {
  nothing_left_behind const check;
  in_every_way<TypeParam>([](auto join) {
    for (int moves = 0; moves < 3; ++moves) {
      int const in_f = thrown_by([&] { join([moves] { return fails_to_move(moves); }, [] { return counted(1); }); });
      int const in_g = thrown_by([&] { join([] { return counted(1); }, [moves] { return fails_to_move(moves); }); });
      EXPECT_TRUE(in_f == 77 || in_f == 0);
      EXPECT_TRUE(in_g == 77 || in_g == 0);
      if (moves == 0) {
        EXPECT_EQ(in_f, 77) << "a result reaches its pair by at least one move";
      }
    }
  });
}

template <class S> int fail_at_depth(int depth, std::atomic<int>& ran) {
  if (depth == 0) throw counted(5);
  auto const [a, b] = filch::join<S>([&, depth] { return fail_at_depth<S>(depth - 1, ran); },
                                     [&, depth] {
                                       ++ran;
                                       return counted(depth).value();
                                     });
  return a + b;
}

TYPED_TEST(exceptions, climb_out_of_deep_recursion) {
  nothing_left_behind const check;
  int const depth = static_cast<int>(scaled(3'000));
  for (unsigned workers : {1u, 2u}) {
    typename TypeParam::pool pool({.workers = workers});
    std::atomic<int> ran{0};
    EXPECT_EQ(thrown_by([&] { pool.run([&] { fail_at_depth<TypeParam>(depth, ran); }); }), 5);
    EXPECT_EQ(ran, depth);
  }
}

/// Throws at every leaf whose number is a multiple of `every`. Returns the sum of the caught numbers.
template <class S> long caught_in_tree(int depth, long leaf, long every) {
  if (depth == 0) {
    if (leaf % every == 0) raise(static_cast<int>(leaf + 1));
    return 0;
  }
  try {
    auto const [a, b] = filch::join<S>([=] { return caught_in_tree<S>(depth - 1, 2 * leaf, every); },
                                       [=] { return caught_in_tree<S>(depth - 1, 2 * leaf + 1, every); });
    return a + b;
  } catch (counted const& e) {
    if (depth % 3 == 0) return e.value();
    throw;
  }
}

TYPED_TEST(exceptions, thrown_everywhere_in_a_tree_are_the_same_as_in_the_sequential_program) {
  nothing_left_behind const check;
  int const depth = is_sanitized || is_emulated ? 9 : 12;
  for (long every : {1L, 3L, 7L, 64L}) {
    long const expected = caught_in_tree<filch::serial>(depth, 0, every);
    for (unsigned workers : {1u, 2u, 5u}) {
      typename TypeParam::pool pool({.workers = workers});
      EXPECT_EQ(pool.run([&] { return caught_in_tree<TypeParam>(depth, 0, every); }), expected) << workers;
    }
  }
}

TYPED_TEST(exceptions, leave_run_and_the_pool_works_on) {
  nothing_left_behind const check;
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_EQ(thrown_by([&] { pool.run([] { raise(1); }); }), 1);
  EXPECT_EQ(thrown_by([&] { pool.run([] { filch::join<TypeParam>([] { raise(2); }, [] {}); }); }), 2);
  EXPECT_EQ(pool.run([] { return 3; }), 3);
}

TYPED_TEST(exceptions, leave_a_join_outside_all_pools) {
  nothing_left_behind const check;
  bool ran = false;
  EXPECT_EQ(thrown_by([&] { filch::join<TypeParam>([] { raise(1); }, [&] { ran = true; }); }), 1);
  EXPECT_TRUE(ran);
  EXPECT_EQ(thrown_by([&] { filch::join<TypeParam>([] { return counted(1); }, [] { raise(2); }); }), 2);
}

}  // namespace
}  // namespace filch_test
