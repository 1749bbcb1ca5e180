// A stop token ends a loop: stretches that have not begun do not begin, and the result says so.
#include "pieces.hpp"

#include <filch/algorithm.hpp>

#include <version>
#if defined(__cpp_lib_jthread)
#include <stop_token>

#include <atomic>

namespace filch_test {
namespace {

template <class S> class cancellation : public ::testing::Test {};
TYPED_TEST_SUITE(cancellation, algorithm_schedulers, scheduler_names);

TYPED_TEST(cancellation, changes_nothing_without_a_request) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::stop_source source;
    for (std::stop_token const& token : {source.get_token(), std::stop_token()}) {
      std::vector<int> v(n);
      EXPECT_TRUE(filch::for_index<TypeParam>(token, std::size_t{0}, n, [&](std::size_t i) { ++v[i]; }));
      EXPECT_TRUE(filch::for_each<TypeParam>(token, v, [](int& x) { ++x; }));
      EXPECT_TRUE(filch::for_each<TypeParam>(token, v.begin(), v.end(), [](int& x) { ++x; }));
      EXPECT_TRUE(
          filch::for_each_n<TypeParam>(token, v.begin(), static_cast<std::ptrdiff_t>(n), [](int& x) { ++x; }));
      EXPECT_EQ(filch::reduce<TypeParam>(token, v, 0L), 4 * static_cast<long>(n));
      EXPECT_EQ(filch::reduce<TypeParam>(token, v.begin(), v.end(), 0L), 4 * static_cast<long>(n));
      EXPECT_EQ(filch::count<TypeParam>(token, v, 4), static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(filch::all_of<TypeParam>(token, v, [](int x) { return x == 4; }), true);
      EXPECT_EQ(filch::find<TypeParam>(token, v, 5), v.end());
      EXPECT_EQ(filch::equal<TypeParam>(token, v, v), true);
    }
  });
}

TYPED_TEST(cancellation, begins_nothing_after_a_request) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::stop_source source;
    source.request_stop();
    std::stop_token const token = source.get_token();
    std::vector<int> v(n);
    bool const is_empty = n == 0;
    EXPECT_EQ(filch::for_index<TypeParam>(token, std::size_t{0}, n, [&](std::size_t i) { ++v[i]; }), is_empty);
    EXPECT_EQ(filch::for_each<TypeParam>(token, v, [](int& x) { ++x; }), is_empty);
    EXPECT_EQ(v, std::vector<int>(n));
    EXPECT_EQ(filch::reduce<TypeParam>(token, v, 0L).has_value(), is_empty);
    EXPECT_EQ(filch::count_if<TypeParam>(token, v, [](int) { return true; }).has_value(), is_empty);
    EXPECT_EQ(filch::min_element<TypeParam>(token, v).has_value(), is_empty);
    EXPECT_EQ(filch::find<TypeParam>(token, v, 0).has_value(), is_empty);
    EXPECT_EQ(filch::any_of<TypeParam>(token, v, [](int) { return true; }).has_value(), is_empty);
  });
}

TYPED_TEST(cancellation, ends_a_loop_within_a_stretch_on_each_worker) {
  constexpr unsigned k_workers = 2;
  typename TypeParam::pool pool({.workers = k_workers});
  std::stop_source source;
  std::atomic<int> after{0};
  std::atomic<int> ran{0};
  bool finished = true;
  pool.run([&] {
    finished = filch::for_index<TypeParam>(source.get_token(), 0, 1'000'000, [&](int) {
      if (source.stop_requested()) ++after;
      if (++ran == 500) source.request_stop();
    });
  });
  EXPECT_FALSE(finished);
  EXPECT_LE(after, 64 * static_cast<int>(k_workers));
}

}  // namespace
}  // namespace filch_test
#endif
