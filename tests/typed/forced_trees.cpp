// Random trees in which nearly every fork is stolen. If the library does not force steals, f continues only when g
// has begun on another worker. As in typed.trees, FILCH_TEST_SEED=n repeats one tree, FILCH_TEST_TREES=n sets how
// many there are.
#include "seeds.hpp"
#include "stealing.hpp"

#include <algorithm>

namespace filch_test {
namespace {

template <class S> class forced_trees : public ::testing::Test {};
TYPED_TEST_SUITE(forced_trees, moving_schedulers, scheduler_names);

constexpr unsigned k_fewest_forks = 200;

/// A subtree of so many forks. A fork that waits for a thief needs a worker that does not wait: no more than `chains`
/// forks of a subtree wait at a time.
struct node {
  std::uint64_t seed;
  unsigned forks;
  unsigned chains;  // 0: a twig, whose forks are as any other

  enum class kind { join, join_in_handler, spawn };
  kind what() const { return std::array{kind::join, kind::join, kind::join_in_handler, kind::spawn}[roll(1) % 4]; }
  bool throws() const { return roll(2) % 16 == 0; }
  bool catches() const { return roll(3) % 4 == 0; }
  unsigned work() const { return static_cast<unsigned>(roll(4) % 64); }

  node f() const { return child(0, parts().f_forks, parts().f_chains); }
  node g() const { return child(1, forks - 1 - parts().f_forks, parts().g_chains); }

 private:
  struct shares {
    unsigned f_forks, f_chains, g_chains;
  };
  shares parts() const {
    unsigned const below = forks - 1;
    if (chains == 0) return {below / 2, 0, 0};
    if (chains > 1) {
      unsigned const f_chains = 1 + static_cast<unsigned>(roll(5) % (chains - 1));
      return {static_cast<unsigned>(roll(6) % (below + 1)), f_chains, chains - f_chains};
    }
    // A chain continues in one side; the other one is a twig.
    unsigned const twig = std::min(below, roll(7) % 8 == 0 ? static_cast<unsigned>(roll(8) % 6) : 0);
    if (roll(9) % 2 == 0) return {twig, 0, 1};
    return {below - twig, 1, 0};
  }
  node child(unsigned i, unsigned n, unsigned c) const { return {mix(seed ^ (0x1000u + i)), n, c}; }
  std::uint64_t roll(std::uint64_t salt) const { return mix(seed + salt); }
};

struct tree_error {
  std::uint64_t value;
};

/// The result of a subtree: a value, or an exception with one.
struct outcome {
  bool threw;
  std::uint64_t value;

  std::uint64_t get() const {
    if (threw) throw tree_error{value};
    return value;
  }
  bool operator==(outcome const&) const = default;
};

template <class Call> outcome outcome_of(Call call) {
  try {
    return {false, call()};
  } catch (tree_error const& e) {
    return {true, e.value};
  }
}

outcome expected_of(node n) {
  if (n.forks == 0) return {n.throws(), n.seed};
  outcome const f = expected_of(n.f());
  outcome const g = expected_of(n.g());
  outcome const both = f.threw ? f : g.threw ? g : outcome{false, combine(combine(n.seed, f.value), g.value)};
  return both.threw && n.catches() ? outcome{false, combine(both.value, 1)} : both;
}

template <class S> class runner {
 public:
  /// Tasks other than the tree's forks.
  std::uint64_t spawned_besides() const { return spawned_besides_; }
  std::uint64_t run(node n) {
    if (n.forks == 0) return leaf(n);
    try {
      switch (n.what()) {
        case node::kind::join: return join(n);
        case node::kind::join_in_handler: return join_in_handler(n);
        default: return spawn(n);
      }
    } catch (tree_error const& e) {
      if (n.catches()) return combine(e.value, 1);
      throw;
    }
  }

 private:
  static bool waits(node n) { return !steals_are_forced<S> && n.chains != 0; }
  static std::uint64_t leaf(node n) {
    std::uint64_t volatile x = n.seed;
    for (unsigned i = 0; i < n.work(); ++i) x = x * 3 + 1;
    return outcome{n.throws(), n.seed}.get();
  }

  std::uint64_t join(node n) {
    gate begun;
    if (waits(n)) wait_for_thief<S>();
    auto const [a, b] = filch::join<S>(
        [&] {
          EXPECT_TRUE(!waits(n) || begun.pass()) << "the task was not stolen";
          return run(n.f());
        },
        [&] {
          begun.open();
          return run(n.g());
        });
    return combine(combine(n.seed, a), b);
  }
  std::uint64_t join_in_handler(node n) {
    outcome result{};
    try {
      throw n.seed;
    } catch (std::uint64_t const& seed) {
      result = outcome_of([&] { return join(n); });
      try {
        throw;
      } catch (std::uint64_t const& again) {
        EXPECT_EQ(&again, &seed) << "another exception is handled after the join";
      }
    }
    return result.get();
  }
  std::uint64_t spawn(node n) {
    gate begun;
    outcome f{};
    outcome g{};
    bool ran_last = false;
    filch::scope<S>([&](auto& s) {
      if (waits(n)) wait_for_thief<S>();
      s.spawn([&] {
        begun.open();
        g = outcome_of([&] { return run(n.g()); });
      });
      EXPECT_TRUE(!waits(n) || begun.pass()) << "the task was not stolen";
      f = outcome_of([&] { return run(n.f()); });
      // This may run on another worker than the first task.
      s.spawn([&] { ran_last = true; });
      ++spawned_besides_;
    });
    EXPECT_TRUE(ran_last);
    std::uint64_t const a = f.get();
    return combine(combine(n.seed, a), g.get());
  }

  std::atomic<std::uint64_t> spawned_besides_{0};
};

template <class S> void try_tree(typename S::pool& pool, std::uint64_t seed) {
  unsigned const workers = pool.workers();
  SCOPED_TRACE(testing::Message() << "FILCH_TEST_SEED=" << seed << " on " << workers << " workers");
  node const root{mix(seed), k_fewest_forks + static_cast<unsigned>(seed % 100), workers - 1};
  std::uint64_t const before = steals_of<S>(pool);
  runner<S> tree;
  EXPECT_EQ(outcome_of([&] { return pool.run([&] { return tree.run(root); }); }), expected_of(root));
  std::uint64_t const stolen = steals_of<S>(pool) - before;
  EXPECT_LE(stolen, root.forks + tree.spawned_besides());
  EXPECT_GE(stolen, workers > 1 || steals_are_forced<S> ? root.forks / 2 : 0);
}

TYPED_TEST(forced_trees, give_the_result_of_the_sequential_program) {
  // Trees without waits for a thief take less time: 10^5 for both schedulers, once counts are scaled.
  for_each_seed<TypeParam>(8, steals_are_forced<TypeParam> ? 100'000 : 5'000, try_tree<TypeParam>);
}

}  // namespace
}  // namespace filch_test
