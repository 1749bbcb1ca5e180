// Compiled without inlining (CMakeLists.txt). Compilers call a pure function where its result is needed; that must
// not be a landing pad. tools/inspect-landing-pads reads the landing pads of this program.
#include "stealing.hpp"

namespace filch_test {
namespace {

using S = filch::implicit;

/// Callables of one word and of many. Their calls need none of it.
struct idle {
  long unused;
  void operator()() const {}
};
struct large_idle {
  long unused[8];
  ~large_idle() {}  // not trivial: goes by reference
  void operator()() const {}
};

template <class F, class G> auto join_through(F&& f, G&& g) {
  return filch::join<S>(std::forward<F>(f), std::forward<G>(g));
}

long tree(int depth) {
  if (depth == 0) return 1;
  auto const [a, b] = join_through([depth] { return tree(depth - 1); }, [depth] { return tree(depth - 1); });
  return a + b;
}

TEST(uninlined, callables_that_need_nothing_come_second) {
  S::pool pool({.workers = 2});
  for (int i = 0; i < 2000; ++i) {
    std::atomic<long> sum = 0;
    pool.run([&] {
      join_through([&] { sum += tree(3); }, [] {});
      auto const [a, b] = join_through([] { return tree(3); }, [] { return 4L; });
      auto const c = join_through([] { return tree(3); }, idle{i}).first;
      large_idle const large{{i}};
      auto const d = join_through([] { return tree(3); }, large).first;
      auto const e = join_through([] { return tree(3); }, large_idle{{i}}).first;
      sum += a + b + c + d + e;
    });
    ASSERT_EQ(sum, 5 * 8 + 4);
  }
}

TEST(uninlined, callables_that_need_nothing_are_stolen) {
  S::pool pool({.workers = 2});
  std::uint64_t before = 0;
  auto const wait_for_steal = [&] {
    EXPECT_TRUE(eventually([&] { return pool.stats().steals > before; })) << "this join's frame was not offered";
  };
  auto const prepare = [&] {
    wait_for_thief<S>();
    before = pool.stats().steals;
  };
  pool.run([&] {
    prepare();
    join_through(wait_for_steal, [] {});
    prepare();
    join_through(wait_for_steal, [] { return 4L; });
    prepare();
    join_through(wait_for_steal, idle{1});
    large_idle const large{{2}};
    prepare();
    join_through(wait_for_steal, large);
    prepare();
    join_through(wait_for_steal, large_idle{{3}});
  });
}

}  // namespace
}  // namespace filch_test
