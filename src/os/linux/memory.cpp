#include "os/linux/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace filch::os {

namespace {

std::size_t page_size() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::byte* reserve(std::size_t bytes) noexcept {
  void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

/// Aligned to its size, a power of two.
std::byte* reserve_aligned(std::size_t bytes) noexcept {
  std::byte* const p = reserve(2 * bytes);
  if (!p) return nullptr;
  std::size_t const past = reinterpret_cast<std::uintptr_t>(p) % bytes;
  std::size_t const before = past ? bytes - past : 0;
  if (before) munmap(p, before);
  munmap(p + before + bytes, bytes - before);
  return p + before;
}

}  // namespace

reservation::reservation(std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  std::size_t const rounded = (bytes + page - 1) / page * page;
  if (rounded < bytes || rounded + k_guard < rounded) return;
  start_ = guard_ = reserve(rounded + k_guard);
  if (!start_) return;
  whole_ = rounded + k_guard;
  if (mprotect(guard_ + k_guard, rounded, PROT_READ | PROT_WRITE) != 0) return;
  low_ = guard_ + k_guard;
  bytes_ = rounded;
}

reservation::reservation(std::size_t bytes, std::size_t lower_bytes) noexcept {
  std::size_t const page = page_size();
  std::size_t const rounded = (bytes + page - 1) / page * page;
  std::size_t const lower = (lower_bytes + page - 1) / page * page;
  constexpr std::size_t k_most = std::size_t{1} << 46;
  if (rounded < bytes || rounded > k_most || lower > k_most) {
    errno = ENOMEM;
    return;
  }
  std::size_t const whole = whole_bytes_for(bytes, lower_bytes);
  start_ = reserve_aligned(whole);
  if (!start_) return;
  whole_ = whole;
  guard_ = start_ + lower;
  std::byte* const low = start_ + whole - rounded;
  if (mprotect(start_, lower, PROT_READ | PROT_WRITE) != 0 || mprotect(low, rounded, PROT_READ | PROT_WRITE) != 0) {
    return;
  }
  low_ = low;
  bytes_ = rounded;
}

std::size_t reservation::whole_bytes_for(std::size_t bytes, std::size_t lower_bytes) noexcept {
  std::size_t const page = page_size();
  return std::bit_ceil((bytes + page - 1) / page * page + k_guard + (lower_bytes + page - 1) / page * page);
}

reservation::reservation(reservation&& other) noexcept { *this = std::move(other); }

reservation& reservation::operator=(reservation&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(whole_, other.whole_);
  std::swap(guard_, other.guard_);
  std::swap(low_, other.low_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

reservation::~reservation() {
  if (start_) munmap(start_, whole_);
}

bool reservation::guards(void const* address) const noexcept {
  auto const* const p = static_cast<std::byte const*>(address);
  return low_ && p >= guard_ && p < low_;
}

char const* describe_errno(int error) noexcept {
  char const* const text = strerrordesc_np(error);
  return text ? text : "unknown error";
}

}  // namespace filch::os
