// The memory that a worker works in: its stack and, above it, what its scheduler keeps.
#pragma once

#include "os/linux/memory.hpp"

namespace filch::runtime {

/// One reservation: a guard, the stack, which grows down from middle(), and the scheduler's part, which
/// grows up from it. That both start in the middle of the same aligned mebibyte is for the processor's
/// first-level cache: on AMD's, two lines of one set whose addresses hash alike evict each other, and what
/// lies in one such block never does (docs/decisions/0002-worker-space.md).
class worker_space {
 public:
  worker_space() noexcept = default;
  /// On failure valid() is false and errno says why.
  worker_space(std::size_t stack_bytes, std::size_t upper_bytes) noexcept;

  bool valid() const noexcept { return all_.valid(); }
  std::byte* low() const noexcept { return all_.low(); }
  std::byte* middle() const noexcept { return middle_; }
  std::byte* high() const noexcept { return all_.high(); }
  std::size_t stack_bytes() const noexcept { return static_cast<std::size_t>(middle_ - all_.low()); }
  os::reservation const& reservation() const noexcept { return all_; }

 private:
  static constexpr std::size_t k_block = std::size_t{1} << 20;
  os::reservation all_;
  std::byte* middle_ = nullptr;
};

}  // namespace filch::runtime
