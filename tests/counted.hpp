// A value that counts its objects: leaks and double destructions show.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace filch_test {

class counted {
 public:
  explicit counted(int value) noexcept : value_(value) { born(); }
  counted(counted const& other) noexcept : value_(other.value()) { born(); }
  counted(counted&& other) noexcept : value_(std::exchange(other.checked().value_, -1)) { born(); }
  counted& operator=(counted const& other) noexcept {
    checked().value_ = other.value();
    return *this;
  }
  ~counted() {
    EXPECT_EQ(mark_, k_alive) << "destroyed twice, or never made";
    mark_ = k_dead;
    alive_.fetch_sub(1, std::memory_order_relaxed);
  }

  int value() const noexcept {
    EXPECT_EQ(mark_, k_alive) << "used after its end";
    return value_;
  }
  static long alive() noexcept { return alive_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t k_alive = 0xa11feu;
  static constexpr std::uint32_t k_dead = 0xdeadu;

  void born() noexcept { alive_.fetch_add(1, std::memory_order_relaxed); }
  counted& checked() noexcept {
    EXPECT_EQ(mark_, k_alive) << "used after its end";
    return *this;
  }

  static inline std::atomic<long> alive_{0};
  std::uint32_t volatile mark_ = k_alive;
  int value_;
};

/// Fails the test in whose frame it stands if that leaves any `counted` behind.
class nothing_left_behind {
 public:
  nothing_left_behind() : before_(counted::alive()) {}
  nothing_left_behind(nothing_left_behind const&) = delete;
  nothing_left_behind& operator=(nothing_left_behind const&) = delete;
  ~nothing_left_behind() { EXPECT_EQ(counted::alive(), before_) << "leaked, or destroyed twice"; }

 private:
  long const before_;
};

}  // namespace filch_test
