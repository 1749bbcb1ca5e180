// A short list that grows, and is read without a lock: registries of functions and places, which stay for the
// process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

namespace filch::runtime {

template <class T, std::size_t N> class filled_once {
 public:
  /// Any thread. acquire: the entries.
  std::span<T const> all() const noexcept { return {entries_.data(), count_.load(std::memory_order_acquire)}; }
  /// Under the lock of all that add; throws if there is no room. release: the entry.
  void add(T const& entry) {
    std::size_t const n = all().size();
    entries_.at(n) = entry;
    count_.store(n + 1, std::memory_order_release);
  }

 private:
  std::array<T, N> entries_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace filch::runtime
