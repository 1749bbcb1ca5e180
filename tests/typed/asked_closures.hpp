// Closures that two files use. One of the files asks, first, whether they can be assigned: for GCC 12 they are not
// trivially copyable from then on. The linker keeps one copy of each function of Filch.
#pragma once

#include <filch/filch.hpp>

#include <atomic>
#include <chrono>

namespace filch_test {

inline std::atomic<int> begun{0};
/// Two words. Until the other one has begun, too, or for a while.
inline auto sum(long a, long b) {
  return [=] {
    auto const end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    for (++begun; begun < 2 && std::chrono::steady_clock::now() < end;) {
    }
    return a * 1'000 + b;
  };
}
inline auto adder(std::atomic<long>* to, long by) {
  return [=](int i) { to->fetch_add(by + i, std::memory_order_relaxed); };
}

template <class S> long results_in_other_file();

namespace {

/// 4006 of a join, 506,500 of a loop.
template <class S> long results_in_this_file() {
  begun = 0;
  auto const [x, y] = filch::join<S>(sum(1, 2), sum(3, 4));
  std::atomic<long> all{0};
  filch::for_index<S>(0, 1'000, adder(&all, 7));
  return x + y + all;
}

}  // namespace
}  // namespace filch_test
