// The channels between workers of filch::channel: all words that two workers share, except those by which sleepers
// are woken (runtime/idle.hpp). Every method is one transition and names its caller. The doorbell and the future,
// which the fast path touches, are in channel_words.hpp. Protocol: protocol.md, "Words", "States" and "Edges".
#pragma once

#include "schedulers/channel/messages.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace filch::inline FILCH_ABI::detail {

/// Steal requests to one worker: many senders, one receiver. Each thief has a slot, and one request out at a time, so
/// no send waits or fails. A request only says that the thief asked: a victim claims the thief's task channel before
/// it answers.
class request_channel {
 public:
  explicit request_channel(unsigned places) : slots_(std::make_unique<std::atomic<std::uint64_t>[]>(places)) {}

  /// Receiver, when its place gets its memory. Requests may be there already, so the doorbell rings.
  void attach(channel_doorbell& doorbell) noexcept {
    doorbell.ring();
    // edge channel-7: release, the doorbell. seq_cst: a thief that still loads the old address left its request
    // before.
    doorbell_.store(&doorbell, std::memory_order_seq_cst);
  }

  /// Thief: replaces its older request, if one is in the slot.
  void leave(request r) noexcept {
    auto const word = std::bit_cast<std::uint64_t>(r);
    // edge channel-1: seq_cst, both, before the ring; pairs with take(). The same request may lie here from before,
    // at a place where no thread works: the receiver takes it out after this load.
    if (slots_[r.thief].load(std::memory_order_seq_cst) != word) {
      slots_[r.thief].store(word, std::memory_order_seq_cst);
    }
    ring();
  }
  /// Another victim. A request that the thief left here itself stays: it serves as well, and may be a broadcast.
  void pass_on(request r) noexcept {
    std::uint64_t nothing = 0;
    // edge channel-1: as in leave().
    if (slots_[r.thief].compare_exchange_strong(nothing, std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst,
                                                std::memory_order_relaxed)) {
      ring();
    }
  }

  /// Receiver: takes the thief's request out.
  std::optional<request> take(unsigned thief) noexcept {
    // edge channel-1: seq_cst, after channel_doorbell::clear().
    if (slots_[thief].load(std::memory_order_seq_cst) == 0) return std::nullopt;
    return unpacked(slots_[thief].exchange(0, std::memory_order_seq_cst));
  }
  /// Receiver.
  bool has_request_of(unsigned thief) const noexcept {
    // edge channel-1: as in take().
    return slots_[thief].load(std::memory_order_seq_cst) != 0;
  }
  /// Receiver: puts a broadcast request back, for which it has nothing. It may replace a newer request of the thief,
  /// which is not a broadcast. relaxed: read by the receiver alone.
  void put_back(request r) noexcept {
    slots_[r.thief].store(std::bit_cast<std::uint64_t>(r), std::memory_order_relaxed);
  }

  /// Receiver: it has no tasks, so thieves should ask others first. relaxed: a hint.
  void close() noexcept { open_.store(false, std::memory_order_relaxed); }
  /// Receiver: it has tasks, or may soon. relaxed: a hint.
  void reopen() noexcept { open_.store(true, std::memory_order_relaxed); }
  /// Thief or victim, for its choice of a victim. relaxed: a hint.
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }

 private:
  static std::optional<request> unpacked(std::uint64_t word) noexcept {
    if (word == 0) return std::nullopt;
    return std::bit_cast<request>(word);
  }

  /// edge channel-7: acquire, the doorbell. edge channel-1: seq_cst, after the request.
  void ring() noexcept { doorbell_.load(std::memory_order_seq_cst)->ring(); }

  std::unique_ptr<std::atomic<std::uint64_t>[]> const slots_;  // by thief; zero: no request
  channel_doorbell no_receivers_{nullptr};                     // until attach()
  std::atomic<channel_doorbell*> doorbell_{&no_receivers_};
  alignas(k_cache_line) std::atomic<bool> open_{false};
};

/// How many other workers, and messages on their way, have detached tasks of the call at one caller's place. It
/// stands for messages to the caller, which would only be added up. The word knows the number of the call: changes
/// for an earlier call are dropped.
class alignas(k_cache_line) call_counter {
 public:
  /// Caller, before its call has any task. relaxed: a worker that adds to it was sent a task of the call since.
  void begin(task_root call) noexcept { word_.store(number_of(call) << k_bits, std::memory_order_relaxed); }
  /// Any worker: another one is about to be sent detached tasks of the call, or this one makes its first.
  void add(task_root call) noexcept { static_cast<void>(change(call, 1)); }
  /// Another worker, which has none left. Returns whether the count is zero now.
  [[nodiscard]] bool subtract(task_root call) noexcept { return change(call, ~std::uint64_t{0}); }
  /// Caller, which has no detached task left: have the others none either? The count may hold the asking worker
  /// itself, `own` times. edge channel-6: acquire, what all tasks did; seq_cst, after the announcement.
  bool is_over(task_root call, unsigned own) const noexcept {
    return word_.load(std::memory_order_seq_cst) == (number_of(call) << k_bits | own);
  }

 private:
  static constexpr unsigned k_bits = 16;  // bits of the count: each place, and a message to each
  static constexpr std::uint64_t k_count = (std::uint64_t{1} << k_bits) - 1;

  static std::uint64_t number_of(task_root call) noexcept { return call.number() & (~std::uint64_t{0} >> k_bits); }
  bool change(task_root call, std::uint64_t by) noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    do {
      if (word >> k_bits != number_of(call)) return false;  // relaxed: that call is over
      // edge channel-6: release, the writes of the worker's tasks. seq_cst: before the look whether the caller
      // sleeps.
    } while (!word_.compare_exchange_weak(word, word + by, std::memory_order_seq_cst, std::memory_order_relaxed));
    return ((word + by) & k_count) == 0;
  }

  std::atomic<std::uint64_t> word_{0};  // number of the call << k_bits | count
};

/// Detached tasks that callers left to the pool's threads: many producers, many consumers.
class left_tasks {
 public:
  /// Caller that leaves.
  void put(detached_list tasks) noexcept {
    channel_detached* head = newest_.load(std::memory_order_relaxed);
    // edge channel-8: release, the tasks. seq_cst: before the look for sleepers, for idle-1.
    do {
      tasks.end_before(head);
    } while (
        !newest_.compare_exchange_weak(head, tasks.first(), std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  /// Thread. edge channel-8: acquire, that there are some. edge idle-1: seq_cst, after the announcement.
  bool has_some() const noexcept { return newest_.load(std::memory_order_seq_cst) != nullptr; }
  /// Thread. edge channel-8: acquire, the tasks.
  detached_list take() noexcept { return detached_list(newest_.exchange(nullptr, std::memory_order_acquire)); }

 private:
  std::atomic<channel_detached*> newest_{nullptr};
};

/// Tasks to one thief: one receiver, and one sender at a time. The thief opens the channel for one message. A victim
/// claims the channel, then sends.
class alignas(k_cache_line) task_channel {
 public:
  /// Thief, while closed: for tasks that `wanted` admits.
  void open(task_root wanted) noexcept {
    // edge channel-2: release, that the last message was taken out. seq_cst: before the request, for channel-1.
    state_.store(k_open | wanted.word() << k_kind_bits, std::memory_order_seq_cst);
  }
  /// Thief: takes its channel's opening back. Returns false if a message is on its way. relaxed, twice: nothing was
  /// sent.
  [[nodiscard]] bool try_close() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);
    return kind(state) == k_open &&
           state_.compare_exchange_strong(state, k_closed, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Thief, for checks. relaxed: the thief closes and opens it itself.
  bool is_closed() const noexcept { return kind(state_.load(std::memory_order_relaxed)) == k_closed; }
  /// Thief, for checks: is it open for this root, or was it claimed? relaxed: the root is the thief's own.
  bool is_open_for(task_root wanted) const noexcept {
    std::uint64_t const state = state_.load(std::memory_order_relaxed);
    return !takes_message(state) || task_root::from_word(state >> k_kind_bits) == wanted;
  }
  /// Thief: is there a message? edge channel-2: acquire, the message and the tasks.
  bool has_message() const noexcept { return is_message(state_.load(std::memory_order_acquire)); }
  /// Thief, before it sleeps: has no victim begun to answer? edge channel-5: seq_cst, after the announcement.
  bool is_unanswered() const noexcept {
    std::uint64_t const state = kind(state_.load(std::memory_order_seq_cst));
    return state == k_open || state == k_closed;
  }
  /// Thief: takes the message out, if there is one; closed then. The message may hold no tasks: see take_back().
  std::optional<batch> receive() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, the message and the tasks.
    if (!is_message(state) ||
        !state_.compare_exchange_strong(state, k_closed, std::memory_order_acquire, std::memory_order_relaxed)) {
      return std::nullopt;
    }
    return message_;
  }

  /// Victim: which root does the thief want; none if it waits for no message. edge channel-1: seq_cst, after the
  /// request was taken out.
  std::optional<task_root> wanted() const noexcept {
    std::uint64_t const state = state_.load(std::memory_order_seq_cst);
    if (!takes_message(state)) return std::nullopt;
    return task_root::from_word(state >> k_kind_bits);
  }
  /// Victim: was the last message taken back, and the thief has not looked since? relaxed: a hint.
  bool was_taken_back() const noexcept { return kind(state_.load(std::memory_order_relaxed)) == k_taken_back; }
  /// Victim, which has tasks of that root. If the thief waits for such tasks, the victim must send now: returns the
  /// root that the thief wants. It may be another one than wanted() returned before: the thief may have opened the
  /// channel anew.
  [[nodiscard]] std::optional<task_root> claim(task_root has) noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, from open() or take_back(): the room for the message is free.
    while (takes_message(state) && task_root::from_word(state >> k_kind_bits).admits(has)) {
      if (state_.compare_exchange_weak(state, k_claimed, std::memory_order_seq_cst, std::memory_order_relaxed)) {
        return task_root::from_word(state >> k_kind_bits);
      }
    }
    return std::nullopt;
  }
  /// Victim, after claim().
  void send(batch const& b) noexcept {
    message_ = b;
    // edge channel-2: release, the message and the tasks. edge channel-5: seq_cst, before the look whether the thief
    // sleeps.
    state_.store(full_from(b.from), std::memory_order_seq_cst);
  }
  /// Worker `me`, the owner of t. If it sent the message itself, the thief has not looked, and t is the last of the
  /// tasks in it, then all of these are private again, and any victim may send anew. Returns the first of them, or
  /// null.
  [[nodiscard]] channel_task* take_back(channel_task& t, unsigned me) noexcept {
    std::uint64_t full = full_from(me);
    // relaxed: the exchange fails for all but the sender, which wrote the message itself.
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
    task_root const wanted = message_.is_for_any_root ? task_root::any() : message_.root;
    // edge channel-2: release, the empty message. The thief may have been woken for it, and finds that it was
    // answered.
    state_.store(k_taken_back | wanted.word() << k_kind_bits, std::memory_order_release);
    return first;
  }

 private:
  static constexpr unsigned k_kind_bits = 3;
  static constexpr std::uint64_t k_closed = 0;
  static constexpr std::uint64_t k_open = 1;  // above it: the root that the thief wants
  static constexpr std::uint64_t k_claimed = 2;
  static constexpr std::uint64_t k_full = 3;        // above it: index of the sender
  static constexpr std::uint64_t k_taken_back = 4;  // an empty message; above it: the root, as in k_open

  static constexpr bool is_message(std::uint64_t state) noexcept {
    return kind(state) == k_full || kind(state) == k_taken_back;
  }
  static constexpr bool takes_message(std::uint64_t state) noexcept {
    return kind(state) == k_open || kind(state) == k_taken_back;
  }
  static constexpr std::uint64_t kind(std::uint64_t state) noexcept { return state & ((1u << k_kind_bits) - 1); }
  static constexpr std::uint64_t full_from(unsigned sender) noexcept {
    return k_full | std::uint64_t{sender} << k_kind_bits;
  }

  std::atomic<std::uint64_t> state_{k_closed};
  batch message_;  // written by the worker that claimed the channel, then by the thief
};
static_assert(sizeof(task_channel) == k_cache_line, "a message is one transfer");

/// The channels to the worker at one place.
struct place_channels {
  request_channel requests;
  task_channel tasks;
  call_counter calls;  // a caller's place

  explicit place_channels(unsigned places) : requests(places) {}
};

/// The senders' end of the channels to one place: all that other workers may do there.
class sender_end {
 public:
  explicit sender_end(place_channels& to) noexcept : to_(to) {}

  // Thief.
  void leave(request r) const noexcept { to_.requests.leave(r); }
  // Thief and victim.
  bool is_open() const noexcept { return to_.requests.is_open(); }
  // Victim.
  void pass_on(request r) const noexcept { to_.requests.pass_on(r); }
  std::optional<task_root> wanted() const noexcept { return to_.tasks.wanted(); }
  bool was_taken_back() const noexcept { return to_.tasks.was_taken_back(); }
  [[nodiscard]] std::optional<task_root> claim(task_root has) const noexcept { return to_.tasks.claim(has); }
  void send(batch const& b) const noexcept { to_.tasks.send(b); }
  [[nodiscard]] channel_task* take_back(channel_task& t, unsigned me) const noexcept {
    return to_.tasks.take_back(t, me);
  }
  // A worker with detached tasks of the call at that place.
  void add(task_root call) const noexcept { to_.calls.add(call); }
  [[nodiscard]] bool subtract(task_root call) const noexcept { return to_.calls.subtract(call); }
  bool is_over(task_root call, unsigned own) const noexcept { return to_.calls.is_over(call, own); }

 private:
  place_channels& to_;
};

/// All channels of a team.
class team_channels {
 public:
  explicit team_channels(unsigned places) {
    for (unsigned i = 0; i < places; ++i) places_.emplace_back(places);
  }
  sender_end to(unsigned place) noexcept { return sender_end(places_[place]); }
  /// The receiver's end: for the worker at that place alone.
  place_channels& received_by(unsigned place) noexcept { return places_[place]; }
  place_channels const& received_by(unsigned place) const noexcept { return places_[place]; }
  left_tasks& left() noexcept { return left_; }
  left_tasks const& left() const noexcept { return left_; }

 private:
  std::deque<place_channels> places_;
  left_tasks left_;
};

}  // namespace filch::inline FILCH_ABI::detail
