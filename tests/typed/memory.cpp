// After a deep recursion its pages go back to the system.
#include "memory.hpp"
#include "scale.hpp"
#include "stealing.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

namespace filch_test {
namespace {

constexpr std::size_t k_mebibyte = std::size_t{1} << 20;
constexpr std::size_t k_deep = 20 * k_mebibyte;
// Bytes for each worker: stack and tasks, and those that the allocator and the test keep.
constexpr std::size_t k_kept = 2 * k_mebibyte;
constexpr unsigned k_workers = 4;

/// Frames of so many bytes, of which one or two are written to.
template <std::size_t Bytes> [[gnu::noinline]] int go_down_sparsely(int n) {
  char volatile room[Bytes];
  room[0] = 1;
  return n == 0 ? room[0] : go_down_sparsely<Bytes>(n - 1) + room[0];
}

/// A recursion of joins of the same depth, so the descriptors of tasks take pages, too.
template <class S> int joins_down(int n) {
  if (n == 0) return 1;
  return filch::join<S>([=] { return joins_down<S>(n - 1); }, [] {}).first;
}

/// Calls body() on each worker of the pool, at once.
template <class S, class Body> void on_each_worker(typename S::pool& pool, Body const& body) {
  std::atomic<unsigned> arrived{0};
  auto const arrive = [&] {
    ++arrived;
    EXPECT_TRUE(eventually([&] {
      S::poll();
      return arrived == k_workers;
    }));
    body();
  };
  pool.run([&] {
    wait_for_thief<S>();
    filch::scope<S>([&](auto& s) {
      for (unsigned i = 1; i < k_workers; ++i) s.spawn([&] { arrive(); });
      arrive();
    });
  });
}

/// Does the memory of this process fall to that size?
[[maybe_unused]] bool comes_down_to(std::size_t bytes) {
  return eventually([&] { return status_bytes("VmRSS").value_or(0) <= bytes; }, std::chrono::seconds(10));
}

template <class S> class memory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!steals<S>) GTEST_SKIP() << "has no stacks";
    if (is_sanitized || is_emulated || !is_optimised || steals_are_forced<S>)
      GTEST_SKIP() << "memory is not the program's alone, or a thousand stacks have records";
  }

  template <class Body> static void expect_given_back(filch::give_back_policy policy, Body const& body) {
    if constexpr (steals<S>) {
      typename S::pool pool({.workers = k_workers, .stack_give_back = policy});
      on_each_worker<S>(pool, [] {});
      std::size_t const before = *status_bytes("VmRSS");
      for (int burst = 0; burst < 3; ++burst) {
        on_each_worker<S>(pool, body);
        EXPECT_TRUE(comes_down_to(before + k_workers * k_kept))
            << burst << ": " << *status_bytes("VmRSS") / k_mebibyte << " MiB, before: " << before / k_mebibyte;
      }
    }
  }
};
TYPED_TEST_SUITE(memory, all_schedulers, scheduler_names);

TYPED_TEST(memory, of_deep_recursions_goes_back_after_each_burst) {
  for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap})
    this->expect_given_back(policy, [] { EXPECT_EQ(go_down(k_deep), k_deep / 1024); });
}

TYPED_TEST(memory, of_deep_joins_goes_back) {
  this->expect_given_back(filch::give_back_policy::madvise, [] { EXPECT_EQ(joins_down<TypeParam>(100'000), 1); });
}

TYPED_TEST(memory, of_callers_past_the_last_place_goes_back) {
  if constexpr (steals<TypeParam>) {
    constexpr unsigned k_callers = 32;  // half of them have a place
    typename TypeParam::pool pool({.workers = 1});
    auto const all_call = [&](auto const& body) {
      std::atomic<unsigned> inside{0};
      std::vector<std::thread> threads;
      for (unsigned i = 0; i < k_callers; ++i) {
        threads.emplace_back([&] {
          pool.run([&] {
            ++inside;
            EXPECT_TRUE(eventually([&] { return inside == k_callers; }));
            body();
          });
        });
      }
      for (auto& t : threads) t.join();
    };
    all_call([] {});
    std::size_t const before = *status_bytes("VmRSS");
    for (int burst = 0; burst < 3; ++burst) {
      all_call([] { EXPECT_EQ(go_down(8 * k_mebibyte), 8 * 1024u); });
      EXPECT_TRUE(comes_down_to(before + k_callers * k_mebibyte))
          << burst << ": " << *status_bytes("VmRSS") / k_mebibyte << " MiB, before: " << before / k_mebibyte;
    }
  }
}

TYPED_TEST(memory, of_a_stand_in_goes_back_when_it_leaves) {
  if constexpr (steals<TypeParam> && !std::is_same_v<TypeParam, filch::channel>) {  // there, nothing is sent to it
    typename TypeParam::pool pool({.workers = 1});
    std::size_t const before = *status_bytes("VmRSS");
    for (int burst = 0; burst < 3; ++burst) {
      gate deep;
      pool.run([&] {
        filch::join<TypeParam>([&] { filch::blocking([&] { EXPECT_TRUE(deep.pass()); }); },
                               [&] {
                                 EXPECT_EQ(go_down(k_deep), k_deep / 1024);
                                 deep.open();
                               });
      });
      EXPECT_TRUE(comes_down_to(before + 2 * k_kept))
          << burst << ": " << *status_bytes("VmRSS") / k_mebibyte << " MiB, before: " << before / k_mebibyte;
    }
  }
}

TYPED_TEST(memory, of_frames_that_do_not_write_pages_goes_back) {
  this->expect_given_back(filch::give_back_policy::madvise,
                          [] { EXPECT_EQ(go_down_sparsely<20'000>(2'000), 2'001); });
}

TYPED_TEST(memory, of_workers_stays_on_request) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = k_workers, .stack_give_back = filch::give_back_policy::none});
    std::size_t const before = *status_bytes("VmRSS");
    std::atomic<std::uint64_t> slept{0};
    on_each_worker<TypeParam>(pool, [&] {
      slept = pool.stats().sleeps;  // none of them sleeps now
      EXPECT_EQ(go_down(k_deep), k_deep / 1024);
    });
    EXPECT_TRUE(eventually([&] { return pool.stats().sleeps >= slept + k_workers - 1; }));
    EXPECT_GE(*status_bytes("VmRSS"), before + k_deep * k_workers / 2);
    EXPECT_EQ(pool.stats().give_backs, 0u);
  }
}

TYPED_TEST(memory, of_shallow_calls_costs_no_system_calls) {
  if constexpr (steals<TypeParam> && !migrates<TypeParam>) {
    typename TypeParam::pool pool({.workers = 1});
    for (int i = 0; i < 10'000; ++i) pool.run([] { EXPECT_EQ(go_down(k_mebibyte / 16), 64u); });
    EXPECT_EQ(pool.stats().give_backs, 0u);
  }
}

TYPED_TEST(memory, goes_back_in_a_small_share_of_the_time_of_deep_calls) {
  if constexpr (steals<TypeParam> && !migrates<TypeParam>) {
    constexpr int k_calls = 1'000;
    typename TypeParam::pool pool({.workers = 1});
    for (int i = 0; i < k_calls; ++i) pool.run([] { EXPECT_EQ(go_down(k_mebibyte), 1024u); });
    EXPECT_LT(pool.stats().give_backs, std::uint64_t{k_calls} / 4);
  }
}

TYPED_TEST(memory, below_a_worker_that_sleeps_in_a_join_goes_back) {
  if constexpr (steals<TypeParam>) {
    typename TypeParam::pool pool({.workers = 2});
    pool.run([&] {
      std::size_t const before = *status_bytes("VmRSS");
      gate begun;
      wait_for_thief<TypeParam>();
      filch::join<TypeParam>(
          [&] {
            EXPECT_TRUE(begun.pass());
            EXPECT_EQ(go_down(k_deep), k_deep / 1024);
          },
          [&] {
            begun.open();
            EXPECT_TRUE(eventually([&] { return pool.stats().give_backs > 0; })) << "nothing is given back";
            EXPECT_TRUE(comes_down_to(before + 2 * k_kept));
          });
    });
  }
}

}  // namespace
}  // namespace filch_test
