// Folds and reductions with an op that forks, or throws.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

namespace filch_test {
namespace {

template <class S> class cluster_folds : public ::testing::Test {};
TYPED_TEST_SUITE(cluster_folds, all_schedulers, scheduler_names);

TEST(cluster_fold, of_shares_calls_op_under_no_lock) {
  std::function<void()> in_op;
  auto const op = [&in_op](long a, long b) {
    if (auto const f = std::exchange(in_op, nullptr)) f();
    return a + b;
  };
  filch::detail::fold_of<long, decltype(op)> whole{op};
  decltype(whole)::part one(whole);
  decltype(whole)::part two(whole);
  decltype(whole)::part four(whole);
  one.add(1);
  two.add(2);
  four.add(4);
  one.merge();
  gate merged;
  std::thread other;
  in_op = [&] {
    other = std::thread([&] {
      four.merge();
      merged.open();
    });
    EXPECT_TRUE(merged.pass()) << "another share waits for this op";
  };
  two.merge();
  other.join();
  EXPECT_EQ(whole.sum, 7);
}

TYPED_TEST(cluster_folds, may_have_an_op_that_forks) {
  tree_node const root{mix(11), 7};
  long const nodes = root.nodes();
  auto const op = [](long a, long b) {
    auto const [x, y] = filch::join<TypeParam>([a] { return a; }, [b] { return b; });
    return x + y;
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    on_ranks<TypeParam>(2, 3, seed, [&](auto& c) { EXPECT_EQ((c.template fold<&count_nodes>(op, root)), nodes); });
  }
}

}  // namespace
}  // namespace filch_test
