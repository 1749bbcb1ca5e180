// filch::worker_local: one value for each thread, in pools and outside.
#include "counted.hpp"
#include "scale.hpp"
#include "stealing.hpp"
#include "this_thread.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace filch_test {
namespace {

template <class S> class worker_local : public ::testing::Test {};
TYPED_TEST_SUITE(worker_local, all_schedulers, scheduler_names);

/// A value that finds out whether two tasks use it at once.
struct lone {
  std::atomic<bool> in_use{false};
  long count = 0;

  void use() {
    EXPECT_FALSE(in_use.exchange(true, std::memory_order_relaxed)) << "two threads have the same value";
    ++count;
    in_use.store(false, std::memory_order_relaxed);
  }
};

long total_of(filch::worker_local<lone>& values) {
  long all = 0;
  values.for_each([&](lone const& v) { all += v.count; });
  return all;
}

/// Each fork's side uses its thread's value, before the join and after it.
template <class S> long use_in_tree(filch::worker_local<lone>& values, int depth) {
  values.local().use();
  if (depth == 0) return 1;
  auto const [a, b] = filch::join<S>([&values, depth] { return use_in_tree<S>(values, depth - 1); },
                                     [&values, depth] { return use_in_tree<S>(values, depth - 1); });
  values.local().use();
  return a + b + 2;
}

TYPED_TEST(worker_local, sums_the_values_of_all_workers) {
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    filch::worker_local<long> sum;
    int const n = static_cast<int>(scaled(100'000));
    pool.run([&] { filch::for_index<TypeParam>(0, n, [&](int i) { sum.local() += i; }); });
    EXPECT_EQ(sum.combine(std::plus<>()), static_cast<long>(n) * (n - 1) / 2);
  }
}

TEST(worker_locals, are_made_by_what_can_be_moved_only) {
  filch::worker_local<int> values([seven = std::make_unique<int>(7)] { return *seven; });
  EXPECT_EQ(values.local(), 7);
}

TYPED_TEST(worker_local, begins_as_a_copy_of_the_value_given) {
  std::vector<int> first{1, 2};
  filch::worker_local<std::vector<int>> copied(std::as_const(first)), listed({1, 2});
  first.clear();
  typename TypeParam::pool pool({.workers = 2});
  pool.run([&] {
    filch::for_index<TypeParam>(0, 1000, [&](int) {
      copied.local().push_back(3);
      listed.local().push_back(3);
    });
  });
  for (auto* values : {&copied, &listed}) {
    std::size_t added = 0;
    values->for_each([&](std::vector<int> const& v) {
      ASSERT_GT(v.size(), 2u);
      EXPECT_EQ(v[0] * 10 + v[1], 12);
      added += v.size() - 2;
    });
    EXPECT_EQ(added, 1000u);
  }
  filch::worker_local<double> untouched(0.5);
  EXPECT_EQ(untouched.combine(std::plus<>()), 0.5);
}

TYPED_TEST(worker_local, is_used_by_one_task_at_a_time) {
  int const depth = is_sanitized || is_emulated ? 10 : 16;
  for (unsigned workers : {1u, 2u, 4u}) {
    typename TypeParam::pool pool({.workers = workers});
    filch::worker_local<lone> values;
    long const used = pool.run([&] { return use_in_tree<TypeParam>(values, depth); });
    EXPECT_EQ(total_of(values), used);
  }
}

TYPED_TEST(worker_local, serves_two_pools_nested_pools_and_threads_outside_at_once) {
  typename TypeParam::pool a({.workers = 2});
  typename TypeParam::pool b({.workers = 3});
  filch::worker_local<lone> values;
  std::atomic<long> used{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < scaled(100); ++i) {
        long mine = 1;
        values.local().use();
        if (t % 3 == 0) mine += a.run([&] { return use_in_tree<TypeParam>(values, 5); });
        if (t % 3 == 1) {
          mine += b.run([&] {
            auto const [x, y] =
                filch::join<TypeParam>([&] { return a.run([&] { return use_in_tree<TypeParam>(values, 4); }); },
                                       [&] { return use_in_tree<TypeParam>(values, 4); });
            return x + y;
          });
        }
        used.fetch_add(mine, std::memory_order_relaxed);
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(total_of(values), used.load());
}

TYPED_TEST(worker_local, is_the_thread_s_on_both_sides_of_a_join) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    filch::worker_local<long> values;
    bool const was_seen = eventually([&] {
      return pool.run([&] {
        long const thread_before = this_thread();
        long* const before = &values.local();
        join_with_late_thief<TypeParam>();
        bool const moved = this_thread() != thread_before;
        EXPECT_EQ(&values.local() != before, moved);
        return moved || !migrates<TypeParam>;
      });
    });
    EXPECT_TRUE(was_seen) << "the code after the join is never on another thread";
  }
}

TYPED_TEST(worker_local, makes_each_value_once) {
  typename TypeParam::pool pool({.workers = 4});
  std::atomic<int> made{0};
  filch::worker_local<int> values([&made] {
    ++made;
    return 1000;
  });
  pool.run([&] { filch::for_index<TypeParam>(0, 1000, [&](int) { ++values.local(); }); });
  int found = 0;
  int all = 0;
  values.for_each([&](int v) {
    ++found;
    all += v;
  });
  EXPECT_EQ(found, made.load());
  EXPECT_GE(found, 1);
  EXPECT_LE(found, 4);
  EXPECT_EQ(all, 1000 * found + 1000);
}

TYPED_TEST(worker_local, may_join_while_it_makes_a_value) {
  typename TypeParam::pool pool({.workers = 2});
  for (std::size_t i = 0; i < scaled(100); ++i) {
    filch::worker_local<lone*>* self = nullptr;
    filch::worker_local<lone> values;
    filch::worker_local<lone*> pointers([&] {
      filch::join<TypeParam>([&] { work_for(std::chrono::microseconds(5)); },
                             [&] {
                               if (filch::worker_local<lone*>* const p = std::exchange(self, nullptr)) p->local();
                             });
      return &values.local();
    });
    self = &pointers;
    pool.run([&] { pointers.local(); });
    int found = 0;
    pointers.for_each([&](lone*) { ++found; });
    EXPECT_GE(found, 1);
    EXPECT_LE(found, 2);
  }
}

TYPED_TEST(worker_local, begins_anew_after_clear) {
  nothing_left_behind const check;
  typename TypeParam::pool pool({.workers = 2});
  filch::worker_local<counted> values([] { return counted(7); });
  for (int turn = 0; turn < 3; ++turn) {
    pool.run([&] { filch::for_index<TypeParam>(0, 100, [&](int) { EXPECT_GE(values.local().value(), 7); }); });
    EXPECT_GE(counted::alive(), 1);
    values.clear();
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(values.combine([](counted a, counted const&) { return a; }).value(), 7);
  }
  values.local();
}

TEST(worker_local_of_threads, lies_in_cache_lines_of_its_own) {
  filch::worker_local<char> values;
  struct alignas(256) wide {
    char c = 'w';
  };
  filch::worker_local<wide> wides;
  std::set<std::uintptr_t> lines;
  gate all_there;
  std::atomic<int> there{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      values.local() = 'x';
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&wides.local()) % 256, 0u);
      if (++there == 8) all_there.open();
      EXPECT_TRUE(all_there.pass());
    });
  }
  for (auto& t : threads) t.join();
  values.for_each([&](char& c) { lines.insert(reinterpret_cast<std::uintptr_t>(&c) / 64); });
  EXPECT_EQ(lines.size(), 8u);
}

TEST(worker_local_of_threads, passes_from_a_thread_that_ended_to_one_that_begins) {
  filch::worker_local<long> sum;
  auto const threads = static_cast<long>(scaled(500));
  for (long i = 0; i < threads; ++i) std::thread([&] { ++sum.local(); }).join();
  int values = 0;
  sum.for_each([&](long) { ++values; });
  EXPECT_EQ(values, 1);
  EXPECT_EQ(sum.combine(std::plus<>()), threads);
}

TEST(worker_local_of_threads, is_still_there_in_the_destructors_of_thread_locals) {
  static filch::worker_local<lone>* values = nullptr;
  struct at_end {
    bool is_on = false;
    ~at_end() {
      if (is_on) values->local().use();
    }
  };
  filch::worker_local<lone> owned;
  values = &owned;
  for (std::size_t i = 0; i < scaled(100); ++i) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        thread_local at_end last;
        last.is_on = true;
        values->local().use();
      });
    }
    for (auto& t : threads) t.join();
  }
  EXPECT_EQ(total_of(owned), 8 * static_cast<long>(scaled(100)));
}

TEST(worker_local_of_threads, holds_many) {
  filch::worker_local<int> values;
  constexpr int k_threads = 150;
  std::atomic<int> there{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t) {
    threads.emplace_back([&] {
      values.local() = 1;
      ++there;
      EXPECT_TRUE(eventually([&] { return there.load() == k_threads; }));
      EXPECT_EQ(values.local(), 1);
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(values.combine(std::plus<>()), k_threads);
}

TEST(worker_local_of_threads, tries_again_after_an_exception) {
  bool throws = true;
  filch::worker_local<int> values([&throws] {
    if (throws) throw std::runtime_error("not yet");
    return 3;
  });
  EXPECT_THROW(values.local(), std::runtime_error);
  int found = 0;
  values.for_each([&](int) { ++found; });
  EXPECT_EQ(found, 0);
  throws = false;
  EXPECT_EQ(values.local(), 3);
}

TEST(worker_local_of_threads, combines_to_a_fresh_value_where_there_is_none) {
  filch::worker_local<std::vector<int>> values([] { return std::vector<int>{1, 2}; });
  EXPECT_EQ(values.combine([](auto, auto const& b) { return b; }), (std::vector<int>{1, 2}));
  filch::worker_local<long> sum;
  EXPECT_EQ(sum.combine(std::plus<>()), 0);
}

}  // namespace
}  // namespace filch_test
