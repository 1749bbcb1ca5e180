// The newest events of one place. Its worker alone adds; the writer of the trace reads while the worker may go on.
#pragma once

#include "os/linux/memory.hpp"
#include "runtime/trace/events.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace filch::runtime::trace {

class ring {
 public:
  /// Makes room for so many events, rounded up to a power of two. Memory is used as events come. Without address
  /// space the ring stays closed, and counts what it drops.
  void open(std::size_t events) noexcept {
    std::size_t const room = std::bit_ceil(events);
    memory_ = os::reservation(room * k_bytes);
    if (memory_.valid()) mask_ = room - 1;
  }
  bool is_open() const noexcept { return memory_.valid(); }
  /// When no more are added: keeps the events, and gives the address space back. Throws std::bad_alloc.
  void close(unsigned place) {
    if (!memory_.valid()) return;
    std::vector<event> all;
    read(place, all);
    all.shrink_to_fit();
    kept_ = std::move(all);
    memory_ = os::reservation();
  }

  /// Worker: the newest event takes the oldest one's slot.
  void add(std::uint64_t time, std::uint64_t word) noexcept {
    std::uint64_t const number = added();
    if (memory_.valid()) {
      // edge trace-2: a reader that sees a part of this event sees the count before it, and discards the slot.
      std::atomic_thread_fence(std::memory_order_release);
      put(number, 0, time);
      put(number, 1, word);
    }
    // edge trace-1: release, the event, and the room for it.
    added_.store(number + 1, std::memory_order_release);
  }

  /// Any thread: appends the events that are there. Returns the number of those that are not.
  std::uint64_t read(unsigned place, std::vector<event>& to) const {
    // edge trace-1: acquire, the events before it. Until there is one, the worker may be making room.
    std::uint64_t const end = added_.load(std::memory_order_acquire);
    if (end == 0) return 0;
    if (!memory_.valid()) {
      to.insert(to.end(), kept_.begin(), kept_.end());
      return end - kept_.size();
    }
    std::uint64_t const room = mask_ + 1;
    std::uint64_t first = end > room ? end - room : 0;
    std::size_t const before = to.size();
    for (std::uint64_t i = first; i != end; ++i) {
      std::uint64_t const time = get(i, 0);
      to.push_back({time, get(i, 1), place, static_cast<std::uint32_t>(i - first)});
    }
    // edge trace-2: acquire. The slot of event number `now` may be half written.
    std::atomic_thread_fence(std::memory_order_acquire);
    std::uint64_t const now = added();
    std::uint64_t const valid = now + 1 > room ? now + 1 - room : 0;
    if (valid > first) {
      auto const lost = static_cast<std::ptrdiff_t>(std::min(valid, end) - first);
      auto const begin = to.begin() + static_cast<std::ptrdiff_t>(before);
      to.erase(begin, begin + lost);
      first = std::min(valid, end);
    }
    return first;
  }

 private:
  static constexpr std::size_t k_bytes = 16;

  /// relaxed: the worker's own count, or of one that left the place before (edge entry-2); to a reader the fence
  /// orders it.
  std::uint64_t added() const noexcept { return added_.load(std::memory_order_relaxed); }
  /// relaxed: edges trace-1 and trace-2 order the words.
  void put(std::uint64_t number, std::size_t word, std::uint64_t value) const noexcept {
    word_at(number, word).store(value, std::memory_order_relaxed);
  }
  /// relaxed: the same.
  std::uint64_t get(std::uint64_t number, std::size_t word) const noexcept {
    return word_at(number, word).load(std::memory_order_relaxed);
  }
  std::atomic_ref<std::uint64_t> word_at(std::uint64_t number, std::size_t word) const noexcept {
    auto* const at = memory_.low() + (number & mask_) * k_bytes + word * sizeof(std::uint64_t);
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
  }

  os::reservation memory_;
  std::uint64_t mask_ = 0;
  std::atomic<std::uint64_t> added_{0};
  std::vector<event> kept_;  // once it is closed
};

}  // namespace filch::runtime::trace
