// Callables of a join, stolen or not.
#include "counted.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace filch_test {
namespace {

template <class S> class join_callables : public ::testing::Test {};
TYPED_TEST_SUITE(join_callables, all_schedulers, scheduler_names);

gate unused;
gate* the_gate = &unused;  // opened by the callable under test, wherever it runs

/// Joins a waiting first half with `g` in the caller's value category: once without a thief, once stolen. g has to
/// call the_gate->open() first.
template <class S, class MakeAndJoin> void as_second(MakeAndJoin body) {
  typename S::pool alone({.workers = 1});
  alone.run([&] { body([](auto&& g) { return filch::join<S>([] {}, std::forward<decltype(g)>(g)).second; }); });
  if constexpr (steals<S>) {
    if (has_no_thieves<S>()) return;
    SCOPED_TRACE("stolen");
    typename S::pool two({.workers = 2});
    two.run([&] {
      body([](auto&& g) {
        gate begun;
        the_gate = &begun;
        wait_for_thief<S>();
        auto const first = [&] {
          EXPECT_TRUE(begun.pass()) << "the task was not stolen";
          the_gate = &unused;
        };
        return filch::join<S>(first, std::forward<decltype(g)>(g)).second;
      });
    });
  }
}

int one() {
  the_gate->open();
  return 1;
}
int two() noexcept {
  the_gate->open();
  return 2;
}

TYPED_TEST(join_callables, may_be_functions) {
  as_second<TypeParam>([](auto join) {
    EXPECT_EQ(join(one), 1);
    EXPECT_EQ(join(&two), 2);
    int (*const pointer)() = one;
    EXPECT_EQ(join(pointer), 1);
  });
  auto const both = filch::join<TypeParam>(one, &two);
  EXPECT_EQ(both.first, 1);
  EXPECT_EQ(both.second, 2);
}

struct counter {
  int calls = 0;
  int operator()() {
    the_gate->open();
    return ++calls;
  }
};

TYPED_TEST(join_callables, that_are_lvalues_are_called_in_place) {
  as_second<TypeParam>([](auto join) {
    counter c;
    EXPECT_EQ(join(c), 1);
    EXPECT_EQ(join(c), 2);
    EXPECT_EQ(c.calls, 2);
  });
  counter f;
  counter g;
  filch::join<TypeParam>(f, g);
  filch::join<TypeParam>(std::ref(f), std::ref(g));
  EXPECT_EQ(f.calls, 2);
  EXPECT_EQ(g.calls, 2);
}

TYPED_TEST(join_callables, may_be_mutable_lambdas) {
  as_second<TypeParam>([](auto join) {
    EXPECT_EQ(join([n = 1]() mutable {
                the_gate->open();
                return ++n;
              }),
              2);
  });
}

TYPED_TEST(join_callables, may_be_only_movable) {
  as_second<TypeParam>([](auto join) {
    EXPECT_EQ(join([p = std::make_unique<int>(7)] {
                the_gate->open();
                return *p;
              }),
              7);
    auto taken = join([p = std::make_unique<int>(8)]() mutable {
      the_gate->open();
      return std::move(p);
    });
    EXPECT_EQ(*taken, 8);
  });
}

struct only_as_rvalue {
  int operator()() && {
    the_gate->open();
    return 9;
  }
  int operator()() & = delete;
};
struct by_category {
  std::string operator()() & { return called("lvalue"); }
  std::string operator()() const& { return called("const lvalue"); }
  std::string operator()() && { return called("rvalue"); }
  std::string operator()() const&& { return called("const rvalue"); }
  static std::string called(char const* as) {
    the_gate->open();
    return as;
  }
};

TYPED_TEST(join_callables, are_called_in_their_value_category) {
  as_second<TypeParam>([](auto join) {
    EXPECT_EQ(join(only_as_rvalue{}), 9);
    only_as_rvalue named;
    EXPECT_EQ(join(std::move(named)), 9);
    by_category a;
    by_category const b;
    EXPECT_EQ(join(a), "lvalue");
    EXPECT_EQ(join(b), "const lvalue");
    EXPECT_EQ(join(std::move(a)), "rvalue");
    EXPECT_EQ(join(std::move(b)), "const rvalue");
  });
  auto const both = filch::join<TypeParam>(by_category{}, only_as_rvalue{});
  EXPECT_EQ(both.first, "rvalue");
}

template <std::size_t Alignment> struct alignas(Alignment) aligned {
  std::array<unsigned char, 2 * Alignment> bytes{};
  bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0; }
};

TYPED_TEST(join_callables, that_capture_over_aligned_values_stay_aligned) {
  as_second<TypeParam>([](auto join) {
    auto const check = [&]<std::size_t Alignment> {
      EXPECT_TRUE(join([x = aligned<Alignment>{}] {
        the_gate->open();
        return x.is_aligned();
      })) << Alignment;
    };
    check.template operator()<32>();
    check.template operator()<64>();
    check.template operator()<128>();
  });
}

TYPED_TEST(join_callables, of_any_size_arrive_whole) {
  as_second<TypeParam>([](auto join) {
    auto const check = [&]<std::size_t Bytes> {
      std::array<unsigned char, Bytes> big{};
      big.fill('x');
      auto const sum = join([big] {
        the_gate->open();
        std::size_t n = 0;
        for (auto c : big) n += c;
        return n;
      });
      EXPECT_EQ(sum, Bytes * 'x');
    };
    check.template operator()<1>();
    check.template operator()<16>();
    check.template operator()<17>();
    check.template operator()<48>();
    check.template operator()<10'000>();
  });
}

/// Calls body(join); join(f) returns the result of f in a join. Outside of all pools, on one worker, and while
/// another worker requests.
template <class S, class Body> void as_first(Body body) {
  auto const plain = [&] { body([](auto f) { return filch::join<S>(std::move(f), [] {}).first; }); };
  plain();
  typename S::pool alone({.workers = 1});
  alone.run(plain);
  if constexpr (steals<S>) {
    SCOPED_TRACE("asked");
    typename S::pool two({.workers = 2});
    two.run([&] {
      body([](auto f) {
        wait_for_thief<S>();
        return filch::join<S>(std::move(f), [] {}).first;
      });
    });
  }
}

template <class Join> void keep_captures(Join join) {
  unsigned a = 0x81000001, b = 0x82000002, c = 0x83000003;
  std::uint64_t d = 0x8400'0000'0000'0004, e = 0x8500'0000'0000'0005;
  double x = 1.5, y = -2.5, z = 1e-300;
  float u = 3.5F, v = -4.5F;
  char k = 'k';
  EXPECT_EQ(join([=] { return std::array{a, b, c, b, a}; }), (std::array{a, b, c, b, a}));
  EXPECT_EQ(join([a, b, c, u, v, k] { return a + b * 3 + c * 5 + unsigned(u - v) + unsigned(k); }),
            a + b * 3 + c * 5 + 8 + 'k');
  EXPECT_EQ(join([&d, &e, a, b] { return std::tuple(&d, &e, a, b); }), std::tuple(&d, &e, a, b));
  EXPECT_EQ(join([d, a, e, k] { return d + a * 3 + e * 5 + std::uint64_t(k); }), d + a * 3 + e * 5 + 'k');
  EXPECT_EQ(join([d, e, a, b, x, u, v] { return std::tuple(d, e, a, b, x, u, v); }), std::tuple(d, e, a, b, x, u, v));
  EXPECT_EQ(join([d, e, a, b, c] { return std::vector<std::uint64_t>{d, e, a, b, c}; }),
            (std::vector<std::uint64_t>{d, e, a, b, c}));
  EXPECT_EQ(join([x, y, z] { return x + y * z; }), x + y * z);
  EXPECT_EQ(join([&x, &y, z, a, b] { return x - y * z + a - b; }), x - y * z + a - b);
  EXPECT_EQ(join([d, a, b, c, u, y] { return double(d) + a * 2.0 + b * 3.0 + c * 4.0 + u - y; }),
            double(d) + a * 2.0 + b * 3.0 + c * 4.0 + u - y);
  EXPECT_EQ(join([u, v, a, b, c] { return u - v + float(a == b) + float(c); }), u - v + float(c));
  bool called = false;
  join([&called, a, b, c, d] { called = a + b + c + d != 0; });
  EXPECT_TRUE(called);
  EXPECT_THROW(join([d, e, x]() -> double { throw std::tuple(d, e, x); }), decltype(std::tuple(d, e, x)));
}

TYPED_TEST(join_callables, keep_each_of_a_few_captures) {
  as_first<TypeParam>([](auto join) { keep_captures(join); });
  as_second<TypeParam>([](auto join) {
    keep_captures([&](auto g) {
      return join([g]() mutable {
        the_gate->open();
        return g();
      });
    });
  });
}

TYPED_TEST(join_callables, see_the_caller_s_variables_by_reference) {
  as_second<TypeParam>([](auto join) {
    int here = 1;
    join([&] {
      the_gate->open();
      here = 2;
    });
    EXPECT_EQ(here, 2);
  });
}

TYPED_TEST(join_callables, may_be_noexcept_or_std_function) {
  as_second<TypeParam>([](auto join) {
    EXPECT_EQ(join([]() noexcept {
                the_gate->open();
                return 1;
              }),
              1);
    EXPECT_EQ(join(std::function<int()>(one)), 1);
    EXPECT_EQ(join(std::bind(
                  [](int x) {
                    the_gate->open();
                    return x;
                  },
                  3)),
              3);
  });
}

TYPED_TEST(join_callables, are_neither_copied_nor_left_behind) {
  nothing_left_behind const check;
  as_second<TypeParam>([](auto join) {
    long const before = counted::alive();
    counted mine(5);
    auto g = [mine] {
      the_gate->open();
      return counted::alive();
    };
    EXPECT_EQ(join(g), before + 2) << "a copy was made of what was handed over by reference";
    EXPECT_EQ(join(std::move(g)), before + 2);
  });
}

}  // namespace
}  // namespace filch_test

/// A user's namespace: its functions take everything, and have names that Filch uses, too.
namespace elsewhere {

template <class F> void call(F&&) { ADD_FAILURE(); }
template <class F> void call_spawned(F&&) { ADD_FAILURE(); }
template <class Enter, class F> void call_through(Enter&&, F&&) { ADD_FAILURE(); }
template <class F, class G> void join_in_order(F&&, G&&) { ADD_FAILURE(); }
template <class G> void run_after_throw(G&&, std::exception_ptr&) { ADD_FAILURE(); }
template <class Refs> void invoke_range(Refs&) { ADD_FAILURE(); }

template <std::size_t Words> struct callable {
  std::array<long, Words> words{};
  long operator()() const {
    filch_test::the_gate->open();
    return static_cast<long>(Words);
  }
};

}  // namespace elsewhere

namespace filch_test {
namespace {

TYPED_TEST(join_callables, may_come_from_a_namespace_with_functions_of_any_name) {
  as_second<TypeParam>([](auto join) {
    elsewhere::callable<9> const large;
    EXPECT_EQ(join(elsewhere::callable<1>()), 1);
    EXPECT_EQ(join(elsewhere::callable<4>()), 4);
    EXPECT_EQ(join(large), 9);
  });
  elsewhere::callable<9> const large;
  EXPECT_EQ((filch::invoke<TypeParam>(large, elsewhere::callable<1>(), elsewhere::callable<4>())),
            std::tuple(9, 1, 4));
  EXPECT_EQ(filch::invoke<TypeParam>(large), std::tuple(9));
  EXPECT_EQ(filch::stay([&] { return filch::join<TypeParam>(large, elsewhere::callable<1>()); }), std::pair(9L, 1L));
  filch::scope<TypeParam>([&](auto& s) {
    s.spawn(large);
    s.spawn(elsewhere::callable<1>());
  });
}

}  // namespace
}  // namespace filch_test
