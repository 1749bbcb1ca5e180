// invoke: any number of callables.
#include "counted.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <any>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace filch_test {
namespace {

template <class S> class invoke : public ::testing::Test {};
TYPED_TEST_SUITE(invoke, all_schedulers, scheduler_names);

/// Calls body() alone, beside another worker, and outside all pools.
template <class S, class Body> void everywhere(Body body) {
  for (unsigned workers : {1u, 2u}) {
    typename S::pool pool({.workers = workers});
    pool.run(body);
  }
  body();
}

TYPED_TEST(invoke, returns_a_tuple_of_one_to_nine_results) {
  everywhere<TypeParam>([] {
    auto const number = [](int n) { return [n] { return n; }; };
    EXPECT_EQ(filch::invoke<TypeParam>(number(1)), std::tuple(1));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2)), std::tuple(1, 2));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3)), std::tuple(1, 2, 3));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4)), std::tuple(1, 2, 3, 4));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4), number(5)),
              std::tuple(1, 2, 3, 4, 5));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4), number(5), number(6)),
              std::tuple(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4), number(5), number(6), number(7)),
              std::tuple(1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4), number(5), number(6), number(7),
                                       number(8)),
              std::tuple(1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_EQ(filch::invoke<TypeParam>(number(1), number(2), number(3), number(4), number(5), number(6), number(7),
                                       number(8), number(9)),
              std::tuple(1, 2, 3, 4, 5, 6, 7, 8, 9));
  });
}

int plain() { return 3; }

TYPED_TEST(invoke, mixes_results_and_callables_of_every_kind) {
  everywhere<TypeParam>([] {
    int target = 0;
    std::string text = "text";
    auto counting = [n = 0]() mutable { return ++n; };
    auto results =
        filch::invoke<TypeParam>([&] { target = 1; }, [&]() -> std::string& { return text; }, plain,
                                 [p = std::make_unique<int>(4)]() mutable { return std::move(p); }, counting,
                                 [&]() -> std::string&& { return std::move(text); }, [] { return std::any(7); });
    static_assert(std::is_same_v<decltype(results), std::tuple<filch::nothing, std::string&, int,
                                                               std::unique_ptr<int>, int, std::string&&, std::any>>);
    EXPECT_EQ(target, 1);
    EXPECT_EQ(&std::get<1>(results), &text);
    EXPECT_EQ(std::get<2>(results), 3);
    EXPECT_EQ(*std::get<3>(results), 4);
    EXPECT_EQ(std::get<4>(results), 1);
    EXPECT_EQ(counting(), 2) << "the lvalue itself was not called";
    EXPECT_EQ(std::addressof(std::get<5>(results)), &text);
    EXPECT_EQ(std::any_cast<int>(std::get<6>(results)), 7);
  });
}

struct by_category {
  char operator()() & { return 'l'; }
  char operator()() const& { return 'c'; }
  char operator()() && { return 'r'; }
};
struct only_as_rvalue {
  char operator()() && { return 'R'; }
  char operator()() & = delete;
};

TYPED_TEST(invoke, calls_each_in_its_value_category) {
  everywhere<TypeParam>([] {
    by_category a;
    by_category const b;
    EXPECT_EQ(filch::invoke<TypeParam>(by_category{}), std::tuple('r'));
    EXPECT_EQ(filch::invoke<TypeParam>(only_as_rvalue{}, a), std::tuple('R', 'l'));
    EXPECT_EQ(filch::invoke<TypeParam>(a, b, by_category{}, std::move(a), only_as_rvalue{}),
              std::tuple('l', 'c', 'r', 'r', 'R'));
  });
}

TYPED_TEST(invoke, of_one_returns_its_result_even_a_tuple) {
  everywhere<TypeParam>([] {
    auto one = filch::invoke<TypeParam>([] { return std::tuple<int>(1); });
    static_assert(std::is_same_v<decltype(one), std::tuple<std::tuple<int>>>);
    EXPECT_EQ(std::get<0>(std::get<0>(one)), 1);
    auto any = filch::invoke<TypeParam>([] { return std::any(1); });
    static_assert(std::is_same_v<decltype(any), std::tuple<std::any>>);
    EXPECT_EQ(std::any_cast<int>(std::get<0>(any)), 1);
  });
}

TYPED_TEST(invoke, runs_in_the_order_of_its_arguments_on_one_worker) {
  typename TypeParam::pool pool({.workers = 1});
  std::vector<int> order;
  auto const note = [&](int n) { return [&order, n] { order.push_back(n); }; };
  pool.run([&] { filch::invoke<TypeParam>(note(1), note(2), note(3), note(4), note(5), note(6), note(7)); });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

TYPED_TEST(invoke, throws_the_leftmost_exception_after_all_have_run) {
  nothing_left_behind const check;
  everywhere<TypeParam>([] {
    for (unsigned throwing = 1; throwing < 32; ++throwing) {
      std::atomic<unsigned> ran{0};
      auto const part = [&](unsigned i) {
        return [&ran, throwing, i] {
          ran.fetch_add(1u << i);
          counted const mine(static_cast<int>(i));
          if (throwing >> i & 1) throw mine;
          return mine;
        };
      };
      int thrown = -1;
      try {
        filch::invoke<TypeParam>(part(0), part(1), part(2), part(3), part(4));
      } catch (counted const& e) {
        thrown = e.value();
      }
      EXPECT_EQ(thrown, __builtin_ctz(throwing));
      EXPECT_EQ(ran.load(), 31u);
    }
  });
}

TYPED_TEST(invoke, of_one_callable_enters_a_pool_too) {
  auto const [is_inside] = filch::invoke<TypeParam>([] { return TypeParam::inside(); });
  EXPECT_TRUE(is_inside);
}

}  // namespace
}  // namespace filch_test
