// The memory of a worker while other threads read it.
#include "runtime/worker_space.hpp"

#include "scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
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

}  // namespace
}  // namespace filch_test
