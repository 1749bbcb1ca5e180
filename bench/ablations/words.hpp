// The words that workers of task_stack.hpp share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace bench::ablations {

inline void rest() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// A thief that finds nothing for long leaves its processor to other programs.
class patience {
 public:
  void after(bool has_stolen) noexcept {
    if (has_stolen) {
      looks_ = 0;
    } else if (++looks_ < k_many) {
      rest();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  static constexpr unsigned k_many = 10'000;
  unsigned looks_ = 0;
};

struct descriptor;
using task_code = void (*)(descriptor*);

/// A task's state. The address of its code, which is even: it may be taken.
class task_state {
 public:
  using value = std::uintptr_t;
  static constexpr value k_empty = 0;
  static constexpr value k_done = 1;
  static bool is_task(value s) noexcept { return s != k_empty && s % 2 == 0; }
  static task_code code_of(value s) noexcept { return reinterpret_cast<task_code>(s); }
  static unsigned thief_of(value s) noexcept { return static_cast<unsigned>(s / 2 - 1); }

  value get() const noexcept { return word_.load(std::memory_order_acquire); }
  // Owner: publishes the payload; claim() and take_back() read it.
  void offer(task_code code) noexcept { word_.store(reinterpret_cast<value>(code), std::memory_order_release); }
  value take_back() noexcept { return word_.exchange(k_empty, std::memory_order_acq_rel); }
  // Thief.
  bool claim(value s) noexcept { return word_.compare_exchange_strong(s, k_empty, std::memory_order_acq_rel); }
  void give_back(value s) noexcept { word_.store(s, std::memory_order_release); }
  void is_stolen_by(unsigned thief) noexcept { word_.store(2 * thief + 3, std::memory_order_release); }
  /// Publishes the result; the owner's get() reads it.
  void is_done() noexcept { word_.store(k_done, std::memory_order_release); }

 private:
  std::atomic<value> word_{k_empty};
};

class flag {
 public:
  void set() noexcept { word_.store(true, std::memory_order_release); }
  void clear() noexcept { word_.store(false, std::memory_order_relaxed); }  // by the only reader
  bool is_set() const noexcept { return word_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> word_{false};
};

/// Thieves are awake during runs only, so that those of one pool do not disturb the runs of another.
class alarm {
 public:
  /// Returns when so many thieves are awake.
  void ring(unsigned thieves) noexcept {
    is_on_.store(true, std::memory_order_release);
    is_on_.notify_all();
    while (awake_.load(std::memory_order_acquire) != thieves) std::this_thread::yield();
  }
  /// Returns when all sleep.
  void stop() noexcept {
    is_on_.store(false, std::memory_order_release);
    while (awake_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }
  bool is_on() const noexcept { return is_on_.load(std::memory_order_acquire); }
  // Thief.
  void waits() noexcept { is_on_.wait(false, std::memory_order_acquire); }
  void is_awake() noexcept { awake_.fetch_add(1, std::memory_order_acq_rel); }
  void sleeps() noexcept { awake_.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  std::atomic<bool> is_on_{false};
  std::atomic<unsigned> awake_{0};
};

class spin_lock {
 public:
  bool try_acquire() noexcept { return !word_.exchange(true, std::memory_order_acquire); }
  void acquire() noexcept {
    while (!try_acquire()) {
      while (word_.load(std::memory_order_relaxed)) rest();  // the exchange acquires
    }
  }
  void release() noexcept { word_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> word_{false};
};

/// A pointer into a worker's descriptors.
class place {
 public:
  descriptor* get() const noexcept { return word_.load(std::memory_order_acquire); }
  void set(descriptor* t) noexcept { word_.store(t, std::memory_order_release); }
  /// Owner: the descriptors below are complete.
  void publish(descriptor* t) noexcept { set(t); }

 private:
  std::atomic<descriptor*> word_{nullptr};
};

/// A cache line.
struct alignas(64) descriptor {
  static constexpr std::size_t k_room = 32;
  task_state state;
  task_code code = nullptr;  // of tasks without a state
  bool is_public = true;     // owner
  flag done;                 // with joins::by_lock, as the next
  unsigned thief = 0;
  alignas(8) unsigned char payload[k_room];
};
static_assert(sizeof(descriptor) == 64);

struct worker_words {
  alignas(64) place bot;
  spin_lock lock;
  alignas(64) place shared_top;          // with joins::by_lock
  alignas(64) std::uint64_t steals = 0;  // owner
};

}  // namespace bench::ablations
