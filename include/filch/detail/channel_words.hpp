// Those channels of the channel scheduler that its fast path touches. Their edges are argued in
// src/schedulers/channel/protocol.md.
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct channel_task;

/// Tells the receiver of a request channel that there may be something in it. The word holds a place in the
/// receiver's task array, or *kept*: there is something that the receiver left where it is, or *rung*: something may
/// have come since. Both are greater than every place: one compare of a fork's place asks all questions.
class channel_doorbell {
 public:
  constexpr explicit channel_doorbell(channel_task* quiet) noexcept : word_(quiet) {}

  /// Receiver. Is t below the place, or has the doorbell rung? relaxed: the place is the receiver's own store; a ring
  /// may as well be seen at the next fork.
  FILCH_INLINE bool is_above(channel_task const* t) const noexcept {
    return t < word_.load(std::memory_order_relaxed);
  }
  /// Receiver: may there be something? relaxed: as above.
  bool has_rung() const noexcept { return word_.load(std::memory_order_relaxed) >= kept(); }
  /// Receiver: is there only what it left? relaxed: as above.
  bool is_kept() const noexcept { return word_.load(std::memory_order_relaxed) == kept(); }

  /// Anybody, after a message was left. A store only where it has not rung, so that many senders share the line.
  /// edge channel-1: seq_cst, both; pairs with hush().
  void ring() noexcept {
    if (word_.load(std::memory_order_seq_cst) != rung()) word_.store(rung(), std::memory_order_seq_cst);
  }
  /// Receiver, before it looks at the messages: what comes later rings again. edge channel-1.
  void hush(channel_task* at) noexcept { word_.exchange(at, std::memory_order_seq_cst); }
  /// Receiver, which hushed it at that place, and left some messages: unless it has rung since. relaxed: for the
  /// receiver alone.
  void keep(channel_task* at) noexcept { move(at, kept()); }
  /// Receiver: moves the place, unless the doorbell has rung. relaxed: the place is for the receiver alone.
  void move(channel_task* from, channel_task* to) noexcept {
    word_.compare_exchange_strong(from, to, std::memory_order_relaxed, std::memory_order_relaxed);
  }

 private:
  static channel_task* kept() noexcept { return reinterpret_cast<channel_task*>(~std::uintptr_t{1}); }
  static channel_task* rung() noexcept { return reinterpret_cast<channel_task*>(~std::uintptr_t{0}); }

  std::atomic<channel_task*> word_;
};

enum class [[nodiscard]] future_state {
  pending,
  returned,  // the payload holds the result
  threw,     // the payload holds the exception
  declined,  // who had the task gives it back as it was
};

/// A future: a channel for one message, from who has a task that was sent away to who forked it. What the message
/// says of lies in the task's payload.
class channel_future {
 public:
  /// Owner, before it sends the task. relaxed: the sending publishes it.
  void expect_from(unsigned thief) noexcept { word_.store(k_sent + thief, std::memory_order_relaxed); }
  /// Owner, while pending: to whom the task was sent; nobody knows, or cares, whom it was passed on to.
  unsigned sent_to() const noexcept {
    // relaxed: the owner's own store.
    std::uintptr_t const word = word_.load(std::memory_order_relaxed);
    return word >= k_sent ? static_cast<unsigned>(word - k_sent) : k_no_worker;
  }
  /// Owner. edge channel-3: acquire, what the task did.
  future_state peek() const noexcept { return state_of(word_.load(std::memory_order_acquire)); }
  /// Owner, about to sleep until there is a message; false if there is one. edge channel-4: seq_cst, after the
  /// announcement.
  bool wait_for_message() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_seq_cst);
    while (state_of(word) == future_state::pending && word != k_waited) {
      if (word_.compare_exchange_weak(word, k_waited, std::memory_order_seq_cst, std::memory_order_relaxed)) {
        word = k_waited;
      }
    }
    return word == k_waited;
  }
  /// Owner, of a task that it has run itself and passes over: as if it had been sent away, and come back. relaxed:
  /// for the owner alone.
  void pass() noexcept {
    word_.store(static_cast<std::uintptr_t>(future_state::returned), std::memory_order_relaxed);
  }
  /// Owner, after the message: empty again. relaxed: nobody else looks until the task above is sent.
  void clear() noexcept { word_.store(k_empty, std::memory_order_relaxed); }

  /// Who has the task; true if its owner sleeps, or is about to. The task, with this channel, may be gone.
  /// edge channel-3, channel-4: seq_cst.
  [[nodiscard]] bool send(future_state message) noexcept {
    return word_.exchange(static_cast<std::uintptr_t>(message), std::memory_order_seq_cst) == k_waited;
  }

 private:
  static constexpr std::uintptr_t k_empty = 0;
  static constexpr std::uintptr_t k_waited = 4;  // pending, and the owner sleeps
  static constexpr std::uintptr_t k_sent = 8;    // + whom to; pending

  static future_state state_of(std::uintptr_t word) noexcept {
    return word < k_waited ? static_cast<future_state>(word) : future_state::pending;
  }

  std::atomic<std::uintptr_t> word_;
};
static_assert(static_cast<int>(future_state::pending) == 0 && static_cast<int>(future_state::declined) < 4);

}  // namespace filch::inline FILCH_ABI::detail
