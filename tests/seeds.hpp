// Random trees that are not stored: everything about a node follows from its seed.
#pragma once

#include "scale.hpp"

#include <gtest/gtest.h>
#include <filch/pool_options.hpp>

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

namespace filch_test {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

inline std::uint64_t combine(std::uint64_t a, std::uint64_t b) { return mix(a * 31 + b); }

/// A number from the environment.
inline std::uint64_t number_from(char const* name, std::uint64_t otherwise) {
  char const* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// Calls try_tree(pool, seed) for FILCH_TEST_TREES seeds, or scaled(trees), in pools of 1 to `most_workers` of S's
/// workers, until one fails. FILCH_TEST_SEED=n: for that one.
template <class S, class Try> void for_each_seed(unsigned most_workers, std::size_t trees, Try try_tree) {
  std::size_t const count = number_from("FILCH_TEST_TREES", scaled(trees));
  bool const is_one = std::getenv("FILCH_TEST_SEED") != nullptr;
  std::uint64_t const first = number_from("FILCH_TEST_SEED", std::random_device{}());
  for (unsigned workers = 1; workers <= most_workers; ++workers) {
    // If every join changes threads, trimming stacks at each join would take most of the time.
    auto const give_back = workers % 4 == 2 ? filch::give_back_policy::madvise : filch::give_back_policy::none;
    typename S::pool pool({.workers = workers, .stack_give_back = give_back});
    for (std::size_t i = 0; i < (count + most_workers - 1) / most_workers; ++i) {
      try_tree(pool, is_one ? first : first + i * most_workers + workers);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Sends SIGUSR2 to the threads in turn, a thousand times a second, as long as it lives.
class signals_to {
 public:
  template <class Threads> explicit signals_to(Threads& threads) {
    struct sigaction action{};
    action.sa_handler = [](int) { count_.fetch_add(1, std::memory_order_relaxed); };
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    sender_ = std::thread([this, &threads] {
      for (std::size_t i = 0; !is_over_; ++i) {
        pthread_kill(threads[i % threads.size()].native_handle(), SIGUSR2);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  signals_to(signals_to const&) = delete;
  signals_to& operator=(signals_to const&) = delete;
  /// The handler stays: the last signals may be on their way.
  ~signals_to() {
    is_over_ = true;
    sender_.join();
  }

 private:
  inline static std::atomic<unsigned> count_{0};
  std::atomic<bool> is_over_{false};
  std::thread sender_;
};

/// The same from eight threads at once, beside signals. FILCH_TEST_SEED=n is the first seed there, so that a long run
/// can be taken up where it ended: each pool says which seeds it had.
template <class S, class Try>
void for_each_seed_from_callers(unsigned most_workers, std::size_t trees, Try try_tree) {
  std::size_t const count = number_from("FILCH_TEST_TREES", scaled(trees));
  std::uint64_t first = number_from("FILCH_TEST_SEED", std::random_device{}());
  for (unsigned workers = 1; workers <= most_workers; ++workers) {
    std::uint64_t const end = first + (count + most_workers - 1) / most_workers;
    typename S::pool pool({.workers = workers, .stack_give_back = filch::give_back_policy::none});
    std::atomic<std::uint64_t> next{first};
    std::atomic<bool> failed{false};
    std::array<std::thread, 8> callers;
    std::atomic<unsigned> done{0};
    for (auto& c : callers) {
      c = std::thread([&] {
        for (std::uint64_t seed = next++; seed < end && !failed; seed = next++) {
          try_tree(pool, seed);
          if (::testing::Test::HasFailure()) failed = true;
        }
        ++done;
        // A thread that has ended gets no signals.
        while (done != callers.size()) std::this_thread::yield();
      });
    }
    {
      signals_to const beside(callers);
      while (done != callers.size()) std::this_thread::yield();
    }
    for (auto& c : callers) c.join();
    if (failed) return;
    if (std::getenv("FILCH_TEST_TREES")) {
      std::printf("%u workers, 8 callers: seeds %llu to %llu passed\n", workers,
                  static_cast<unsigned long long>(first), static_cast<unsigned long long>(end - 1));
      std::fflush(stdout);
    }
    first = end;
  }
}

}  // namespace filch_test
