// Thousands of random trees of joins, invokes, scopes, loops and exceptions, whose results a plain recursive
// function knows. FILCH_TEST_SEED=n repeats one tree, FILCH_TEST_TREES=n sets how many there are.
#include "schedulers.hpp"
#include "seeds.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace filch_test {
namespace {

template <class S> class trees : public ::testing::Test {};
TYPED_TEST_SUITE(trees, all_schedulers, scheduler_names);

struct node {
  std::uint64_t seed;
  unsigned depth;

  enum class kind { leaf, two, three, scope, loop };
  kind what() const {
    if (depth == 0 || roll(1) % 8 == 0) return kind::leaf;
    return std::array{kind::two, kind::two, kind::three, kind::scope, kind::loop}[roll(2) % 5];
  }
  bool throws() const { return roll(3) % 16 == 0; }
  bool catches() const { return roll(4) % 4 == 0; }
  unsigned children() const { return static_cast<unsigned>(roll(5) % 6); }
  bool syncs_midway() const { return roll(6) % 2 == 0; }
  unsigned work() const { return static_cast<unsigned>(roll(7) % 512); }
  node child(unsigned i) const { return {mix(seed ^ (0x1000u + i)), depth - 1}; }
  std::uint64_t roll(std::uint64_t salt) const { return mix(seed + salt); }
};

struct tree_error {
  std::uint64_t value;
};

/// The result of a node: a value, or an exception with one. And the sum over all nodes that ran.
struct outcome {
  bool threw = false;
  std::uint64_t value = 0;
};

// ---- the answer, without any forks: the contract of exceptions spelt out ----------------------------

outcome expected_of(node n, std::uint64_t& ran);

outcome expected_of_children(node n, std::uint64_t& ran) {
  unsigned const count = n.what() == node::kind::two ? 2 : n.what() == node::kind::three ? 3 : n.children();
  outcome all{false, n.seed};
  outcome first_failure;
  for (unsigned i = 0; i < count; ++i) {
    outcome const c = expected_of(n.child(i), ran);  // each runs, whatever the others did
    if (c.threw && !first_failure.threw) first_failure = c;
    all.value = combine(all.value, c.value);
  }
  return first_failure.threw ? first_failure : all;
}

outcome expected_of(node n, std::uint64_t& ran) {
  ran += n.seed;
  if (n.what() == node::kind::leaf) return {n.throws(), n.seed};
  outcome result = expected_of_children(n, ran);
  if (result.threw && n.catches()) result = {false, combine(result.value, 1)};
  return result;
}

// ---- the same with a scheduler ----------------------------------------------------------------------

template <class S> class runner {
 public:
  std::uint64_t run(node n) {
    ran_.fetch_add(n.seed, std::memory_order_relaxed);
    if (n.what() == node::kind::leaf) return leaf(n);
    try {
      return inner(n);
    } catch (tree_error const& e) {
      if (n.catches()) return combine(e.value, 1);
      throw;
    }
  }
  std::uint64_t ran() const { return ran_.load(std::memory_order_relaxed); }

 private:
  static std::uint64_t leaf(node n) {
    std::uint64_t volatile x = n.seed;
    for (unsigned i = 0; i < n.work(); ++i) x = x * 3 + 1;
    if (n.throws()) throw tree_error{n.seed};
    return n.seed;
  }

  std::uint64_t inner(node n) {
    switch (n.what()) {
      case node::kind::two: return two(n);
      case node::kind::three: return three(n);
      case node::kind::scope: return scope(n);
      default: return loop(n);
    }
  }
  std::uint64_t two(node n) {
    auto const [a, b] = filch::join<S>([=, this] { return run(n.child(0)); }, [=, this] { return run(n.child(1)); });
    return combine(combine(n.seed, a), b);
  }
  std::uint64_t three(node n) {
    auto const [a, b, c] = filch::invoke<S>([&] { return run(n.child(0)); }, [&] { return run(n.child(1)); },
                                            [&] { return run(n.child(2)); });
    return combine(combine(combine(n.seed, a), b), c);
  }
  std::uint64_t scope(node n) {
    std::vector<std::uint64_t> values(n.children());
    filch::scope<S>([&](auto& s) {
      std::exception_ptr early;
      for (unsigned i = 0; i < n.children(); ++i) {
        s.spawn([&values, n, i, this] { values[i] = run(n.child(i)); });
        if (i != 2 || !n.syncs_midway()) continue;
        try {
          s.sync();
        } catch (...) {
          early = std::current_exception();  // all the others run too
        }
      }
      if (early) std::rethrow_exception(early);
    });
    std::uint64_t all = n.seed;
    for (auto v : values) all = combine(all, v);
    return all;
  }
  std::uint64_t loop(node n) {
    // A loop skips the rest of a piece that throws, and pieces depend on the timing. So no exception leaves a body.
    std::vector<outcome> outcomes(n.children());
    filch::for_index<S>(0u, n.children(), [&](unsigned i) {
      try {
        outcomes[i] = {false, run(n.child(i))};
      } catch (tree_error const& e) {
        outcomes[i] = {true, e.value};
      }
    });
    std::uint64_t all = n.seed;
    for (auto const& o : outcomes) {
      if (o.threw) throw tree_error{o.value};
      all = combine(all, o.value);
    }
    return all;
  }

  std::atomic<std::uint64_t> ran_{0};
};

template <class S> void try_tree(typename S::pool& pool, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "FILCH_TEST_SEED=" << seed << " on " << pool.workers() << " workers");
  node const root{mix(seed), static_cast<unsigned>(2 + seed % 7)};
  std::uint64_t should_run = 0;
  outcome const expected = expected_of(root, should_run);
  runner<S> r;
  outcome result;
  try {
    result = {false, pool.run([&] { return r.run(root); })};
  } catch (tree_error const& e) {
    result = {true, e.value};
  }
  EXPECT_EQ(result.threw, expected.threw);
  EXPECT_EQ(result.value, expected.value);
  EXPECT_EQ(r.ran(), should_run) << "a task ran twice or never";
}

TYPED_TEST(trees, give_the_result_of_the_sequential_program) {
  for_each_seed<TypeParam>(16, 20'000, try_tree<TypeParam>);
}

TYPED_TEST(trees, give_the_same_result_from_eight_callers_at_once) {
  for_each_seed_from_callers<TypeParam>(4, 4'000, try_tree<TypeParam>);
}

TYPED_TEST(trees, are_not_all_alike) {
  // Checks the generator: without exceptions, or with tiny trees only, the test above would show little.
  unsigned threw = 0;
  unsigned scopes = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    node const root{mix(seed), static_cast<unsigned>(2 + seed % 7)};
    std::uint64_t ran = 0;
    threw += expected_of(root, ran).threw;
    scopes += root.what() == node::kind::scope;
  }
  EXPECT_GT(threw, 200u);
  EXPECT_LT(threw, 900u);
  EXPECT_GT(scopes, 100u);
}

}  // namespace
}  // namespace filch_test
