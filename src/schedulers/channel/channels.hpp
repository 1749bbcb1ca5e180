// The channels between workers, and what travels in them: the only things that two workers of a channel team share.
// The bell and the future, which fast paths touch, are in channel_words.hpp. Edges: protocol.md beside this file.
#pragma once

#include <filch/detail/channel_task.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// A steal request, as it travels.
struct request {
  std::uint16_t thief;
  std::uint16_t passed_on = 0;              // so many times
  std::uint8_t is_there = 1;                // so that no request is zero
  bool wants_half = false;                  // of the victim's tasks, else one
  bool stands = false;                      // is with every worker; stays where it is until it is answered
  victim_order order = victim_order::last;  // in which to look for victims
};

/// Steal requests on their way to one worker: many producers, one consumer. Each thief has a place in it, and one
/// request out at a time, so it is never full and no send fails or waits. What it says is only that the thief asked:
/// whoever wants to answer claims the thief's task channel first.
class request_channel {
 public:
  request_channel(unsigned workers, channel_bell& bell)
      : places_(std::make_unique<std::atomic<std::uint64_t>[]>(workers)), bell_(bell) {}

  /// The thief: in the place of what it left here before, which was of an earlier request or is the same one.
  void leave(request r) noexcept {
    // edge channel-1: seq_cst, before the ring; pairs with take().
    places_[r.thief].store(std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst);
    bell_.ring();
  }
  /// Another victim. Where the thief has left something itself, that does as well, and may say more.
  void pass_on(request r) noexcept {
    std::uint64_t nothing = 0;
    // edge channel-1: as in leave().
    if (places_[r.thief].compare_exchange_strong(nothing, std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst,
                                                 std::memory_order_relaxed)) {
      bell_.ring();
    }
  }

  /// The receiver.
  std::optional<request> take(unsigned thief) noexcept {
    // edge channel-1: seq_cst, after hush().
    if (places_[thief].load(std::memory_order_seq_cst) == 0) return std::nullopt;
    return unpacked(places_[thief].exchange(0, std::memory_order_seq_cst));
  }
  std::optional<request> peek(unsigned thief) const noexcept {
    // edge channel-1: as in take().
    return unpacked(places_[thief].load(std::memory_order_seq_cst));
  }
  /// The receiver: a standing request that it has nothing for. Also in the place of one that came meanwhile, which
  /// does not stand. relaxed: read by the receiver alone.
  void put_back(request r) noexcept {
    places_[r.thief].store(std::bit_cast<std::uint64_t>(r), std::memory_order_relaxed);
  }

  // Open while its receiver has, or may soon have, tasks. relaxed: a hint for choosing victims.
  void close() noexcept { open_.store(false, std::memory_order_relaxed); }
  void reopen() noexcept { open_.store(true, std::memory_order_relaxed); }
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }

 private:
  static std::optional<request> unpacked(std::uint64_t word) noexcept {
    if (word == 0) return std::nullopt;
    return std::bit_cast<request>(word);
  }

  std::unique_ptr<std::atomic<std::uint64_t>[]> const places_;  // by thief; zero: nothing
  channel_bell& bell_;
  alignas(k_cache_line) std::atomic<bool> open_{false};
};

/// Tasks that lie one behind the other in their owner's array.
struct batch {
  channel_task* first = nullptr;
  channel_task* last = nullptr;  // behind the last one
  unsigned owner = 0;

  std::size_t size() const noexcept { return static_cast<std::size_t>(last - first); }
  bool is_empty() const noexcept { return first == last; }
};

enum class [[nodiscard]] withdrawal { done, too_late };

/// Tasks on their way to one thief: a single consumer, and a single producer at a time. The thief opens it for one
/// message, which is its steal request; a victim that wants to answer claims the sender's end.
class alignas(k_cache_line) task_channel {
 public:
  /// Thief, while closed.
  void open() noexcept {
    // edge channel-2: release, that the message before was taken out. seq_cst: before the request, for channel-5.
    state_.store(k_open, std::memory_order_seq_cst);
  }
  /// Thief: no message is wanted any more. Too late where one is on its way.
  withdrawal withdraw() noexcept {
    std::uint32_t open = k_open;
    // relaxed: nothing was sent.
    return state_.compare_exchange_strong(open, k_closed, std::memory_order_relaxed, std::memory_order_relaxed)
               ? withdrawal::done
               : withdrawal::too_late;
  }
  /// Thief. edge channel-2: acquire, the message and the tasks.
  bool has_message() const noexcept { return state_.load(std::memory_order_acquire) == k_full; }
  /// Thief, about to sleep: has nobody begun to answer? edge channel-5: seq_cst, after the announcement.
  bool is_quiet() const noexcept {
    std::uint32_t const state = state_.load(std::memory_order_seq_cst);
    return state == k_open || state == k_closed;
  }
  /// Thief: the message, if it is there; closed then. It may hold no tasks: see take_back().
  std::optional<batch> receive() noexcept {
    std::uint32_t full = k_full;
    // edge channel-2: acquire, the message and the tasks.
    if (!state_.compare_exchange_strong(full, k_closed, std::memory_order_acquire, std::memory_order_relaxed)) {
      return std::nullopt;
    }
    return message_;
  }

  /// Victim: does the thief wait for an answer? edge channel-1: seq_cst, after the request was taken.
  bool is_open() const noexcept { return state_.load(std::memory_order_seq_cst) == k_open; }
  /// Victim: the sender's end is its own, and it must send.
  [[nodiscard]] bool claim() noexcept {
    std::uint32_t open = k_open;
    // edge channel-2: acquire, from open(): the place of the message is free.
    return state_.compare_exchange_strong(open, k_claimed, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  /// Owner of t: the thief has not looked yet, and t, which is the last of the tasks in the message, is its owner's
  /// again.
  [[nodiscard]] bool take_back(channel_task const& t) noexcept {
    std::uint32_t full = k_full;
    // edge channel-2: acquire, the message, which may be another worker's.
    if (!state_.compare_exchange_strong(full, k_claimed, std::memory_order_acquire, std::memory_order_relaxed)) {
      return false;
    }
    bool const is_there = message_.last == &t + 1 && !message_.is_empty();
    if (is_there) --message_.last;
    // edge channel-2: release, the message as it is now. The thief was woken for it, and finds at least that it was
    // answered.
    state_.store(k_full, std::memory_order_release);
    return is_there;
  }
  void send(batch b) noexcept {
    message_ = b;
    // edge channel-2: release, the message and the tasks. edge channel-5: seq_cst, before the look whether the thief
    // sleeps.
    state_.store(k_full, std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint32_t k_closed = 0;
  static constexpr std::uint32_t k_open = 1;
  static constexpr std::uint32_t k_claimed = 2;
  static constexpr std::uint32_t k_full = 3;

  std::atomic<std::uint32_t> state_{k_closed};
  batch message_;  // who claimed it, then the thief
};

}  // namespace filch::inline FILCH_ABI::detail
