// Random numbers for the first victim of a thief.
#pragma once

#include <cstdint>

namespace filch::runtime {

/// Xorshift, another sequence for each worker. The quality does not matter.
class random_numbers {
 public:
  random_numbers() noexcept = default;
  explicit random_numbers(unsigned worker) noexcept : x_(2463534242u + worker * 2654435761u) {
    if (x_ == 0) x_ = 1;
  }
  std::uint32_t next() noexcept {
    x_ ^= x_ << 13;
    x_ ^= x_ >> 17;
    x_ ^= x_ << 5;
    return x_;
  }

 private:
  std::uint32_t x_ = 1;
};

}  // namespace filch::runtime
