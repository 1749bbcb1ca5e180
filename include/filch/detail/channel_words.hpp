// The words of the channel scheduler that its fast path touches: the doorbell and the future. Every method is one
// transition and names its caller. Protocol: src/schedulers/channel/protocol.md, "Words" and "Edges"; the other words
// are in src/schedulers/channel/words.hpp.
#pragma once

#include <filch/detail/platform.hpp>

#include <atomic>
#include <cstdint>

namespace filch::inline FILCH_ABI::detail {

struct channel_task;

/// Tells a worker, the receiver of a request channel, that thieves request tasks. The word holds one of three:
///   a place in the receiver's task array   no request: the tasks below the place are sent away
///   *seen*                                 requests are there, and the receiver has looked at all of them in vain
///   *rung*                                 a new request may be there
/// Both marks are greater than every place, so a fork and a join ask all questions with one compare.
class channel_doorbell {
 public:
  constexpr explicit channel_doorbell(channel_task* place) noexcept : word_(place) {}

  /// Receiver: is t below the place, or are there requests? relaxed: the receiver stored the place itself, and may
  /// see a ring as late as its next fork.
  FILCH_INLINE bool is_above(channel_task const* t) const noexcept {
    return t < word_.load(std::memory_order_relaxed);
  }
  /// Receiver: may there be requests, seen or new? relaxed: as is_above().
  bool is_requested() const noexcept { return word_.load(std::memory_order_relaxed) >= seen(); }
  /// Receiver: are there only requests that it has seen? relaxed: as is_above().
  bool has_only_seen() const noexcept { return word_.load(std::memory_order_relaxed) == seen(); }
  /// Receiver, for checks: is the place this one, or are there requests? relaxed: as is_above().
  bool is_at(channel_task const* place) const noexcept {
    channel_task const* const word = word_.load(std::memory_order_relaxed);
    return word == place || word >= seen();
  }

  /// Sender, after it left a request. A doorbell that has rung is not stored to: many senders share its cache line.
  /// edge channel-1: seq_cst, both; pairs with clear().
  void ring() noexcept {
    if (word_.load(std::memory_order_seq_cst) != rung()) word_.store(rung(), std::memory_order_seq_cst);
  }
  /// Receiver, before it looks at the requests: a later request rings again. edge channel-1.
  void clear(channel_task* place) noexcept { word_.exchange(place, std::memory_order_seq_cst); }
  /// Receiver, after clear(place) and a look that left requests where they are. A ring since then stays. relaxed:
  /// read by the receiver alone.
  void mark_seen(channel_task* place) noexcept { move(place, seen()); }
  /// Receiver: moves the place. A ring since then stays. relaxed: read by the receiver alone.
  void move(channel_task* from, channel_task* to) noexcept {
    word_.compare_exchange_strong(from, to, std::memory_order_relaxed, std::memory_order_relaxed);
  }

 private:
  static channel_task* seen() noexcept { return reinterpret_cast<channel_task*>(~std::uintptr_t{1}); }
  static channel_task* rung() noexcept { return reinterpret_cast<channel_task*>(~std::uintptr_t{0}); }

  std::atomic<channel_task*> word_;
};

enum class [[nodiscard]] future_state {
  pending,
  returned,  // the payload holds the result
  threw,     // the payload holds the exception
  declined,  // the thief did not begin the task; the payload is as it was
};

/// A channel for one message, from the worker that received a task to the task's owner. The result or exception lies
/// in the task's payload.
class channel_future {
 public:
  /// Owner, before it sends the task. relaxed: the sending publishes it.
  void expect_from(unsigned thief) noexcept { word_.store(k_sent + thief, std::memory_order_relaxed); }
  /// Owner: the index of the worker that the task was sent to; k_no_worker if the future is not in that state. That
  /// worker may have sent the task on. relaxed: the owner's own store.
  unsigned sent_to() const noexcept {
    std::uintptr_t const word = word_.load(std::memory_order_relaxed);
    return word >= k_sent ? static_cast<unsigned>(word - k_sent) : k_no_worker;
  }
  /// Owner. edge channel-3: acquire, what the task did.
  future_state peek() const noexcept { return state_of(word_.load(std::memory_order_acquire)); }
  /// Owner, for checks: is the task private? relaxed: only the owner makes the future empty, or sends the task.
  bool is_empty() const noexcept { return word_.load(std::memory_order_relaxed) == k_empty; }
  /// Owner, before it sleeps until there is a message. Returns whether it may sleep: there is none yet.
  /// edge channel-4: seq_cst, after the announcement.
  [[nodiscard]] bool begin_wait() noexcept {
    std::uintptr_t word = word_.load(std::memory_order_seq_cst);
    while (state_of(word) == future_state::pending && word != k_waited) {
      if (word_.compare_exchange_weak(word, k_waited, std::memory_order_seq_cst, std::memory_order_relaxed)) {
        word = k_waited;
      }
    }
    return word == k_waited;
  }
  /// Owner: a task in the middle of the stack that it has run itself counts as sent away and returned. relaxed: read
  /// by the owner alone.
  void mark_returned() noexcept {
    word_.store(static_cast<std::uintptr_t>(future_state::returned), std::memory_order_relaxed);
  }
  /// Owner, after the message: empty again. relaxed: no other worker looks at it until the task is sent.
  void clear() noexcept { word_.store(k_empty, std::memory_order_relaxed); }

  /// Thief: sends the message. Returns whether the owner sleeps, or is about to. The task and this word may be gone.
  /// edge channel-3, channel-4: seq_cst.
  [[nodiscard]] bool send(future_state message) noexcept {
    return word_.exchange(static_cast<std::uintptr_t>(message), std::memory_order_seq_cst) == k_waited;
  }

 private:
  static constexpr std::uintptr_t k_empty = 0;   // the task is private
  static constexpr std::uintptr_t k_waited = 4;  // pending, and the owner sleeps
  static constexpr std::uintptr_t k_sent = 8;    // + index of the thief; pending

  static future_state state_of(std::uintptr_t word) noexcept {
    return word < k_waited ? static_cast<future_state>(word) : future_state::pending;
  }

  std::atomic<std::uintptr_t> word_;
};
static_assert(static_cast<int>(future_state::pending) == 0 && static_cast<int>(future_state::declined) < 4);

}  // namespace filch::inline FILCH_ABI::detail
