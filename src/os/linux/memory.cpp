#include "os/linux/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace filch::os {

reservation::reservation(std::size_t bytes) noexcept {
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t const rounded = (bytes + page - 1) / page * page;
  if (rounded < bytes || rounded + k_guard < rounded) return;
  void* const p = mmap(nullptr, rounded + k_guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return;
  auto* const low = static_cast<std::byte*>(p) + k_guard;
  if (mprotect(low, rounded, PROT_READ | PROT_WRITE) != 0) {
    munmap(p, rounded + k_guard);
    return;
  }
  low_ = low;
  bytes_ = rounded;
}

reservation::reservation(reservation&& other) noexcept
    : low_(std::exchange(other.low_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

reservation& reservation::operator=(reservation&& other) noexcept {
  std::swap(low_, other.low_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

reservation::~reservation() {
  if (low_) munmap(low_ - k_guard, bytes_ + k_guard);
}

bool reservation::guards(void const* address) const noexcept {
  auto const* const p = static_cast<std::byte const*>(address);
  return low_ && p >= low_ - k_guard && p < low_;
}

char const* describe_errno(int error) noexcept {
  char const* const text = strerrordesc_np(error);
  return text ? text : "unknown error";
}

}  // namespace filch::os
