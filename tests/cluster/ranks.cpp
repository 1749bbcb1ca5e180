// Clusters of threads of this process, over a network that delivers in any order.
#include "network.hpp"
#include "schedulers.hpp"

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

template <class S> class cluster : public ::testing::Test {};
TYPED_TEST_SUITE(cluster, all_schedulers, scheduler_names);

TYPED_TEST(cluster, counts_the_nodes_of_random_trees_with_one_to_eight_ranks) {
  bool const is_one = std::getenv("FILCH_TEST_SEED") != nullptr;
  std::uint64_t const first = number_from("FILCH_TEST_SEED", std::random_device{}());
  auto const runs = is_one ? 1 : number_from("FILCH_TEST_TREES", scaled(25));
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    SCOPED_TRACE("FILCH_TEST_SEED=" + std::to_string(seed));
    tree_node const root{mix(seed), 7};
    long const nodes = root.nodes();
    on_ranks<TypeParam>(static_cast<int>(seed % 8) + 1, static_cast<unsigned>(seed / 8 % 3) + 1, seed, [&](auto& c) {
      EXPECT_EQ((c.template fold<&count_nodes>(std::plus<>(), root)), nodes);
      EXPECT_EQ((c.template fold<&count_nodes>(std::plus<>(), root.child(0))), root.child(0).nodes());
    });
  }
}

TYPED_TEST(cluster, many_clusters_follow_each_other_on_one_transport) {
  tree_node const root{mix(7), 6};
  long const nodes = root.nodes();
  on_ranks<TypeParam>(
      5, 1, 7, [&](auto& c) { EXPECT_EQ((c.template fold<&count_nodes>(std::plus<>(), root)), nodes); }, 30);
}

long fib(filch::rank& here, int n) {
  if (n < 2) return n;
  auto a = here.async<&fib>(n - 1);
  long const b = fib(here, n - 2);
  return a.get() + b;
}

TYPED_TEST(cluster, futures_bring_results_from_other_ranks) {
  on_ranks<TypeParam>(3, 2, 1, [](auto& c) { EXPECT_EQ((c.template fold<&fib>(std::plus<>(), 16)), 987); });
}

std::string joined(filch::rank&, std::string a, std::vector<std::string> const& b) {
  for (auto const& text : b) a += text;
  return a;
}
long length_of_joined(filch::rank& here, int n) {
  auto text =
      here.async<&joined>("x", std::vector<std::string>(static_cast<std::size_t>(n), "long enough for the heap"));
  return static_cast<long>(text.get().size());
}
long many_lengths(filch::rank& here, int n) {
  for (int i = 1; i < n; ++i) here.spawn<&length_of_joined>(i);
  return 0;
}

TYPED_TEST(cluster, strings_and_vectors_travel) {
  on_ranks<TypeParam>(4, 1, 2, [](auto& c) {
    EXPECT_EQ((c.template fold<&many_lengths>(std::plus<>(), 50)), 49 + 24 * 49 * 50 / 2);
  });
}

void throws_at(filch::rank& here, int n) {
  if (n == 77) throw std::runtime_error("seventy-seven");
  for (int i = 2 * n + 1; i <= 2 * n + 2 && i < 500; ++i) here.spawn<&throws_at>(i);
}
void expects_failure(filch::rank& here) {
  auto bad = here.async<&throws_at>(77);
  EXPECT_THROW(bad.get(), filch::task_error);
}

TYPED_TEST(cluster, an_exception_leaves_on_every_rank_and_the_next_run_is_clean) {
  on_ranks<TypeParam>(3, 1, 3, [](auto& c) {
    try {
      c.template run<&throws_at>(0);
      ADD_FAILURE() << "nothing thrown";
    } catch (filch::task_error const& e) {
      EXPECT_STREQ(e.what(), "seventy-seven");
    }
    c.template run<&expects_failure>();
  });
}

void throws_at_77(filch::rank& here) {
  auto bad = here.async<&throws_at>(77);
  bad.get();
}
void throws_a_number(filch::rank&) { throw 77; }

TYPED_TEST(cluster, an_exception_keeps_the_name_of_its_type) {
  static_assert(std::is_nothrow_copy_constructible_v<filch::task_error>);
  on_ranks<TypeParam>(3, 1, 3, [](auto& c) {
    auto const type_of = [](auto const& run) -> std::string {
      try {
        run();
      } catch (filch::task_error const& e) {
        return std::string(e.type()) + ": " + e.what();
      }
      return "nothing thrown";
    };
    EXPECT_EQ(type_of([&] { c.template run<&throws_at>(0); }), "std::runtime_error: seventy-seven");
    EXPECT_EQ(type_of([&] { c.template run<&throws_at_77>(); }), "std::runtime_error: seventy-seven")
        << "of a future's exception";
    EXPECT_EQ(type_of([&] { c.template run<&throws_a_number>(); }), "int: an exception that is no std::exception");
  });
}

/// Futures may be kept in a vector, which moves them.
long sum_of_futures(filch::rank& here, int n) {
  std::vector<filch::future<long>> parts;
  for (int i = 0; i < n; ++i) parts.push_back(here.async<&fib>(i % 10));
  filch::future<long> last = std::move(parts.back());
  parts.pop_back();
  long sum = last.get();
  last = here.async<&fib>(10);
  for (auto& part : parts) sum += part.get();
  return sum + last.get();
}
long sum_in_order(int n) {
  std::array<long, 11> fibs{0, 1};
  for (std::size_t i = 2; i < fibs.size(); ++i) fibs.at(i) = fibs.at(i - 1) + fibs.at(i - 2);
  long sum = fibs[10];
  for (int i = 0; i < n; ++i) sum += fibs.at(static_cast<std::size_t>(i % 10));
  return sum;
}

TYPED_TEST(cluster, futures_move) {
  static_assert(std::is_nothrow_move_constructible_v<filch::future<long>>);
  on_ranks<TypeParam>(
      3, 1, 3, [](auto& c) { EXPECT_EQ((c.template fold<&sum_of_futures>(std::plus<>(), 100)), sum_in_order(100)); });
}

long number_of(filch::rank&, brittle const& b) { return b.number; }

TYPED_TEST(cluster, an_argument_that_throws_as_it_is_copied_leaves_on_every_rank) {
  on_ranks<TypeParam>(3, 1, 3, [](auto& c) {
    // The first copy makes the task, the second begins it.
    for (long copies : {1, 2}) {
      brittle const b(copies, brittle::when::copied);
      EXPECT_THROW((c.template fold<&number_of>(std::plus<>(), b)), filch::task_error) << copies;
    }
    EXPECT_EQ((c.template fold<&number_of>(std::plus<>(), brittle(2, brittle::when::never))), 2);
  });
}

void raises(filch::rank& here, filch::bound b, int n) {
  EXPECT_GE(here.value(b), -5);
  here.raise(b, n);
  for (int i = 2 * n + 1; i <= 2 * n + 2 && i < 500; ++i) here.spawn<&raises>(b, i);
}

TYPED_TEST(cluster, a_bound_is_the_same_on_all_ranks_after_a_run) {
  on_ranks<TypeParam>(5, 1, 4, [](auto& c) {
    filch::bound const b = c.make_bound(-5);
    for (int run = 0; run < 3; ++run) {
      c.template run<&raises>(b, 0);
      EXPECT_EQ(c.value(b), 499);
      c.reset(b, -5);
      EXPECT_EQ(c.value(b), -5);
    }
  });
}

void raises_to(filch::rank& here, filch::bound b, long value) { here.raise(b, value); }

TYPED_TEST(cluster, a_bound_is_that_of_the_last_run_while_ranks_are_in_the_next_one) {
  on_ranks<TypeParam>(3, 1, 7, [](auto& c) {
    filch::bound const b = c.make_bound(0);
    for (long run = 1; run <= 200; ++run) {
      c.template run<&raises_to>(b, run);
      ASSERT_EQ(c.value(b), run);
    }
  });
}

void looks_at(filch::rank& here, filch::bound b) { static_cast<void>(here.value(b)); }

TYPED_TEST(cluster, a_bound_of_another_cluster_is_refused) {
  std::array<filch::bound, 2> of_before{};
  for (bool const is_first : {true, false}) {
    on_ranks<TypeParam>(2, 1, 3, [&](auto& c) {
      filch::bound const b = c.make_bound(0);
      c.template run<&looks_at>(b);
      if (is_first) {
        of_before.at(static_cast<std::size_t>(c.rank())) = b;
        return;
      }
      filch::bound const stranger = of_before.at(static_cast<std::size_t>(c.rank()));
      EXPECT_EQ(stranger.cluster, of_before[0].cluster) << "the same on all ranks";
      EXPECT_THROW(c.value(stranger), std::invalid_argument);
      EXPECT_THROW((c.template run<&looks_at>(stranger)), filch::task_error);
      EXPECT_THROW((c.template run<&raises_to>(stranger, 1L)), filch::task_error);
    });
  }
}

TYPED_TEST(cluster, reduces_values_of_all_ranks) {
  on_ranks<TypeParam>(7, 1, 5, [](auto& c) {
    EXPECT_EQ((c.reduce(std::plus<>(), c.rank() + 1)), 28);
    EXPECT_EQ(
        c.reduce([](std::string const& a, std::string const& b) { return std::max(a, b); }, std::to_string(c.rank())),
        "6");
  });
}

template <class S> std::array<filch::cluster<S>*, 2> clusters_of_ranks{};
template <class S> long calls_the_cluster(filch::rank& here, int function) {
  filch::cluster<S>& all = *clusters_of_ranks<S>.at(static_cast<std::size_t>(here.index()));
  switch (function) {
    case 0: all.template run<&throws_at>(500); return 0;
    case 1: return all.template fold<&fib>(std::plus<>(), 3);
    case 2: return all.reduce(std::plus<>(), 1L);
    case 3: return all.make_bound(0).id;
    default: all.reset({}, 0); return 0;
  }
}

// Otherwise this rank waits for the others in another call than they are in.
TYPED_TEST(cluster, tasks_can_not_call_their_cluster) {
  on_ranks<TypeParam>(2, 2, 8, [](auto& c) {
    clusters_of_ranks<TypeParam>.at(static_cast<std::size_t>(c.rank())) = &c;
    for (int function = 0; function < 5; ++function) {
      try {
        c.template fold<&calls_the_cluster<TypeParam>>(std::plus<>(), function);
        ADD_FAILURE() << "nothing thrown";
      } catch (filch::task_error const& e) {
        EXPECT_STREQ(e.type(), "std::logic_error") << e.what();
      }
    }
    auto const op = [&c](long a, long b) { return c.reduce(std::plus<>(), a + b); };
    EXPECT_THROW(c.reduce(op, 1L), filch::task_error);
    EXPECT_EQ(c.reduce(std::plus<>(), 1L), 2) << "the next call is clean";
  });
}

template <class S> long joins(filch::rank&, int n) {
  auto [a, b] = filch::join<S>([] { return 1L; }, [n] { return long{n}; });
  return a + b;
}

TYPED_TEST(cluster, tasks_join_in_their_ranks_pool) {
  on_ranks<TypeParam>(2, 2, 6, [](auto& c) { EXPECT_EQ((c.template fold<&joins<TypeParam>>(std::plus<>(), 3)), 4); });
}

}  // namespace
}  // namespace filch_test
