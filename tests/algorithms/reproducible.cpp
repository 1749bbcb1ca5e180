// Reductions whose result is the same to the bit for any number of workers and any scheduler.
#include "pieces.hpp"

#include <filch/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace filch_test {
namespace {

template <class S> class reproducible : public ::testing::Test {};
TYPED_TEST_SUITE(reproducible, algorithm_schedulers, scheduler_names);

TYPED_TEST(reproducible, has_the_same_bits_for_each_split) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<double> v(n);
    std::size_t i = 0;
    for (int x : numbers(n)) v[i++] = std::ldexp(x, x % 60);
    double const expected = filch::reduce<filch::serial>(filch::reproducible, v, 0.1);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v, 0.1), expected);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, v.begin(), v.end(), 0.1), expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, v, 0.1, std::plus<>{}, std::identity{}),
              expected);
    EXPECT_EQ(filch::transform_reduce<TypeParam>(filch::reproducible, v, v, 0.1),
              filch::transform_reduce<filch::serial>(filch::reproducible, v, v, 0.1));
  });
}

TYPED_TEST(reproducible, keeps_the_order) {
  in_every_pool<TypeParam>([](std::size_t n) {
    std::vector<std::string> words(n);
    std::string expected = "<";
    for (std::size_t i = 0; i < n; ++i) expected += words[i] = std::to_string(i);
    EXPECT_EQ(filch::reduce<TypeParam>(filch::reproducible, words, std::string("<")), expected);
  });
}

TYPED_TEST(reproducible, allocates_once_in_a_piece) {
  std::vector<long> const v(100'000, 1);
  std::identity all;
  std::plus<> op;
  using source = filch::detail::elements<std::vector<long>::const_iterator, std::identity>;
  for (std::size_t const begin : {0u, 999u}) {
    filch::detail::reproducing_piece<long, source, std::plus<>> piece{source(v.begin(), all), {op}, v.size()};
    piece.run(begin, begin + 1);
    auto const* const nodes = piece.nodes.data();
    std::size_t most = 0;
    for (std::size_t i = begin + 1; i < 1'562; ++i) {
      piece.run(i, i + 1);
      most = std::max(most, piece.nodes.size());
    }
    EXPECT_EQ(piece.nodes.data(), nodes);
    EXPECT_GT(most, 8u);
  }
}

}  // namespace
}  // namespace filch_test
