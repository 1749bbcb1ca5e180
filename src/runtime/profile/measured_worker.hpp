// The part of a measured worker that all schedulers have: a record of each task that it has forked and not joined.
#pragma once

#include "os/linux/memory.hpp"
#include "runtime/profile/record.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

namespace filch::runtime::profile {

/// Its owner alone uses it.
class measured_worker {
 public:
  measured_worker(measured_worker const&) = delete;
  measured_worker& operator=(measured_worker const&) = delete;
  virtual ~measured_worker();
  bool is_valid() const noexcept { return room_.valid(); }
  /// The record of the worker's thread, while a call lasts. Returns the one before.
  record* use(record* r) noexcept { return std::exchange(record_, r); }
  record& of_thread() noexcept { return *record_; }
  /// Shall loops of the code that runs now split?
  bool loops_split() const noexcept { return loops_split_; }

 protected:
  /// At most so many tasks are open at a time.
  explicit measured_worker(std::ptrdiff_t most) noexcept
      : room_(static_cast<std::size_t>(most) * sizeof(open_task)), most_(most) {}

  std::ptrdiff_t most_open_tasks() const noexcept { return most_; }
  open_task& open(std::ptrdiff_t i) noexcept { return reinterpret_cast<open_task*>(room_.low())[i]; }
  open_task const* end_of_open_tasks() noexcept { return &open(0) + most_; }
  /// Page faults would be in segments. Returns how many records it has written.
  std::ptrdiff_t touch_open_tasks() noexcept {
    std::ptrdiff_t const touched = std::min<std::ptrdiff_t>(most_, 8192);
    for (std::ptrdiff_t i = 0; i < touched; ++i) ::new (static_cast<void*>(&open(i))) open_task;
    return touched;
  }
  /// A fork, or a spawn, whose record is number i.
  void forked(std::ptrdiff_t i, code task) noexcept {
    constexpr std::ptrdiff_t k_cache_lines = 2;
    auto& made = *::new (static_cast<void*>(&open(i))) open_task;
    record_->forked(made, task);
    // Else the stores above, and at the next fork, would stall the code of the program.
    for (std::ptrdiff_t line = 0; line < k_cache_lines; ++line)
      __builtin_prefetch(reinterpret_cast<std::byte*>(&made + 1) + line * 64, 1);
  }
  /// Splitting of loops to the last iteration would cost more than it shows.
  bool loops_change() noexcept {
    bool const split = record_->lets_loops_split();
    return split != std::exchange(loops_split_, split);
  }

  record* record_ = nullptr;

 private:
  os::reservation room_;  // the records
  std::ptrdiff_t const most_;
  bool loops_split_ = true;
};

}  // namespace filch::runtime::profile
