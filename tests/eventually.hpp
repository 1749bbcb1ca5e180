// Waits for a condition, not for time to pass.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace filch_test {

/// Looks until condition() holds, giving the processor away between looks. False after half a minute: far
/// longer than any machine needs, so that a broken promise fails a test instead of hanging it.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  auto const until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Keeps the processor busy for so long.
inline void work_for(std::chrono::microseconds time) {
  auto const until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// Closed at first. pass() waits until another thread opens it.
class gate {
 public:
  void open() noexcept { open_.store(true, std::memory_order_release); }
  void close() noexcept { open_.store(false, std::memory_order_release); }
  bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
  [[nodiscard]] bool pass() const {
    return eventually([this] { return is_open(); });
  }

 private:
  std::atomic<bool> open_{false};
};

}  // namespace filch_test
