// Inputs on which sorts go wrong, and comparators that do.
#pragma once

#include "pieces.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

namespace filch_test {

/// Calls body(v) with n numbers in each of the patterns. No trace is around it: a trace belongs to a thread.
template <class Body> void for_patterns(std::size_t n, Body body) {
  auto const call = [&](char const*, auto const& value_at) {
    std::vector<int> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(value_at(i));
    body(v);
  };
  auto const random = numbers(n, -100'000, 100'000);
  auto const few = numbers(n, 0, 15);
  call("random", [&](std::size_t i) { return random[i]; });
  call("few values", [&](std::size_t i) { return few[i]; });
  call("sorted", [](std::size_t i) { return i / 2; });
  call("reversed", [n](std::size_t i) { return n - i; });
  call("reversed with equals", [n](std::size_t i) { return (n - i) / 3; });
  call("organ pipe", [n](std::size_t i) { return std::min(i, n - i); });
  call("all equal", [](std::size_t) { return 7; });
  call("saw", [](std::size_t i) { return i % 37; });
  call("near their places", [](std::size_t i) { return i ^ 7; });
  call("descending, each near its place", [n](std::size_t i) { return (n - i) ^ 7; });
  call("a few places away", [&](std::size_t i) { return static_cast<int>(i) + few[i]; });
  call("nearly sorted", [&](std::size_t i) { return i % 50 == 3 ? static_cast<std::size_t>(few[i]) : i; });
  call("descending, nearly", [&](std::size_t i) { return i % 50 == 3 ? static_cast<std::size_t>(few[i]) : n - i; });
  call("two great ones among the sorted", [n](std::size_t i) { return i % 100 > 97 ? n + i : i; });
  call("sorted, then random", [&](std::size_t i) { return i < n / 2 ? static_cast<int>(i) : random[i]; });
  call("sorted, then one", [n](std::size_t i) { return i + 1 == n ? n / 2 : i; });
  call("two runs", [n](std::size_t i) { return i < n / 2 ? i : i - n / 2; });
}

/// A comparator that decides as it is asked, so that each pivot is bad (McIlroy, A killer adversary for quicksort).
class killer {
 public:
  explicit killer(std::size_t n) : values_(n, k_gas) {}
  bool operator()(int of_x, int of_y) {
    auto const x = static_cast<std::size_t>(of_x), y = static_cast<std::size_t>(of_y);
    ++calls_;
    if (values_[x] == k_gas && values_[y] == k_gas) values_[x == candidate_ ? x : y] = solid_++;
    if (values_[x] == k_gas) {
      candidate_ = x;
    } else if (values_[y] == k_gas) {
      candidate_ = y;
    }
    return values_[x] < values_[y];
  }
  std::size_t calls() const { return calls_; }

 private:
  static constexpr std::size_t k_gas = ~std::size_t{0};
  std::vector<std::size_t> values_;
  std::size_t solid_ = 0, candidate_ = 0, calls_ = 0;
};

/// Answers that have no rule, or a bad one.
struct liar {
  int kind;
  std::atomic<unsigned>* state;
  bool operator()(int x, int y) const {
    if (kind == 0) return true;
    if (kind == 1) return x <= y;
    if (kind == 2) return (x ^ y) % 3 == 0;
    // relaxed: any number will do.
    return (state->fetch_add(0x9e3779b9, std::memory_order_relaxed) >> 13) % 2 != 0;
  }
};

/// A record of 128 bytes that can be moved only.
struct record {
  record(int k, int t) : key(k), tag(std::make_unique<int>(t)) {}
  int key;
  std::unique_ptr<int> tag;
  std::array<char, 112> other{};
};
static_assert(sizeof(record) == 128);

}  // namespace filch_test
