// The channels between workers, and what travels in them: all that two workers of a channel team share, but for who
// sleeps. The bell and the future, which fast paths touch, are in channel_words.hpp. Edges: protocol.md beside this
// file.
#pragma once

#include <filch/detail/channel_task.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace filch::inline FILCH_ABI::detail {

/// How many of a victim's tasks an answer holds.
enum class share : std::uint8_t {
  one,
  half,
  half_of_many,  // one where there are few
};

/// A steal request, as it travels.
struct request {
  std::uint16_t thief;
  std::uint16_t passed_on = 0;  // so many times
  std::uint8_t is_there = 1;    // so that no request is zero
  share wants = share::one;
  bool stands = false;                      // is with every worker; stays where it is until it is answered
  victim_order order = victim_order::last;  // in which to look for victims
};

/// Steal requests on their way to one worker: many producers, one consumer. Each thief has a place in it, and one
/// request out at a time, so it is never full and no send fails or waits. What it says is only that the thief asked:
/// whoever wants to answer claims the thief's task channel first.
class request_channel {
 public:
  explicit request_channel(unsigned workers) : places_(std::make_unique<std::atomic<std::uint64_t>[]>(workers)) {}
  /// Before anybody leaves anything here.
  void belongs_to(channel_bell& bell) noexcept { bell_ = &bell; }

  /// The thief: in the place of what it left here before, which was of an earlier request or is the same one.
  void leave(request r) noexcept {
    // edge channel-1: seq_cst, before the ring; pairs with take().
    places_[r.thief].store(std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst);
    bell_->ring();
  }
  /// Another victim. Where the thief has left something itself, that does as well, and may say more.
  void pass_on(request r) noexcept {
    std::uint64_t nothing = 0;
    // edge channel-1: as in leave().
    if (places_[r.thief].compare_exchange_strong(nothing, std::bit_cast<std::uint64_t>(r), std::memory_order_seq_cst,
                                                 std::memory_order_relaxed)) {
      bell_->ring();
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
  channel_bell* bell_ = nullptr;
  alignas(k_cache_line) std::atomic<bool> open_{false};
};

/// Detached tasks, the oldest first.
class detached_list {
 public:
  bool is_empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  void push(channel_detached& t) noexcept { append({t, t, 1}); }
  void append(detached_list more) noexcept {
    if (more.is_empty()) return;
    (is_empty() ? first_ : last_->next) = more.first_;
    last_ = more.last_;
    size_ += more.size_;
  }
  /// The n oldest; there are as many.
  detached_list take(std::size_t n) noexcept {
    channel_detached* last = first_;
    for (std::size_t i = 1; i < n; ++i) last = last->next;
    detached_list const taken{*first_, *last, n};
    first_ = std::exchange(last->next, nullptr);
    size_ -= n;
    return taken;
  }
  channel_detached& pop() noexcept { return *take(1).first_; }
  detached_list() noexcept = default;

 private:
  detached_list(channel_detached& first, channel_detached& last, std::size_t n) noexcept
      : first_(&first), last_(&last), size_(n) {}

  channel_detached* first_ = nullptr;
  channel_detached* last_ = nullptr;
  std::size_t size_ = 0;
};

/// Tasks that lie one behind the other in their owner's array; or detached ones.
struct batch {
  channel_task* first = nullptr;
  channel_task* last = nullptr;  // behind the last one
  unsigned owner = 0;
  unsigned from = 0;  // who sends them, perhaps not their owner
  detached_list detached{};

  std::size_t size() const noexcept { return static_cast<std::size_t>(last - first) + detached.size(); }
  bool is_empty() const noexcept { return first == last; }
};

enum class [[nodiscard]] withdrawal { done, done_while_idle, too_late };
enum class [[nodiscard]] claim_result { nobody_waits, of_busy, of_idle };

/// What the manager is told: how many workers are not idle. Messages to it only add up, so that their sum is kept
/// instead of them. Everybody can be the manager: who waits in a barrier.
class census {
 public:
  /// A worker goes to work, or is about to be sent tasks by the one that says so. edge channel-6: release.
  void update() noexcept { word_.fetch_add(1, std::memory_order_acq_rel); }
  /// A worker has become idle. True if all are, and somebody waits for that: then the round is over.
  [[nodiscard]] bool arrive() noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    bool ends = false;
    do {
      ends = (word & k_busy) == 1 && (word & k_managers) != 0;
      next = word - 1 + (ends ? k_round : 0);
      // edge channel-6: release, what its tasks did; acquire, from those that arrived before. seq_cst: before the
      // look for managers that sleep.
    } while (!word_.compare_exchange_weak(word, next, std::memory_order_seq_cst, std::memory_order_relaxed));
    return ends;
  }

  /// The manager, at the begin of a barrier: the round to wait for the end of.
  std::uint64_t begin() noexcept { return word_.fetch_add(k_manager, std::memory_order_acq_rel) / k_round; }
  /// edge channel-6: acquire, what all tasks did; seq_cst, after the announcement.
  bool is_over(std::uint64_t round) const noexcept {
    return word_.load(std::memory_order_seq_cst) / k_round != round;
  }
  void end() noexcept { word_.fetch_sub(k_manager, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t k_busy = 0xffff;
  static constexpr std::uint64_t k_manager = 0x1'0000;
  static constexpr std::uint64_t k_managers = 0xffff'0000;
  static constexpr std::uint64_t k_round = 0x1'0000'0000;

  std::atomic<std::uint64_t> word_{0};  // the round, the number of managers, that of workers that are not idle
};

/// Tasks on their way to one thief: a single consumer, and a single producer at a time. The thief opens it for one
/// message, which is its steal request; a victim that wants to answer claims the sender's end.
class alignas(k_cache_line) task_channel {
 public:
  /// Thief, while closed.
  void open() noexcept {
    // edge channel-2: release, that the message before was taken out. seq_cst: before the request, for channel-5.
    state_.store(k_open, std::memory_order_seq_cst);
  }
  /// Thief, once it has no task at all; false if somebody is about to answer. relaxed: open() has said the rest.
  [[nodiscard]] bool become_idle() noexcept {
    std::uint32_t open = k_open;
    return state_.compare_exchange_strong(open, k_idle, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Thief: no message is wanted any more. Too late where one is on its way.
  withdrawal withdraw() noexcept {
    std::uint32_t state = state_.load(std::memory_order_relaxed);  // relaxed, twice: nothing was sent
    if (!is_waiting(state) ||
        !state_.compare_exchange_strong(state, k_closed, std::memory_order_relaxed, std::memory_order_relaxed)) {
      return withdrawal::too_late;
    }
    return state == k_idle ? withdrawal::done_while_idle : withdrawal::done;
  }
  /// Thief. edge channel-2: acquire, the message and the tasks.
  bool has_message() const noexcept { return is_full(state_.load(std::memory_order_acquire)); }
  /// Thief, about to sleep: has nobody begun to answer? edge channel-5: seq_cst, after the announcement.
  bool is_quiet() const noexcept {
    std::uint32_t const state = state_.load(std::memory_order_seq_cst);
    return is_waiting(state) || state == k_closed;
  }
  /// Thief: the message, if it is there; closed then. It may hold no tasks: see take_back().
  std::optional<batch> receive() noexcept {
    std::uint32_t full = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, the message and the tasks.
    if (!is_full(full) ||
        !state_.compare_exchange_strong(full, k_closed, std::memory_order_acquire, std::memory_order_relaxed)) {
      return std::nullopt;
    }
    return message_;
  }

  /// Victim: does the thief wait for an answer? edge channel-1: seq_cst, after the request was taken.
  bool is_open() const noexcept { return is_waiting(state_.load(std::memory_order_seq_cst)); }
  /// Victim: unless nobody waits, the sender's end is its own, and it must send; to an idle thief not before it told
  /// the manager.
  claim_result claim() noexcept {
    std::uint32_t state = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // edge channel-2: acquire, from open(): the place of the message is free.
    while (is_waiting(state)) {
      if (state_.compare_exchange_weak(state, k_claimed, std::memory_order_seq_cst, std::memory_order_relaxed)) {
        return state == k_idle ? claim_result::of_idle : claim_result::of_busy;
      }
    }
    return claim_result::nobody_waits;
  }
  /// Worker `me`, the owner of t: if it sent the message, the thief has not looked yet, and t is the last of the
  /// tasks in it, all of them are its own again. Returns the first of them; null if not.
  [[nodiscard]] channel_task* take_back(channel_task& t, unsigned me) noexcept {
    std::uint32_t full = k_full + me;
    // Only who sent the message gets that far. relaxed: it wrote the message itself.
    if (!state_.compare_exchange_strong(full, k_claimed, std::memory_order_relaxed, std::memory_order_relaxed)) {
      return nullptr;
    }
    bool const is_there = message_.last == &t + 1 && !message_.is_empty();
    channel_task* const first = is_there ? message_.first : nullptr;
    if (is_there) message_.last = message_.first;
    // edge channel-2: release, the message as it is now. The thief was woken for it, and finds at least that it was
    // answered.
    state_.store(k_full + me, std::memory_order_release);
    return first;
  }
  void send(batch b) noexcept {
    message_ = b;
    // edge channel-2: release, the message and the tasks. edge channel-5: seq_cst, before the look whether the thief
    // sleeps.
    state_.store(k_full + b.from, std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint32_t k_closed = 0;
  static constexpr std::uint32_t k_open = 1;
  static constexpr std::uint32_t k_idle = 2;  // open, and its thief has no task at all
  static constexpr std::uint32_t k_claimed = 3;
  static constexpr std::uint32_t k_full = 4;  // + who sent the message

  static bool is_full(std::uint32_t state) noexcept { return state >= k_full; }
  static bool is_waiting(std::uint32_t state) noexcept { return state == k_open || state == k_idle; }

  std::atomic<std::uint32_t> state_{k_closed};
  batch message_;  // who claimed it, then the thief
};

}  // namespace filch::inline FILCH_ABI::detail
