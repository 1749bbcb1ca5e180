// A position that throws ends its loop: no further stretch begins, and the lowest exception leaves.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>

namespace filch_test {
namespace {

template <class S> class loop_exceptions : public ::testing::Test {};
TYPED_TEST_SUITE(loop_exceptions, algorithm_schedulers, scheduler_names);

TYPED_TEST(loop_exceptions, end_a_loop_whose_first_iteration_throws) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<int> ran{0};
  EXPECT_THROW(pool.run([&] {
    filch::for_index<TypeParam>(0, 400, [&](int i) {
      ++ran;
      if (i == 0) throw std::runtime_error("first");
      work_for(std::chrono::milliseconds(1));
    });
  }),
               std::runtime_error);
  EXPECT_LT(ran, 40) << "it takes milliseconds";
}

TYPED_TEST(loop_exceptions, end_pieces_that_another_worker_runs) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    std::atomic<int> ran_above{0};
    gate above_begun;
    bool left = false;
    pool.run([&] {
      wait_for_thief<TypeParam>();
      try {
        filch::for_index<TypeParam>(0, 1'000'000, [&](int i) {
          if (i == 0) {
            EXPECT_TRUE(above_begun.pass()) << "the loop was not split";
            throw std::runtime_error("lowest");
          }
          if (i >= 500'000) {
            above_begun.open();
            if (++ran_above > 1) work_for(std::chrono::microseconds(200));
          }
        });
      } catch (std::runtime_error const&) {
        left = true;
      }
    });
    EXPECT_TRUE(left);
    EXPECT_LT(ran_above, 100'000);
  } else {
    GTEST_SKIP() << "has one worker only";
  }
}

TYPED_TEST(loop_exceptions, leave_from_the_lowest_position_that_threw) {
  typename TypeParam::pool pool({.workers = 3});
  for (bool const is_single : {false, true}) {
    std::mutex mutex;
    std::vector<std::size_t> thrown;
    std::size_t left = 0;
    std::vector<std::size_t> v(5'000);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = i;
    filch::detail::piece_observer const observer{nullptr, nullptr, is_single};
    filch::detail::observer_of_pieces.store(&observer, std::memory_order_release);
    pool.run([&] {
      try {
        filch::for_each<TypeParam>(v, [&](std::size_t i) {
          if (i % 100 != 50) return;
          {
            std::lock_guard const lock(mutex);
            thrown.push_back(i);
          }
          throw i;
        });
      } catch (std::size_t i) {
        left = i;
      }
    });
    filch::detail::observer_of_pieces.store(nullptr, std::memory_order_release);
    ASSERT_FALSE(thrown.empty());
    EXPECT_EQ(left, *std::min_element(thrown.begin(), thrown.end()));
  }
}

/// A value whose copies throw after some time. No copy is lost.
class throwing_copy {
 public:
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> left{0};
  throwing_copy() { ++alive; }
  throwing_copy(throwing_copy const& other) : value(other.value) {
    if (--left == 0) throw std::runtime_error("copy");
    ++alive;
  }
  throwing_copy& operator=(throwing_copy const& other) {
    if (--left == 0) throw std::runtime_error("copy");
    value = other.value;
    return *this;
  }
  ~throwing_copy() { --alive; }
  friend throwing_copy operator+(throwing_copy const& a, throwing_copy const& b) {
    throwing_copy sum;
    sum.value = a.value + b.value;
    return sum;
  }
  long value = 1;
};

TYPED_TEST(loop_exceptions, of_copies_leave_a_reduction_and_nothing_stays) {
  typename TypeParam::pool pool({.workers = 2});
  single_pieces const all;
  int const before = throwing_copy::alive;
  {
    std::vector<throwing_copy> v(100);
    for (int copies = 1; copies < 1'000; copies += 7) {
      throwing_copy::left = copies;
      long sum = 0;
      bool threw = false;
      pool.run([&] {
        try {
          sum = filch::reduce<TypeParam>(v, throwing_copy()).value;
        } catch (std::runtime_error const&) {
          threw = true;
        }
      });
      EXPECT_EQ(threw, throwing_copy::left <= 0) << copies;
      if (!threw) {
        EXPECT_EQ(sum, 101);
      }
    }
  }
  EXPECT_EQ(throwing_copy::alive, before);
}

TYPED_TEST(loop_exceptions, of_predicates_leave_searches) {
  typename TypeParam::pool pool({.workers = 2});
  std::vector<int> const v(1'000, 1);
  auto const throws = [](int) -> bool { throw std::runtime_error("predicate"); };
  for (int round = 0; round < 2; ++round) {
    pool.run([&] {
      EXPECT_THROW(static_cast<void>(filch::find_if<TypeParam>(v, throws)), std::runtime_error);
      EXPECT_THROW(static_cast<void>(filch::any_of<TypeParam>(v, throws)), std::runtime_error);
      EXPECT_THROW(static_cast<void>(filch::count_if<TypeParam>(v, throws)), std::runtime_error);
    });
  }
}

}  // namespace
}  // namespace filch_test
