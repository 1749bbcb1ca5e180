// The memory of a worker while other threads read it.
#include "runtime/worker_space.hpp"

#include "scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace filch_test {
namespace {

using filch::runtime::worker_space;

// A late thief reads a task where the owner's array was deep.
TEST(worker_space, can_be_read_above_the_stack_while_pages_go_back) {
  constexpr std::size_t k_mebibyte = std::size_t{1} << 20;
  worker_space space(k_mebibyte, 16 * k_mebibyte);
  ASSERT_TRUE(space.valid());
  std::byte* const in_use = space.middle();
  auto* const deep = reinterpret_cast<std::uint64_t*>(in_use + 8 * k_mebibyte);
  for (auto policy : {filch::give_back_policy::madvise, filch::give_back_policy::mmap}) {
    std::atomic<bool> reads{false};
    std::atomic<bool> stop{false};
    std::thread thief([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        static_cast<void>(std::atomic_ref(*deep).load(std::memory_order_relaxed));
        reads.store(true, std::memory_order_relaxed);
      }
    });
    while (!reads.load(std::memory_order_relaxed)) std::this_thread::yield();
    for (std::size_t i = 0; i < scaled(2'000); ++i) {
      // The words that it looks at.
      in_use[worker_space::k_kept_bytes] = std::byte{1};
      in_use[worker_space::k_most_left_bytes] = std::byte{1};
      EXPECT_TRUE(space.give_back(nullptr, in_use, policy, worker_space::when::leaves).is_done);
    }
    stop.store(true, std::memory_order_relaxed);
    thief.join();
  }
}

void work_for(std::chrono::microseconds time) {
  using clock = std::chrono::steady_clock;
  for (auto const begin = clock::now(); clock::now() - begin < time;) {
  }
}

// Frames may leave the inspected page blank: then only the system knows that pages below it are in memory. It is
// asked when calls have lasted for long enough. The time between calls does not count.
TEST(worker_space, asks_the_system_after_long_calls_alone) {
  constexpr auto k_long = std::chrono::milliseconds(2);
  constexpr std::size_t k_page = 4096;
  worker_space space(std::size_t{16} << 20, 0);
  ASSERT_TRUE(space.valid());
  auto const leave_after_call = [&](std::chrono::microseconds lasts) {
    space.begin_call();
    for (std::size_t const used : {worker_space::k_kept_bytes, worker_space::k_most_left_bytes}) {
      space.middle()[-static_cast<std::ptrdiff_t>(used + 4 * k_page)] = std::byte{1};
    }
    work_for(lasts);
    return space.give_back(space.middle(), nullptr, filch::give_back_policy::madvise, worker_space::when::leaves)
        .is_done;
  };
  EXPECT_TRUE(leave_after_call(k_long));
  constexpr int k_calls = 16;
  int asked = 0;
  for (int i = 0; i < k_calls; ++i) {
    work_for(k_long);
    asked += leave_after_call({});
  }
  EXPECT_LT(asked, k_calls / 2) << "unless another process had the processor, these calls were short";
  EXPECT_TRUE(leave_after_call(k_long));
}

}  // namespace
}  // namespace filch_test
