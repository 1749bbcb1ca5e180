// Folds and reductions with an op that forks, or throws.
#include "eventually.hpp"
#include "network.hpp"
#include "schedulers.hpp"

#include <stdexcept>
#include <string>

namespace filch_test {
namespace {

/// A natural number. Zero has no digits.
struct digits {
  std::string text;
};
digits times(digits const& a, digits const& b) {
  if (a.text.empty() || b.text.empty()) return {};
  return {std::to_string(std::stol(a.text) * std::stol(b.text))};
}

}  // namespace
}  // namespace filch_test

// The rest of the message is the number. For zero it is empty.
template <> struct filch::packing<filch_test::digits> {
  static void pack(packer& p, filch_test::digits const& d) { p.put_bytes(d.text.data(), d.text.size()); }
  static filch_test::digits unpack(unpacker& u) {
    filch_test::digits d;
    for (;;) try {
        d.text += static_cast<char>(u.get_bytes(1)[0]);
      } catch (std::length_error const&) {
        return d;
      }
  }
};

namespace filch_test {
namespace {

template <class S> class cluster_folds : public ::testing::Test {};
TYPED_TEST_SUITE(cluster_folds, all_schedulers, scheduler_names);

TEST(cluster_fold, of_rank_workers_calls_op_under_no_lock) {
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
    EXPECT_TRUE(merged.pass()) << "another rank worker waits for this op";
  };
  two.merge();
  other.join();
  EXPECT_EQ(*whole.sum, 7);
}

/// A value whose copy may fork, and that has no move.
struct copied {
  explicit copied(long n) : number(n) {}
  copied(copied const& other) : number(other.number) {
    if (auto const f = std::exchange(in_copy, nullptr)) f();
  }
  copied& operator=(copied const&) = default;
  ~copied() = default;
  long number;
  static inline std::function<void()> in_copy;
};

TEST(cluster_fold, of_rank_workers_copies_values_under_no_lock) {
  auto const op = [](copied const& a, copied const& b) { return copied(a.number + b.number); };
  filch::detail::fold_of<copied, decltype(op)> whole{op};
  decltype(whole)::part one(whole);
  decltype(whole)::part two(whole);
  decltype(whole)::part four(whole);
  one.add(copied(1));
  two.add(copied(2));
  four.add(copied(4));
  one.merge();
  gate merged;
  std::thread other;
  copied::in_copy = [&] {
    other = std::thread([&] {
      four.merge();
      merged.open();
    });
    EXPECT_TRUE(merged.pass()) << "another rank worker waits for this copy";
  };
  two.merge();
  if (auto const f = std::exchange(copied::in_copy, nullptr)) f();  // nothing was copied
  other.join();
  EXPECT_EQ(whole.sum->number, 7);
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

TYPED_TEST(cluster_folds, throw_on_all_ranks_if_they_throw_on_one) {
  for (int ranks : {2, 3, 7}) {
    on_ranks<TypeParam>(ranks, 1, 5, [ranks](auto& c) {
      // Ranks with children in the tree: the first one, and the parent of the last one.
      for (int thrower : {0, (ranks - 2) / 2}) {
        auto const op = [&](int a, int b) {
          if (c.rank() == thrower) throw std::overflow_error("too many");
          return a + b;
        };
        try {
          c.reduce(op, 1);
          ADD_FAILURE() << "nothing thrown";
        } catch (filch::task_error const& e) {
          EXPECT_STREQ(e.what(), "too many");
        }
        EXPECT_EQ(c.reduce(std::plus<>(), 1), ranks);
      }
    });
  }
}

// A tree of many nodes, with an op that distinguishes a task's value from a sum.
TYPED_TEST(cluster_folds, of_runs_throw_on_all_ranks_or_on_none) {
  tree_node const root{mix(11), 7};
  long const nodes = root.nodes();
  auto const op = [](long a, long b) {
    if (a > 1 && b > 1) throw std::overflow_error("two sums");
    return a + b;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::atomic<int> thrown{0};
    on_ranks<TypeParam>(3, 2, seed, [&](auto& c) {
      try {
        EXPECT_EQ((c.template fold<&count_nodes>(op, root)), nodes);
      } catch (filch::task_error const& e) {
        EXPECT_STREQ(e.what(), "two sums");
        ++thrown;
      }
      EXPECT_EQ((c.template fold<&count_nodes>(std::plus<>(), root)), nodes);
    });
    EXPECT_TRUE(thrown == 0 || thrown == 3) << thrown;
  }
}

brittle gives(filch::rank&, int breaks) { return {1, static_cast<brittle::when>(breaks)}; }

TYPED_TEST(cluster_folds, throw_on_all_ranks_if_packing_throws) {
  using when = brittle::when;
  auto const op = [](brittle const& a, brittle const& b) { return brittle(a.number + b.number, when::never); };
  for (int thrower : {0, 1, 2}) {
    on_ranks<TypeParam>(3, 1, 5, [&](auto& c) {
      EXPECT_THROW(c.reduce(op, brittle(1, c.rank() == thrower ? when::packed : when::never)), filch::task_error);
      EXPECT_THROW((c.template fold<&gives>(op, static_cast<int>(when::packed))), filch::task_error);
      EXPECT_EQ(c.reduce(op, brittle(1, when::never)).number, 3);
    });
  }
}

TYPED_TEST(cluster_folds, throw_where_the_result_cannot_be_unpacked) {
  using when = brittle::when;
  // The sum of all, but no less, breaks.
  auto const op = [](brittle const& a, brittle const& b) {
    long const sum = a.number + b.number;
    return brittle(sum, sum == 3 ? when::unpacked : when::never);
  };
  on_ranks<TypeParam>(3, 1, 5, [&](auto& c) {
    EXPECT_THROW(c.reduce(op, brittle(1, when::never)), filch::task_error);
    EXPECT_THROW((c.template fold<&gives>(op, static_cast<int>(when::unpacked))), filch::task_error);
    EXPECT_EQ(c.reduce(std::plus<>(), 1), 3);
  });
}

digits five(filch::rank&) { return {"5"}; }
template <class S> digits zero_with_fives(filch::rank& here) {
  for (int i = 0; i < 20; ++i) here.spawn<&five>();
  return {};
}
template <class S> digits gets_zero(filch::rank& here) {
  auto zero = here.async<&zero_with_fives<S>>();
  here.poll();
  return zero.get();
}

TYPED_TEST(cluster_folds, call_op_for_values_without_bytes) {
  for (int ranks : {2, 3, 7}) {
    on_ranks<TypeParam>(ranks, 1, 5, [ranks](auto& c) {
      for (int of_zero = 0; of_zero < ranks; ++of_zero) {
        EXPECT_EQ(c.reduce(times, digits{c.rank() == of_zero ? "" : "5"}).text, "");
      }
      EXPECT_EQ((c.template fold<&zero_with_fives<TypeParam>>(times)).text, "");
      EXPECT_EQ((c.template fold<&gets_zero<TypeParam>>(times)).text, "");
      EXPECT_EQ((c.template fold<&five>(times)).text, "5") << "of the other ranks there is no value";
    });
  }
}

TEST(cluster_fold, continues_without_a_value_that_an_op_lost) {
  using value = std::unique_ptr<long>;
  bool throws = true;
  auto const op = [&throws](value a, value const& b) {
    EXPECT_TRUE(a);
    if (std::exchange(throws, false)) throw std::overflow_error("too many");
    *a += *b;
    return a;
  };
  filch::detail::fold_of<value, decltype(op)> whole{op};
  decltype(whole)::part one(whole);
  one.add(std::make_unique<long>(1));
  EXPECT_THROW(one.add(std::make_unique<long>(2)), std::overflow_error);
  one.add(std::make_unique<long>(4));
  one.add(std::make_unique<long>(8));
  one.merge();
  EXPECT_EQ(**whole.sum, 12);
}

class throwing final : public filch::detail::partial {
 public:
  throwing() noexcept : partial(typeid(void)) {}
  std::unique_ptr<partial> another() const override { return std::make_unique<throwing>(); }
  void merge() override { throw std::overflow_error("too many"); }
};

TEST(cluster_fold, of_rank_workers_that_throws_fails_the_run) {
  network net(1, 1);
  port here(net, 0);
  filch::detail::transport_of<port> carrier(here);
  filch::detail::endpoint endpoint_(carrier, 0);
  filch::detail::rank_worker mine(endpoint_, std::make_unique<throwing>());
  mine.merge();
  EXPECT_STREQ(filch::task_error::from(endpoint_.take_failure().value_or("none")).what(), "too many");
}

}  // namespace
}  // namespace filch_test
