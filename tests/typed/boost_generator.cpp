// A generator of Boost.Context that joins between the values that it yields.
#include "scale.hpp"
#include "schedulers.hpp"
#include "stealing.hpp"

#include <boost/context/fiber.hpp>

#include <utility>
#include <vector>

namespace filch_test {
namespace {

template <class S> class boost_generator : public ::testing::Test {};
TYPED_TEST_SUITE(boost_generator, all_schedulers, scheduler_names);

template <class S> long fib(long n) {
  if (n < 2) return n;
  auto const [a, b] = filch::join<S>([=] { return fib<S>(n - 1); }, [=] { return fib<S>(n - 2); });
  return a + b;
}

/// fib(1), fib(2), ...: each when it is asked for.
template <class S> class fibs {
 public:
  fibs()
      : inside_([this](boost::context::fiber&& outside) {
          for (long n = 1;; ++n) {
            value_ = fib<S>(n);
            outside = std::move(outside).resume();
          }
          return std::move(outside);
        }) {}
  long next() {
    inside_ = std::move(inside_).resume();
    return value_;
  }

 private:
  long value_ = 0;
  boost::context::fiber inside_;
};

std::vector<long> const k_fibs = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584};

template <class S> void expect_fibs() {
  fibs<S> generator;
  for (long f : k_fibs) ASSERT_EQ(generator.next(), f);
}

TYPED_TEST(boost_generator, joins_in_a_task) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of its stacks";
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(50); ++i) pool.run(expect_fibs<TypeParam>);
}

TYPED_TEST(boost_generator, joins_in_several_tasks_at_once) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of its stacks";
  typename TypeParam::pool pool({.workers = 3});
  for (std::size_t i = 0; i < scaled(20); ++i) {
    pool.run([] {
      filch::scope<TypeParam>([](auto& s) {
        for (int task = 0; task < 8; ++task) s.spawn([] { expect_fibs<TypeParam>(); });
      });
    });
  }
}

TYPED_TEST(boost_generator, goes_from_task_to_task) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of its stacks";
  typename TypeParam::pool pool({.workers = 3});
  pool.run([] {
    fibs<TypeParam> generator;
    for (long f : k_fibs) {
      EXPECT_EQ(filch::join<TypeParam>([] { return fib<TypeParam>(15); }, [&] { return generator.next(); }).second,
                f);
    }
  });
}

TYPED_TEST(boost_generator, joins_outside_of_tasks) {
  if (is_sanitized) GTEST_SKIP() << "sanitizers are not told of its stacks";
  expect_fibs<TypeParam>();
}

}  // namespace
}  // namespace filch_test
