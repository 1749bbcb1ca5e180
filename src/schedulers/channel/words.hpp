// The channels between workers, and what travels in them: all that two workers of a channel team share, but for who
// sleeps. The doorbell and the future, which fast paths touch, are in channel_words.hpp. Edges: protocol.md beside
// this file.
#pragma once

#include "schedulers/channel/messages.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// Steal requests on their way to one worker: many producers, one consumer. Each thief has a place in it, and one
/// request out at a time, so it is never full and no send fails or waits. What it says is only that the thief asked:
/// whoever wants to answer claims the thief's task channel first.
class request_channel {
 public:
  explicit request_channel(unsigned workers) : places_(std::make_unique<std::atomic<std::uint64_t>[]>(workers)) {}
  /// The receiver's place has its memory now. What was left here before is there, so the doorbell has rung.
  void belongs_to(channel_doorbell& doorbell) noexcept {
    doorbell.ring();
    // edge channel-7: release, the doorbell. seq_cst: whoever still rings the other one has left its note before.
    doorbell_.store(&doorbell, std::memory_order_seq_cst);
  }

  /// The thief: in the place of what it left here before, which was of an earlier request or is the same one.
  void leave(request r) noexcept {
    auto const note = std::bit_cast<std::uint64_t>(r);
    // edge channel-1: seq_cst, both, before the ring; pairs with take(). The same note may lie here still, at a place
    // where nobody works: its receiver takes it out after this.
    if (places_[r.thief].load(std::memory_order_seq_cst) != note) {
      places_[r.thief].store(note, std::memory_order_seq_cst);
    }
    ring();
  }
  /// Another victim. Where the thief has left something itself, that does as well, and may say more.
  void pass_on(request r) noexcept {
    std::uint64_t nothing = 0;
    // edge channel-1: as in leave().
    if (places_[r.thief].compare_exchange_strong(nothing, std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst,
                                                 std::memory_order_relaxed)) {
      ring();
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

  /// edge channel-7: acquire, the doorbell. edge channel-1: seq_cst, after the note.
  void ring() noexcept { doorbell_.load(std::memory_order_seq_cst)->ring(); }

  std::unique_ptr<std::atomic<std::uint64_t>[]> const places_;  // by thief; zero: nothing
  channel_doorbell nobodys_{nullptr};                           // until the receiver's place has its memory
  std::atomic<channel_doorbell*> doorbell_{&nobodys_};
  alignas(k_cache_line) std::atomic<bool> open_{false};
};

/// What the manager is told, which waits in a barrier until no detached task of its call is left: how many others
/// have, or are being sent, such tasks. Messages to it only add up, so that their sum is kept instead of them. There
/// is one census for each caller's place. It knows which call there is now: of others nobody waits for the tasks.
class alignas(k_cache_line) census {
 public:
  /// The caller, before its call has any task. relaxed: who adds to it was sent a task of the call since.
  void begin(task_root call) noexcept { word_.store(number_of(call) << k_bits, std::memory_order_relaxed); }
  /// Another worker is about to be sent such tasks by the one that says so; or makes the first that it has.
  void add(task_root call) noexcept { static_cast<void>(change(call, 1)); }
  /// Another worker has none any more. True if nobody has.
  [[nodiscard]] bool subtract(task_root call) noexcept { return change(call, ~std::uint64_t{0}); }
  /// The manager, of whose own tasks none is left: others have none either, but for itself `own` times.
  /// edge channel-6: acquire, what all tasks did; seq_cst, after the announcement.
  bool is_over(task_root call, unsigned own) const noexcept {
    return word_.load(std::memory_order_seq_cst) == (number_of(call) << k_bits | own);
  }

 private:
  static constexpr unsigned k_bits = 16;  // of the count: each place, and a message to each
  static constexpr std::uint64_t k_count = (std::uint64_t{1} << k_bits) - 1;

  static std::uint64_t number_of(task_root call) noexcept { return call.number() & (~std::uint64_t{0} >> k_bits); }
  bool change(task_root call, std::uint64_t by) noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if (word >> k_bits != number_of(call)) return false;  // relaxed: the call is over
      // edge channel-6: release, what its tasks did. seq_cst: before the look whether the manager sleeps.
    } while (!word_.compare_exchange_weak(word, word + by, std::memory_order_seq_cst, std::memory_order_relaxed));
    return ((word + by) & k_count) == 0;
  }

  std::atomic<std::uint64_t> word_{0};  // the number of the call; the count
};

/// Detached tasks on their way from callers that have left to the pool's threads: many producers, many consumers.
class left_tasks {
 public:
  void put(detached_list tasks) noexcept {
    channel_detached* head = newest_.load(std::memory_order_relaxed);
    do {
      tasks.end_before(head);
      // edge channel-8: release, the tasks. seq_cst: before the look for sleepers, for idle-1.
    } while (
        !newest_.compare_exchange_weak(head, tasks.first(), std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  /// edge channel-8: acquire, that there are some. edge idle-1: seq_cst, after the announcement.
  bool are_there() const noexcept { return newest_.load(std::memory_order_seq_cst) != nullptr; }
  /// edge channel-8: acquire, the tasks.
  detached_list take() noexcept { return detached_list(newest_.exchange(nullptr, std::memory_order_acquire)); }

 private:
  std::atomic<channel_detached*> newest_{nullptr};
};

/// Tasks on their way to one thief: a single consumer, and a single producer at a time. The thief opens it for one
/// message, which is its steal request; a victim that wants to answer claims the sender's end.
class alignas(k_cache_line) task_channel {
 public:
  /// Thief, while closed: for tasks that `wanted` admits.
  void open(task_root wanted) noexcept {
    // edge channel-2: release, that the message before was taken out. seq_cst: before the request, for channel-5.
    state_.store(k_open | wanted.word() << k_kind_bits, std::memory_order_seq_cst);
  }
  /// Thief: no message is wanted any more. False where one is on its way. relaxed, twice: nothing was sent.
  [[nodiscard]] bool withdraw() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);
    return kind(state) == k_open &&
           state_.compare_exchange_strong(state, k_closed, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Thief. edge channel-2: acquire, the message and the tasks.
  bool has_message() const noexcept { return is_message(state_.load(std::memory_order_acquire)); }
  /// Thief, about to sleep: has nobody begun to answer? edge channel-5: seq_cst, after the announcement.
  bool is_quiet() const noexcept {
    std::uint64_t const state = kind(state_.load(std::memory_order_seq_cst));
    return state == k_open || state == k_closed;
  }
  /// Thief: the message, if it is there; closed then. It may hold no tasks: see take_back().
  std::optional<batch> receive() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, the message and the tasks.
    if (!is_message(state) ||
        !state_.compare_exchange_strong(state, k_closed, std::memory_order_acquire, std::memory_order_relaxed)) {
      return std::nullopt;
    }
    return message_;
  }

  /// Victim: does the thief wait for an answer? For what? edge channel-1: seq_cst, after the request was taken.
  std::optional<task_root> wanted() const noexcept {
    std::uint64_t const state = state_.load(std::memory_order_seq_cst);
    if (!takes_message(state)) return std::nullopt;
    return task_root::from_word(state >> k_kind_bits);
  }
  /// Victim: was the thief told of a message that was taken back, and has not looked yet? relaxed: a hint.
  bool is_emptied() const noexcept { return kind(state_.load(std::memory_order_relaxed)) == k_emptied; }
  /// Victim, which has tasks of that root: true if the thief waits for such. The sender's end is its own then, and it
  /// must send.
  [[nodiscard]] bool claim(task_root has) noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, from open() or take_back(): the place of the message is free.
    while (takes_message(state) && task_root::from_word(state >> k_kind_bits).admits(has)) {
      if (state_.compare_exchange_weak(state, k_claimed, std::memory_order_seq_cst, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  /// Worker `me`, the owner of t: if it sent the message, the thief has not looked yet, and t is the last of the
  /// tasks in it, all of them are its own again, and others may send a message. Returns the first of them; null if
  /// not.
  [[nodiscard]] channel_task* take_back(channel_task& t, unsigned me) noexcept {
    std::uint64_t full = full_from(me);
    // Only who sent the message gets that far. relaxed: it wrote the message itself.
    if (!state_.compare_exchange_strong(full, k_claimed, std::memory_order_relaxed, std::memory_order_relaxed)) {
      return nullptr;
    }
    bool const is_there = message_.last == &t + 1 && !message_.is_empty();
    if (!is_there) {
      // edge channel-2: release, the message as it was.
      state_.store(full, std::memory_order_release);
      return nullptr;
    }
    message_.last = message_.first;
    channel_task* const first = message_.first;
    task_root const wanted = message_.is_for_any_root ? task_root::any() : message_.of;
    // edge channel-2: release, the message as it is now. The thief was woken for it, and finds at least that it was
    // answered.
    state_.store(k_emptied | wanted.word() << k_kind_bits, std::memory_order_release);
    return first;
  }
  void send(batch b) noexcept {
    message_ = b;
    // edge channel-2: release, the message and the tasks. edge channel-5: seq_cst, before the look whether the thief
    // sleeps.
    state_.store(full_from(b.from), std::memory_order_seq_cst);
  }

 private:
  static constexpr unsigned k_kind_bits = 3;
  static constexpr std::uint64_t k_closed = 0;
  static constexpr std::uint64_t k_open = 1;  // above it, the root of the tasks that its thief waits for
  static constexpr std::uint64_t k_claimed = 2;
  static constexpr std::uint64_t k_full = 3;     // above it, who sent the message
  static constexpr std::uint64_t k_emptied = 4;  // a message without tasks; above it, the root, as in k_open

  static constexpr bool is_message(std::uint64_t state) noexcept {
    return kind(state) == k_full || kind(state) == k_emptied;
  }
  static constexpr bool takes_message(std::uint64_t state) noexcept {
    return kind(state) == k_open || kind(state) == k_emptied;
  }
  static constexpr std::uint64_t kind(std::uint64_t state) noexcept { return state & ((1u << k_kind_bits) - 1); }
  static constexpr std::uint64_t full_from(unsigned sender) noexcept {
    return k_full | std::uint64_t{sender} << k_kind_bits;
  }

  std::atomic<std::uint64_t> state_{k_closed};
  batch message_;  // who claimed it, then the thief
};
static_assert(sizeof(task_channel) == k_cache_line, "a message is one transfer");

}  // namespace filch::inline FILCH_ABI::detail
